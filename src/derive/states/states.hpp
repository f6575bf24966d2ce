// What a stream along one wire carries: from columns to states, and to the value of every reduction in terms of them.
//
// Columns fall into kinds: those the piece alone determines; reductions over the wire; those that only finished
// reductions determine; and mixed ones, which are not computed at all but written out inside the reductions that
// read them. Each reduction's body is separated into u(piece) * v(state): u is accumulated, v waits for finish.
// Sums of exponentials are kept relative to the running maximum of their exponent, sums of powers of a difference
// about a running mean.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "derive/algebra/ranks.hpp"
#include "derive/states/moments.hpp"
#include "derive/streams/kinds.hpp"

namespace napkin {

// A maximum that a sum is kept relative to. Of exponentials, exp(g - ratio * maximum); of powers, (base /
// maximum)^ratio, where the maximum is that of the magnitude of the product `base`.
struct Reference {
  std::size_t state;
  double ratio = 1;
  Factors base{};
  bool operator==(const Reference&) const = default;
};

// The factors without (base)^ratio of a reference of powers, if they have it.
std::optional<Factors> without(const Factors&, const Reference&);
// The piece with (base / greatest)^ratio in place of that.
Term relative_to(Algebra&, const Term& piece, const Reference&, ExprId greatest);

struct State {
  ArrayId array;
  const Reduction* reduction;
  std::vector<WireId> over;
  Sum body;  // what is folded; with a reference its exponent, or the power, is taken relative to it
  std::optional<Reference> reference;
  bool added = false;  // a maximum that the file did not ask for and could do without
  std::optional<Moment> moment{};
  bool ranked = false;  // a level of a chain but its first, or of a ranked fold
};

struct States {
  std::vector<ColumnKind> kinds;  // of the columns
  std::vector<Centre> centres;
  std::vector<Averaged> learnt;  // centres that this attempt did not yet know of when it came to their sums
  std::vector<State> all;
  std::vector<Chain> chains;
  std::vector<RankedFold> ranked;
  std::vector<Column> extents;                        // of pieces that loops around take
  std::set<ArrayId> arrays;                           // of the states
  std::map<ArrayId, Sum> finished;                    // reductions and what follows them, after the last piece
  std::map<ArrayId, std::vector<Column>> late_folds;  // by reduction: its folds over other wires, which must wait
  std::set<Rule> rules;
  std::vector<std::string> notes;
  std::vector<Rewriting> trace;
  std::optional<Refused> refused;
};

// What an earlier attempt has learnt.
struct Learnt {
  std::vector<std::string> unreferenced;  // exponents that are not to get a maximum of their own
  std::vector<Averaged> centred;          // what gets a running mean, so that its sums are made of it
  std::set<WireId> around{};              // streamed by loops around: what is at hand of them is a piece
};

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const Learnt&);

}  // namespace napkin
