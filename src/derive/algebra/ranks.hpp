// Reductions that depend on how a position ranks: `sum of where(g == max g, u, 0)`, and values below the maximum.
//
// Let t1 be the greatest value of g so far, t2 the greatest value below it, and so on. They divide the positions into
// ranks: those where g is t1, those where it is t2, .., and the rest. A position only ever falls to a later rank. So
// the reduction is carried separately for each rank, and moves with its rank when a greater value arrives
// (docs/theory.md, ranks).
#pragma once

#include <functional>
#include <vector>

#include "derive/algebra/build.hpp"
#include "derive/columns.hpp"

namespace napkin {

// An expression by which positions are ranked, and its greatest (with min: smallest) values, which are carried.
struct Chain {
  const Reduction* fold;  // max or min
  ExprId by;
  std::vector<WireId> over;
  std::vector<ArrayId> levels;  // t1, t2, ..
};

// A comparison of the chain's expression with one of its levels.
struct RankCondition {
  std::size_t chain, level;
  const Pointwise* compare;
  bool level_first;  // `max g == g`
};
// Whether the condition holds where the expression equals level number `rank`; a rank beyond the last level means below
// all.
bool holds_at(const Chain&, const RankCondition&, std::size_t rank);
// The same if all levels from `rank` on are equal, which they are when there are no more values.
bool holds_at_ties(const Chain&, const RankCondition&, std::size_t rank);

// The reduction of `value` over the positions of each rank: one array for each of the first `depth` ranks, and possibly
// one more for the rest.
struct RankedFold {
  std::size_t chain, depth;
  const Reduction* fold;
  std::vector<WireId> over;
  ExprId value;
  std::vector<ArrayId> arrays;
};

// Writes the updates of levels and ranked folds into the programs of a stream.
class RankWriter {
 public:
  using Other = std::function<ArrayId(ArrayId)>;  // maps a state to that of the second operand of a merge
  RankWriter(Diagram& scratch, Streamable& to, Other other) : scratch_(scratch), to_(to), other_(std::move(other)) {}

  void move(const Chain&, ArrayId greatest);  // writes the new levels; `greatest` is the new first one
  void update(const RankedFold&);
  void settle();  // makes the new levels the current ones

 private:
  struct Moved {
    Chain chain;
    std::vector<ArrayId> levels;  // the new levels
  };
  using Old = std::function<ExprId(ArrayId)>;
  ExprId read(ArrayId array) { return read_whole(scratch_, array); }
  ExprId where(ExprId condition, ExprId one, ExprId other) {
    return applied(scratch_, "where", {condition, one, other});
  }
  ExprId identity(const Reduction* fold) { return scratch_.intern(Constant{fold->identity}); }
  ExprId behind(const Chain&, ExprId value, ExprId level);
  ExprId next_level(const Moved&, std::size_t rank, const Old&);
  ExprId kept(const RankedFold&, std::size_t rank, const Old&);
  ExprId joined(const Reduction* fold, ExprId one, ExprId other);

  Diagram& scratch_;
  Streamable& to_;
  Other other_;
  std::vector<Moved> moved_;
};

}  // namespace napkin
