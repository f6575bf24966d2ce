// Explores all surroundings of a plan on a machine.
#include "napkin/explore.hpp"

#include <algorithm>

#include "explore/machine.hpp"

namespace napkin {
namespace {

// Each kernel's share of the plan's time; 1 for every kernel if a time is unknown.
std::vector<double> shares(const Plan& plan, const Hardware& hardware, Model model) {
  std::vector<double> seconds;
  double all = 0;
  for (const auto& kernel : plan.kernels) {
    const auto known = seconds_of(kernel, hardware, model);
    if (!known || *known <= 0) return std::vector<double>(plan.kernels.size(), 1);
    seconds.push_back(*known), all += *known;
  }
  for (auto& one : seconds) one /= all;
  return seconds;
}

}  // namespace

Explored explore(const Plan& plan, const Hardware& hardware, Model model, const Effort& effort) {
  constexpr double tolerance = 0.1;
  Explored made{{}, {}, effort.front < Effort{}.front};
  const auto share = shares(plan, hardware, model);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    made.kernels.emplace_back();
    if (share[i] < effort.least_share) continue;
    const auto& kernel = plan.kernels[i];
    made.kernels.back() = {explore_front(kernel.derivation, hardware, model, tolerance, effort),
                           explore_rooms(kernel.derivation, hardware, effort), explore_pieces(kernel, hardware, model)};
  }
  made.machine = explore_machine(plan, hardware, model, effort);
  return made;
}

}  // namespace napkin
