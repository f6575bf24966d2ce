// The slow twin of estimate(): runs the nest and counts what it moves, holds and computes.
#include "napkin/cost.hpp"

namespace napkin {

Count count(const Kernel& kernel, const Hardware& hardware) {
  const LoopNest nest = lower(kernel, hardware);
  Values values;
  values.arrays.resize(nest.scratch.arrays.size());
  for (const auto input : nest.inputs) {
    std::int64_t size = 1;
    for (const auto wire : nest.scratch.at(input).wires) size *= nest.scratch.size(wire).value();
    values.arrays[input.index].assign(static_cast<std::size_t>(size), 0);
  }
  return interpret(nest, hardware, values, true);
}

}  // namespace napkin
