// What a stream along one wire carries: from columns to states, and to the value of every reduction in terms of them.
//
// Columns fall into kinds: those the piece alone determines; reductions over the wire; those that only finished
// reductions determine; and mixed ones, which are not computed at all but written out inside the reductions that
// read them. Each reduction's body is separated into u(piece) * v(state): u is accumulated, v waits for finish.
// Sums of exponentials are kept relative to the running maximum of their exponent.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "derive/algebra.hpp"
#include "derive/columns.hpp"

namespace napkin {

enum class ColumnKind { free, piece, reduction, finish, mixed };

// A maximum that a sum of exponentials is kept relative to: `ratio` times that state.
struct Reference {
  std::size_t state;
  double ratio = 1;
};

struct State {
  ArrayId array;
  const Reduction* reduction;
  std::vector<WireId> over;
  Sum body;  // what is folded; with a reference its exponent is taken relative to it
  std::optional<Reference> reference;
  bool added = false;  // a maximum that the file did not ask for and could do without
};

struct States {
  std::vector<ColumnKind> kinds;  // of the columns
  std::vector<State> all;
  std::set<ArrayId> arrays;                           // of the states
  std::map<ArrayId, Sum> finished;                    // reductions and what follows them, after the last piece
  std::map<ArrayId, std::vector<Column>> late_folds;  // by reduction: its folds over other wires, which must wait
  std::set<Rule> rules;
  std::vector<std::string> notes;
  std::optional<Refused> refused;
};

// `unreferenced` lists exponents (as text) that are not to get a maximum of their own.
States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const std::vector<std::string>& unreferenced);

}  // namespace napkin
