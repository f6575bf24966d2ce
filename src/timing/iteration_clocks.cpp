// Times that follow from the seconds of an iteration on each resource.
#include <algorithm>

#include "timing/clocks.hpp"

namespace napkin {

void IterationClocks::find_bound() {
  bound = 0;
  for (const auto& resource : resources)
    if (resource.seconds > bound) bound = resource.seconds, slowest = resource.on;
}

double IterationClocks::beside(bool with_outside) const {
  double all = waits, busiest = bound;
  for (const auto on : {Resource::tensor, Resource::fma, Resource::sfu, Resource::shared}) {
    const double seconds = at(on).seconds + (with_outside ? outside_on[static_cast<std::size_t>(on)] : 0);
    all += seconds, busiest = std::max(busiest, seconds);
  }
  const bool waited_for = pointwise > 0 || (with_outside && outside > 0);
  return waited_for ? busiest + unhidden * std::max(0.0, all - busiest) : busiest;
}

// Reads of the core's memory during that time do not take longer.
IterationClocks IterationClocks::of_busiest_partition(double unevenness) const {
  auto busiest = *this;
  busiest.leading = std::max(leading, leading_units * unevenness);
  busiest.trailing = std::max(trailing, trailing_units * unevenness);
  busiest.pointwise *= unevenness, busiest.outside *= unevenness;
  for (const auto on : {Resource::tensor, Resource::fma, Resource::sfu}) {
    busiest.resources[static_cast<std::size_t>(on)].seconds *= unevenness;
    busiest.outside_on[static_cast<std::size_t>(on)] *= unevenness;
  }
  busiest.find_bound();
  return busiest;
}

IterationClocks IterationClocks::in_last_round() const {
  auto last = *this;
  last.copy = last_copy;
  last.resources[static_cast<std::size_t>(Resource::copy)].seconds = last_copy;
  last.find_bound();
  return last;
}

IterationClocks IterationClocks::without_waits() const {
  auto quiet = *this;
  quiet.waits = quiet.handover = 0;
  return quiet;
}

}  // namespace napkin
