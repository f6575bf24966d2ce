// A plan on a machine -> all that there is to see around it.
#include "napkin/explore.hpp"

namespace napkin {

Explored explore(const Plan& plan, const Hardware& hardware, Model model) {
  constexpr double tolerance = 0.1;
  constexpr int each_doubling = 2;
  Explored made;
  for (const auto& kernel : plan.kernels)
    made.kernels.push_back({explore_front(kernel.derivation, hardware, model, tolerance),
                            explore_rooms(kernel.derivation, hardware, each_doubling),
                            explore_pieces(kernel, hardware, model)});
  made.machine = explore_machine(plan, hardware, model);
  return made;
}

}  // namespace napkin
