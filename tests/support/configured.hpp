// Kernels of examples, planned by hand and configured.
#pragma once

#include <algorithm>
#include <string>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/planned.hpp"

namespace napkin::testing {

inline Kernel kernel_of_example(const std::string& example, const std::string& words, const Hardware& hardware,
                                const Overrides& overrides = {}) {
  return testing::planned(read_example(example + ".nap", overrides), words, hardware);
}
inline Configuration configured(const Kernel& kernel, const Hardware& hardware, Model model) {
  auto made = configure(kernel, estimate(kernel, hardware, model), hardware, model);
  REQUIRE(made);
  return *made;
}
inline const Pipelining& find(const Configuration& made, Overlap overlap) {
  return *std::ranges::find(made.pipelinings, overlap, &Pipelining::overlap);
}
inline double clocks_of_column(const Configuration& made, const std::string& column, Resource on) {
  for (const auto& one : made.clocks)
    if (one.column == column && one.on == on) return one.clocks;
  return 0;
}
inline const std::string flash = "group q 128, stream x 64 at smem";

}  // namespace napkin::testing
