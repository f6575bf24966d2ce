// The kind of each column with respect to one streamed wire, and what every read in it depends on.
#pragma once

#include <set>
#include <vector>

#include "derive/algebra/algebra.hpp"
#include "derive/columns.hpp"

namespace napkin {

// free: does not vary with the wire; piece: the position alone determines it; reduction: folds over the wire; finish:
// finished reductions alone determine it; mixed: depends on both, so it is written out inside the reductions that read
// it.
enum class ColumnKind { free, piece, reduction, finish, mixed };

class Kinds {
 public:
  Kinds(const Diagram& scratch, WireId wire) : scratch_(scratch), wire_(wire) {}

  // Call in the order of the columns. `value` is what the column's value depends on.
  ColumnKind classify(const Column&, Dependence value);
  void add_state(ArrayId array) { states_.insert(array); }

  Dependence of(const Access&) const;
  bool mixed(ArrayId array) const { return mixed_.contains(array); }
  bool piece(ArrayId array) const { return pieces_.contains(array); }
  bool state(ArrayId array) const { return states_.contains(array); }
  // Whether a piece is read at another place than its own, which may lie in another piece.
  bool elsewhere(const Access&) const;
  bool whole(const Access&) const;  // whether every wire is read at its own place

 private:
  const Diagram& scratch_;
  WireId wire_;
  std::set<ArrayId> states_, mixed_, pieces_;
};

}  // namespace napkin
