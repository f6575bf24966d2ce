// The rules of NVIDIA's cuda_occupancy.h, applied to the limits of a profile. docs/theory.md, configuration.
#include "timing/occupancy.hpp"

#include <algorithm>

#include "napkin/instructions.hpp"

namespace napkin {
namespace {

std::int64_t registers_of_warp(std::int64_t per_thread, const Hardware& hardware) {
  const auto& limits = hardware.limits;
  return round_up(per_thread * whole(limits.threads_per_warp, 32), whole(limits.register_allocation_unit, 1));
}

}  // namespace

std::int64_t whole(const std::optional<Sourced<double>>& number, std::int64_t otherwise) {
  return number ? static_cast<std::int64_t>(number->value) : otherwise;
}

bool knows_occupancy(const Hardware& hardware) {
  const auto& limits = hardware.limits;
  return hardware.core && hardware.levels[*hardware.core].capacity && limits.registers_per_sm && limits.warps_per_sm &&
         limits.threads_per_warp && limits.register_partitions && limits.registers_per_thread;
}

std::int64_t warps_at(std::int64_t registers_per_thread, const Hardware& hardware) {
  const auto partitions = whole(hardware.limits.register_partitions, 1);
  const auto each = whole(hardware.limits.registers_per_sm, 0) / partitions;
  const auto warps = partitions * (each / registers_of_warp(std::max<std::int64_t>(1, registers_per_thread), hardware));
  return std::min(warps, whole(hardware.limits.warps_per_sm, warps));
}

Residents residents(const BlockNeeds& block, const Hardware& hardware) {
  const auto& limits = hardware.limits;
  const auto partitions = whole(limits.register_partitions, 1);
  const auto registers = registers_of_warp(block.registers_per_thread, hardware);
  const auto shared = round_up(block.shared_bytes + whole(limits.reserved_shared_per_block, 0),
                               whole(limits.shared_allocation_unit, 1));
  const auto& memory = hardware.levels[*hardware.core];
  if (block.registers_per_thread > whole(limits.registers_per_thread, INT32_MAX) ||
      registers * round_up(block.warps, partitions) > whole(limits.registers_per_sm, 0))
    return {0, "registers"};
  if (static_cast<double>(block.shared_bytes) > memory.room()) return {0, "shared memory"};
  if (block.warps * whole(limits.threads_per_warp, 32) > whole(limits.threads_per_block, INT32_MAX))
    return {0, "threads of a block"};
  Residents best{whole(limits.blocks_per_sm, INT32_MAX), "blocks"};
  const auto limit = [&](std::int64_t blocks, const char* by) {
    if (blocks < best.blocks) best = {blocks, by};
  };
  limit(whole(limits.warps_per_sm, INT32_MAX) / block.warps, "warps");
  limit(warps_at(block.registers_per_thread, hardware) / block.warps, "registers");
  limit(static_cast<std::int64_t>(memory.capacity->value) / shared, "shared memory");
  return best;
}

WarpgroupShares shares_of_warpgroups(std::int64_t warpgroups, std::int64_t blocks, const Hardware& hardware) {
  constexpr std::int64_t most = 240, copying = 24, most_begun = 256;
  const auto lanes = warpgroup_warps * whole(hardware.limits.threads_per_warp, 32);
  const auto down = [](std::int64_t registers) { return registers / 8 * 8; };
  const auto all = whole(hardware.limits.registers_per_sm, 65536);
  const auto first = std::min(down(all / (lanes * (warpgroups + 1) * blocks)), most_begun);
  if (first >= most) return {first, most, 0};
  return {first, std::min(down((first * (warpgroups + 1) - copying) / warpgroups), most), copying};
}

std::vector<std::pair<std::int64_t, std::int64_t>> register_ladder(const Hardware& hardware) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  const auto most = whole(hardware.limits.registers_per_thread, 255);
  for (std::int64_t registers = 1; registers <= most; ++registers) {
    const auto warps = warps_at(registers, hardware);
    if (!steps.empty() && steps.back().second == warps)
      steps.back().first = registers;
    else
      steps.emplace_back(registers, warps);
  }
  return steps;
}

}  // namespace napkin
