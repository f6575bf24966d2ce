// What a stream along one wire carries: computes states from columns, and the value of every reduction in terms of the
// states.
//
// Columns are of several kinds: those that the piece alone determines; reductions over the wire; those that finished
// reductions alone determine; and mixed ones, which are not computed but written out inside the reductions that read
// them. Each reduction's body is separated into u(piece) * v(state): u is accumulated, v is applied in finish. Sums of
// exponentials are kept relative to the running maximum of their exponent, and sums of powers of a difference about a
// running mean.
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

// A maximum that a sum is kept relative to. For exponentials: exp(g - ratio * maximum). For powers: (base /
// maximum)^ratio, where the maximum is that of the magnitude of the product `base`.
struct Reference {
  std::size_t state;
  double ratio = 1;
  Factors base{};
  bool operator==(const Reference&) const = default;
};

// The factors without (base)^ratio of a reference of powers, if they contain it.
std::optional<Factors> without(const Factors&, const Reference&);
// The piece with (base / greatest)^ratio in place of (base)^ratio.
Term relative_to(Diagram&, const Term& piece, const Reference&, ExprId greatest);

struct State {
  ArrayId array;
  const Reduction* reduction;
  std::vector<WireId> over;
  Sum body;  // what is folded; with a reference, its exponent or power is relative to it
  std::optional<Reference> reference;
  bool added = false;  // a maximum that the file does not compute and that could be omitted
  std::optional<Moment> moment{};
  bool ranked = false;  // a level of a chain after the first, or part of a ranked fold
};

struct States {
  std::vector<ColumnKind> kinds;  // by column
  std::vector<Centre> centres;
  std::vector<Averaged> learnt;  // centres that this attempt did not know yet when it reached their sums
  std::vector<State> all;
  std::vector<Chain> chains;
  std::vector<RankedFold> ranked;
  std::vector<Column> extents;                        // lengths of the pieces of outer loops
  std::set<ArrayId> arrays;                           // the arrays of the states
  std::map<ArrayId, Sum> finished;                    // values after the last piece: of reductions and what follows
  std::map<ArrayId, std::vector<Column>> late_folds;  // by reduction: its folds over other wires, done in finish
  std::set<Rule> rules;
  std::vector<std::string> notes;
  std::vector<Rewriting> trace;
  std::optional<Refused> refused;
};

// What earlier attempts have found.
struct Learnt {
  std::vector<std::string> unreferenced;  // exponents that get no maximum of their own
  std::vector<Averaged> centred;          // sums that are computed from a running mean
  std::set<WireId> around{};              // wires streamed by outer loops: only a piece of them is available
};

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const Learnt&);

}  // namespace napkin
