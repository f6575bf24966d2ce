// Finds kernels of single warps that can run instead of kernels of warpgroups: the best partition of the same kernel
// for a machine without warpgroup instructions, with as many parts of divided axes per block.
#include <algorithm>

#include "diagram/assume.hpp"
#include "napkin/search.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {
namespace {

bool is_of_warpgroups(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core) return false;
  const auto configs = LaunchConfigs::of(down_to(kernel, *hardware.core), hardware, Model::machine);
  return configs && configs->mainloop().issues_together();
}

// Returns for each divided axis the number of parts that a block of the kernel has.
std::vector<std::int64_t> parts_of_block(const Kernel& kernel) {
  const auto& scratch = kernel.program.scratch;
  std::vector<std::int64_t> all;
  for (const auto& parts : divided_axes(scratch)) {
    auto here = scratch.at(parts.part).size.value_or(1);
    for (const auto& split : kernel.partition.splits)
      if (split.kind == SplitKind::group && scratch.at(split.wire).axis == parts.part)
        here = std::min(here, split.size);
    all.push_back(here);
  }
  return all;
}

std::optional<Kernel> on_single_warps(const Kernel& kernel, const Hardware& hardware) {
  Goal goal;
  goal.top = 8;
  const auto found = search(kernel.derivation, hardware, goal);
  const auto alike = std::ranges::find_if(found.best, [&](const Candidate& candidate) {
    return parts_of_block(candidate.kernel) == parts_of_block(kernel);
  });
  return alike == found.best.end() ? std::nullopt : std::optional(alike->kernel);
}

// These kernels were not chosen for their speed. They leave registers to spare, so that compilers spill none.
Hardware with_registers_to_spare(Hardware hardware) {
  constexpr double spare = 16, of_all = 256;
  if (auto& most = hardware.limits.registers_per_thread) most->value -= spare;
  if (auto& all = hardware.limits.registers_per_sm) all->value -= all->value * spare / of_all;
  return hardware;
}

}  // namespace

void plan_instead(Plan& plan, const Hardware& hardware) {
  const auto single = with_registers_to_spare(of_single_warps(hardware));
  plan.instead.clear();
  for (const auto& kernel : plan.kernels)
    plan.instead.push_back(is_of_warpgroups(kernel, hardware) ? on_single_warps(kernel, single) : std::nullopt);
}

}  // namespace napkin
