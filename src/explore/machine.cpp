// Computes the gain of a plan from doubling each resource of its machine.
#include "explore/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "search/kernels.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {
namespace {

constexpr double twice = 2;

template <class T>
void scale(std::optional<Sourced<T>>& number) {
  if (number) number->value *= twice;
}
void scale(std::optional<Rate>& rate) {
  if (!rate) return;
  scale(rate->datasheet);
  scale(rate->sustained);
}
void scale(Rate& rate) {
  scale(rate.datasheet);
  scale(rate.sustained);
}

// The registers of a core are one memory for all of its threads.
void widen(Hardware& hardware, std::size_t level) {
  auto& memory = hardware.levels[level];
  scale(memory.capacity);
  scale(memory.usable);
  if (!memory.shared || !hardware.core || level <= *hardware.core) return;
  scale(hardware.limits.registers_per_sm);
  scale(hardware.limits.registers_per_thread);
}

void speed_up(ComputeUnit& unit) {
  for (auto& [type, rate] : unit.rates) scale(rate);
  for (auto& [types, rate] : unit.narrow_rates) scale(rate);
  for (auto& [type, number] : unit.per_clock) number.value *= twice;
}

struct Doubling {
  std::string what;
  std::function<void(Hardware&)> apply;
};

std::vector<Doubling> doublings(const Hardware& hardware) {
  std::vector<Doubling> all;
  for (std::size_t i = 1; i < hardware.levels.size(); ++i) {
    const auto& level = hardware.levels[i];
    if (std::isfinite(level.room()))
      all.push_back({"capacity of " + level.name, [i](Hardware& machine) { widen(machine, i); }});
    if (level.bandwidth)
      all.push_back({fmt::format("bandwidth {} to {}", hardware.levels[i - 1].name, level.name),
                     [i](Hardware& machine) { scale(machine.levels[i].bandwidth); }});
  }
  for (std::size_t i = 0; i < hardware.caches.size(); ++i) {
    const auto& name = hardware.caches[i].name;
    all.push_back({"capacity of " + name, [i](Hardware& machine) { machine.caches[i].capacity.value *= twice; }});
    if (hardware.caches[i].bandwidth)
      all.push_back({"bandwidth of " + name, [i](Hardware& machine) { scale(machine.caches[i].bandwidth); }});
  }
  for (std::size_t i = 0; i < hardware.compute.size(); ++i)
    all.push_back({fmt::format("rate of {}", name(hardware.compute[i].unit)),
                   [i](Hardware& machine) { speed_up(machine.compute[i]); }});
  return all;
}

std::optional<double> time_of(const KernelCost& cost, Model model) {
  if (!cost.overruns.empty()) return std::nullopt;
  return model == Model::ideal ? cost.ideal_time_s : cost.time_s;
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}
std::optional<double> lesser(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

Improvement improvement(const Doubling& doubling, const Plan& plan, Hardware machine, Model model,
                        std::int64_t patience) {
  const Goal goal{.model = model, .fixed = {}};
  doubling.apply(machine);
  Improvement made{doubling.what, 0, 0, "", "", true};
  double longest = 0;
  for (const auto& kernel : plan.kernels) {
    const auto kept = seconds_of(kernel, machine, model);
    const auto found = napkin::found(make_space(kernel.derivation, machine, goal), goal, rank, patience);
    made.proven = made.proven && found.optimal;
    const auto again = found.best.empty() ? std::nullopt : time_of(found.best.front().cost, model);
    made.time_kept_s = sum(made.time_kept_s, kept);
    const auto time = lesser(again, kept);
    made.time_s = sum(made.time_s, time);
    if (!time || *time <= longest || found.best.empty()) continue;
    longest = *time;
    made.bound_by = found.best.front().cost.bound_by, made.bound_from = found.best.front().cost.bound_from;
  }
  return made;
}

}  // namespace

std::optional<double> seconds_of(const Kernel& kernel, const Hardware& hardware, Model model) {
  auto cost = estimate(kernel, hardware, model);
  if (model == Model::machine && hardware.core) set_launch_time(cost, kernel, *hardware.core, hardware);
  return time_of(cost, model);
}

std::optional<double> seconds_if_it_runs(const Kernel& kernel, const Hardware& hardware, Model model) {
  auto cost = estimate(kernel, hardware, model);
  if (model == Model::machine && hardware.core && set_launch_time(cost, kernel, *hardware.core, hardware)) return {};
  const bool fits = std::ranges::none_of(
      cost.overruns, [&](const Overrun& one) { return !hardware.core || one.level <= *hardware.core; });
  return fits ? time_of(cost, model) : std::nullopt;
}

Sensitivity as_split_now(const Plan& plan, const Hardware& hardware, Model model) {
  const auto time = [&](const Hardware& machine) {
    std::optional<double> all = 0;
    for (const auto& kernel : plan.kernels) all = sum(all, seconds_of(kernel, machine, model));
    return all;
  };
  Sensitivity made{time(hardware), {}};
  if (!made.time_s || *made.time_s <= 0) return {};
  for (const auto& doubling : doublings(hardware)) {
    auto machine = hardware;
    doubling.apply(machine);
    const auto then = time(machine);
    made.improvements.push_back({doubling.what, then, then, "", "", false});
  }
  return made;
}

Sensitivity explore_machine(const Plan& plan, const Hardware& hardware, Model model, const Effort& effort) {
  Sensitivity made{0, {}};
  for (const auto& kernel : plan.kernels) made.time_s = sum(made.time_s, seconds_of(kernel, hardware, model));
  if (!made.time_s || *made.time_s <= 0) return {};
  for (const auto& doubling : doublings(hardware))
    made.improvements.push_back(improvement(doubling, plan, hardware, model, effort.machine));
  return made;
}

}  // namespace napkin
