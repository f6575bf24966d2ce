// Grouping a streamed wire: parts of it are absorbed in parallel and then merged.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// A streamed wire divided into `parts` of equal length that are absorbed in parallel and then merged: the diagram with
// the statements of the kernel replaced by those of two kernels, one that computes a state for every part and one that
// merges them. None if the parts would not be equal, if an array keeps the wire, or if states do not merge one by one.
struct Divided {
  Diagram diagram;
  std::vector<StatementId> parts, merging;
  WireId part, inside;  // the number of the part, and the position in it
};
std::optional<Divided> divide(const Diagram&, const Derivation&, WireId, std::int64_t parts);

}  // namespace napkin
