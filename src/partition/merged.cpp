// A partition that groups a streamed axis becomes one of the parts alone: each group absorbs its part of the axis into
// a state of its own, and a kernel that follows merges the states.
#include <fmt/format.h>

#include <algorithm>

#include "derive/streams/divide.hpp"
#include "napkin/partition.hpp"

namespace napkin {

std::optional<std::size_t> merged_group(const Derivation& derivation, const Partition& partition) {
  for (std::size_t i = 0; i < partition.splits.size(); ++i) {
    const auto& split = partition.splits[i];
    const auto* verdict = split.kind == SplitKind::group ? derivation.find(split.wire) : nullptr;
    if (verdict && verdict->is_merged()) return i;
  }
  return std::nullopt;
}

std::variant<DividedPartition, Refused> divide(const Diagram& diagram, const Derivation& derivation,
                                               const Partition& partition, std::size_t group) {
  const auto& split = partition.splits.at(group);
  const auto& name = diagram.at(split.wire).name;
  const auto extent = diagram.size(split.wire).value_or(0);
  if (split.size < 1 || extent % split.size != 0)
    return Refused{fmt::format("the parts of `{}` are merged and have to be equal: {} does not divide {}", name,
                               split.size, extent),
                   {},
                   "take a size that does"};
  auto made = divide(diagram, derivation, split.wire, extent / split.size);
  if (!made)
    return Refused{fmt::format("the states of the parts of `{}` cannot be written as statements", name),
                   {},
                   fmt::format("stream `{}` instead", name)};
  if (made->parts.empty())
    return Refused{fmt::format("the result does not depend on the parts of `{}`", name),
                   {},
                   fmt::format("stream `{}` instead, or leave it whole", name)};
  DividedPartition divided{std::move(made->diagram), std::move(made->parts), std::move(made->merging), partition};
  for (auto& each : divided.partition.splits)
    if (each.wire == split.wire) each.wire = made->inside;
  divided.partition.splits[group] = {SplitKind::group, made->part, 1, split.level};
  return divided;
}

}  // namespace napkin
