// The way back from a read: what an array receives at its own place from all places that read it.
#pragma once

#include "grad/algebra.hpp"
#include "grad/substitute.hpp"

namespace napkin::grad {

// What is read at A[index] comes from position w of A where index = w. So in what goes back, wires that this equation
// can be solved for are replaced, the others are summed, under the equation as a condition where it was not solved.
struct Return {
  Places places;
  std::vector<WireId> over;
  std::vector<ExprId> conditions;
};
Return way_back(Algebra&, const Access&, const std::set<WireId>& from);

}  // namespace napkin::grad
