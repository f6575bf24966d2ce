// Columns and saves of one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/cuda/page.hpp"
#include "emit/shared/statements.hpp"

namespace napkin {

// Every column loops over the thread's own cells. In ragged pieces, positions past the end are clamped to the last one,
// computed and not saved; folds stop at the end.
class ColumnPrinter : StatementPrinter<Page, OpenLoops> {
 public:
  explicit ColumnPrinter(Page&);
  void print(const Compute&);
  void print(const Save&);
  // Prints a mask test on the piece that several threads share.
  void print(const MaskTest&, const WirePieces&);
  // Whether the buffer needs storage. An output whose values are only saved needs none.
  bool is_stored(BufferId id) const { return !passing_.contains(id); }

 private:
  using Here = OpenLoops;
  enum class Edge { repeat, guard };  // what cells past the end do: repeat the last one, or nothing

  void study(const LoopBody&);
  std::int64_t cells(const std::vector<WireId>&) const;
  const std::vector<WireId>& wires(const Compute&) const;

  int open_cells(const std::vector<WireId>&, Edge, Here&);
  int open_cells(const Compute& compute, Here& here) override {
    return open_cells(wires(compute), edge(compute.to), here);
  }
  int open_fold(const Compute&, WireId, std::int64_t& unrolled, Here&);

  void fold(const Compute&);
  void pass(const Compute&);
  void store(ArrayId, const std::string& text, const Here&);

  std::string slot(BufferId, const std::vector<Index>& at, const Here&) const;
  std::string slot(const WirePiece& scope, WireId, const Index& at, const Here&) const;
  std::string slot(BufferId id, const Here& here) const override { return slot(id, page_.nest.at(id).at, here); }
  Edge edge(BufferId) const;
  Typed read(const Compute&, ExprId access, const Here&) override;
  Typed input_element(BufferId, const std::vector<std::string>& at) const;
  bool reads_own(const Compute&, WireId) const;

  std::set<BufferId> passing_;  // outputs that are stored as they are computed
};

}  // namespace napkin
