// Loads, columns and saves of one kernel in C++, as loops.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/cpp/page.hpp"
#include "emit/shared/columns.hpp"

namespace napkin {

// A loop runs to the end of the piece at hand. Where everything it touches was made for that piece it runs to the end
// of a whole piece instead, in whole vectors: a constant, and what is computed past the end is never saved or folded.
class CppColumns {
 public:
  explicit CppColumns(CppPage& page) : page_(page), out_(page.out) {}
  void print(const Load&);
  void print(const Ask&);
  void print(const Compute&);
  void print(const Save&);

 private:
  // What positions and counters are called inside the loops that are open.
  struct Here {
    std::map<WireId, std::string> position, counter;
  };
  // Loops over kept wires: to the piece's end, or to a constant where `steady` says so.
  int open(WireId, std::int64_t constant, Here&);
  int open_kept(const Compute&, WireId, Here&);
  int open_lanes(const Compute&, Here&);  // of kept lanes
  int open_rows(const Compute&, Here&);   // all kept wires but the lanes
  int open_cells(const Compute&, Here&);  // all of them
  int open_folded(const Compute&, Here&);
  void close(int opened);

  std::int64_t steady(const Compute&, WireId) const;
  std::int64_t steady(BufferId, const std::vector<Index>& at, WireId) const;
  std::int64_t cells(const Compute&) const;

  void pointwise(const Compute&);
  void begin_fold(const Compute&);
  void fold(const Compute&);
  void fold_lanes(const Compute&);
  void absorb(const Compute&, const std::string& to, const Here&);
  void round_fold(const Compute&);

  std::string slot(BufferId, const std::vector<Index>& at, const Here&) const;
  std::string slot(const Compute&, const Here&) const;
  Typed read(const Compute&, ExprId access, const Here&) const;
  std::string value(const Compute&, ExprId, const Here&);
  std::string rounded(BufferId, const std::string& text) const;
  std::string extents(const Compute&) const;

  CppPage& page_;
  Lines& out_;
};

}  // namespace napkin
