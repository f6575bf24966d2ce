// How far rounding may carry what the statements mean, asked of the statements themselves.
#pragma once

#include "loops/arithmetic.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

// Of every value of every array what it means and how far from that another evaluation may be: infinitely where the
// statements, evaluated plainly, may give a number or none, by rounding alone. By ArrayId.
struct Meaning {
  std::vector<std::vector<double>> meant, allowed;
};
// `arithmetic` is exact or formats: what the statements are evaluated in, as they stand. No derivation is asked.
Meaning meaning(const Diagram&, const Values& inputs, Arithmetic);

}  // namespace napkin
