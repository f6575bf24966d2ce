// How far rounding may move the results of the statements, found by evaluating the statements themselves.
#pragma once

#include "loops/arithmetic.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

// The reference for every value of every array, and the allowed distance of another evaluation from it. The distance is
// infinite if rounding alone decides whether the statements give a number. By ArrayId.
struct Meaning {
  std::vector<std::vector<double>> meant, allowed;
};
// The statements are evaluated as written, in `arithmetic`, which is exact or formats. No derivation has any influence.
Meaning meaning(const Diagram&, const Values& inputs, Arithmetic);

}  // namespace napkin
