// What fitting to fragments changed of a partition.
#include "napkin/distribute.hpp"

namespace napkin {

std::optional<Partition> other_tiles(const Kernel& kernel, const WarpNest& warps, const Hardware& hardware) {
  auto planned = kernel.partition;
  std::erase_if(planned.splits, [&](const Split& split) {
    return split.level == hardware.levels.size() - 1 && split.kind == SplitKind::stream;
  });
  return planned == warps.partition ? std::nullopt : std::optional(warps.partition);
}

std::optional<Partition> other_tiles(const Kernel& kernel, const Hardware& hardware) {
  auto made = distribute_warpgroups(kernel, hardware);
  if (std::holds_alternative<Refused>(made)) made = distribute(kernel, hardware);
  const auto* warps = std::get_if<WarpNest>(&made);
  return warps ? other_tiles(kernel, *warps, hardware) : std::nullopt;
}

}  // namespace napkin
