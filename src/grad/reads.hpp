// The way back from a read: what an array receives at its own place from all places that read it.
#pragma once

#include "grad/algebra.hpp"
#include "grad/substitute.hpp"

namespace napkin::grad {

// What is read at A[index] comes from position w of A where index = w. So in what goes back, wires that this equation
// can be solved for are replaced, and the others are summed where the equation holds.
struct Return {
  Places places;
  std::vector<WireId> over;
  std::vector<std::pair<Index, WireId>> unsolved;  // index = position along the wire
  std::set<AxisId> measured{};                     // axes whose sizes a solution depends on
  // A wire of the array that is read, or of its blocks, in place of one along another axis. `own` is the array's axis.
  struct Instead {
    WireId wire;
    AxisId axis, own;
  };
  std::vector<Instead> instead{};
};
Return way_back(Diagram&, const Access&, const std::set<WireId>& from);

// An equation as conditions.
std::vector<ExprId> conditions(Algebra&, Index, WireId at);

// The values that an index can have, first and last, where the sizes are known.
std::optional<std::pair<std::int64_t, std::int64_t>> range(const Diagram&, const Index&);

// factor * wire of `index` = at - the rest of it.
Index without(const Index& index, WireId wire, WireId at);

}  // namespace napkin::grad
