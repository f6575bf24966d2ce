// Turns the losses of a launch into causes of its time: the busiest part, operations that do not overlap it, cores
// without work, the first tiles and the last outputs, and the launch itself.
#include <algorithm>

#include "napkin/summary.hpp"

namespace napkin {
namespace {

double of(const Launch& launch, std::string_view what) {
  const auto at = std::ranges::find(launch.losses, what, &Loss::what);
  return at == launch.losses.end() ? 0 : at->seconds;
}

// Returns the time of the part that bounds the kernel, at sustained rates.
double bounding_seconds(const KernelCost& cost, const Hardware& hardware) {
  for (const auto& level : cost.levels)
    if (hardware.levels[level.level].name == cost.bound_by && !cost.bound_from.empty()) return level.time_s.value_or(0);
  for (const auto& unit : cost.units)
    if (name(unit.unit) == cost.bound_by) return unit.time_s.value_or(0);
  return 0;
}

void add(std::vector<Cause>& all, std::string what, double seconds) {
  if (seconds > 0) all.push_back({std::move(what), seconds});
}

}  // namespace

std::string bound_words(const KernelCost& cost) {
  if (cost.bound_by.empty()) return "";
  return cost.bound_from.empty() ? cost.bound_by : cost.bound_from + " -> " + cost.bound_by;
}

std::vector<Cause> causes(const KernelCost& cost, const std::optional<Launch>& launch, const Hardware& hardware) {
  std::vector<Cause> all;
  if (!cost.time_s) return all;
  const auto& limit = hardware.limits.launch_seconds;
  const double starting = limit ? std::min(limit->value, *cost.time_s) : 0;
  // If memory takes longer than the cores including their idle time, the launch waits for memory.
  const bool by_memory = launch && of(*launch, "memory that cannot keep up") > 0;
  const double idle = launch && !by_memory ? of(*launch, "cores idle in the last wave") : 0;
  const double further = launch ? of(*launch, "loads from outer memory that iterations do not hide") : 0;
  const double ends = launch ? of(*launch, "prologue and epilogue, which overlap nothing") : 0;
  const double steps = std::max(0.0, *cost.time_s - starting - idle - further - ends);
  const bool outside = launch && launch->bound_outside;
  constexpr double nothing = 1e-6;  // of the launch: sums of the same numbers in another order
  const double busy = by_memory ? steps : std::min(bounding_seconds(cost, hardware), steps);
  const double bound = outside ? 0 : steps - busy < nothing * *cost.time_s ? steps : busy;
  add(all, bound_words(cost), outside ? further : bound);
  add(all, launch ? "not overlapped" : "fill and drain", steps - bound);
  if (!outside) add(all, "outer memory", further);
  add(all, "idle cores", idle);
  add(all, "fill and drain", ends);
  add(all, "launch", starting);
  return all;
}

}  // namespace napkin
