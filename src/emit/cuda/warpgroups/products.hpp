// Products of a warpgroup: the second operand is read in place from shared memory, the first one from shared memory or
// registers, and sums are in registers once the warpgroup has waited for them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "emit/cuda/warps/operands.hpp"
#include "emit/cuda/warps/sums.hpp"

namespace napkin {

class WarpgroupProducts {
 public:
  explicit WarpgroupProducts(FragmentStatements& statements) : statements_(statements), sums_(statements) {}

  // Declares the operands in registers and partial sums outside of the loop in whose iterations they are filled.
  void declare_ahead(const Product&);
  // Prints the initial sums, the operands in registers, and the partial sums.
  void prepare(const Product&);
  // Prints everything else. Instead, issue() starts the instructions, and arrived() finishes the sums after the wait.
  void run(const Product&);
  void issue(const Product&);
  void arrived(const Product&);
  // Tells the compiler that the sums may change; needed around products that stay in flight.
  void hold(const Product&);

 private:
  void declare_operands(const Product&);
  void pack_operands(const Product&);
  void promote_between(const Product&);
  std::string first_operand(const Product&);

  FragmentStatements& statements_;
  SumPrinter sums_;
  std::map<const Compute*, std::string> operands_;  // names of operands in registers
  std::set<const Compute*> declared_ahead_;
};

}  // namespace napkin
