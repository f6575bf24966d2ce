// Products of one warp: fragments of both operands come from shared memory or registers and are the operands of the
// instruction.
#pragma once

#include <map>
#include <string>

#include "emit/cuda/warps/operands.hpp"
#include "emit/cuda/warps/sums.hpp"

namespace napkin {

class WarpProducts {
 public:
  explicit WarpProducts(FragmentStatements& statements) : statements_(statements), sums_(statements) {}

  // Declares registers that keep the operand with the wire along rows throughout a stream, and fills them.
  void keep(const Product&);
  void print(const Product&);

 private:
  void print_rows_first(const Product&, const std::string& rows, const std::string& columns);
  void print_columns_first(const Product&, const std::string& rows, const std::string& columns);
  void multiply(const Product&, const std::string& rows, const std::string& columns);
  void promote_after(const Product&);

  FragmentStatements& statements_;
  SumPrinter sums_;
  std::map<BufferId, std::string> kept_;  // names of operands that stay in registers
};

}  // namespace napkin
