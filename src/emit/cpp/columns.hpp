// Loads, columns and saves of one kernel in C++, as loops.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/cpp/page.hpp"
#include "emit/shared/statements.hpp"

namespace napkin {

// A loop runs to the end of the current piece. If everything it touches was made for that piece, it runs to the end of
// a whole piece instead, in whole vectors: the bound is then a constant, and values past the end are never saved or
// folded.
class CppColumns : StatementPrinter<CppPage, OpenLoops> {
 public:
  explicit CppColumns(CppPage& page) : StatementPrinter(page, {}) {}
  void print(const Load&);
  void print(const MaskTest&);
  void print(const Compute&);
  void print(const Save&);

 private:
  using Here = OpenLoops;
  // A loop over a wire, to the end of the piece or to a constant, and loops over kept wires.
  int open(WireId, std::int64_t constant, Here&);
  int open_lanes(const Compute&, Here&);  // the vectorised wire, if it is kept
  int open_rows(const Compute&, Here&);   // the other kept wires
  int open_cells(const Compute&, Here&) override;
  int open_folded(const Compute&, Here&);

  std::int64_t steady(const Compute&, WireId) const;
  std::int64_t steady(BufferId, const std::vector<Index>& at, WireId) const;

  void fold(const Compute&);
  void fold_lanes(const Compute&);

  std::string slot(BufferId, const std::vector<Index>& at, const Here&) const;
  std::string slot(BufferId id, const Here& here) const override { return slot(id, page_.nest.at(id).at, here); }
  Typed read(const Compute&, ExprId access, const Here&) override;
};

}  // namespace napkin
