// A plan on a machine -> all that there is to see around it.
#include "napkin/explore.hpp"

namespace napkin {

Explored explore(const Plan& plan, const Hardware& hardware, Model model, const Effort& effort) {
  constexpr double tolerance = 0.1;
  Explored made{{}, {}, effort.front < Effort{}.front};
  for (const auto& kernel : plan.kernels)
    made.kernels.push_back({explore_front(kernel.derivation, hardware, model, tolerance, effort),
                            explore_rooms(kernel.derivation, hardware, effort),
                            explore_pieces(kernel, hardware, model)});
  made.machine = explore_machine(plan, hardware, model, effort);
  return made;
}

}  // namespace napkin
