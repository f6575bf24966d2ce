// Grouping a streamed wire: parts of it side by side, and what merges them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// A streamed wire divided into `parts` of equal length that are absorbed side by side and then merged: the diagram with
// the statements of the kernel replaced by those of two, one that leaves a state for every part and one that merges
// them. None where the parts would not be equal, where something keeps the wire, or where states do not join one by
// one.
struct Divided {
  Diagram diagram;
  std::vector<StatementId> parts, merging;
  WireId part, inside;  // which of the parts, and where in it
};
std::optional<Divided> divide(const Diagram&, const Derivation&, WireId, std::int64_t parts);

}  // namespace napkin
