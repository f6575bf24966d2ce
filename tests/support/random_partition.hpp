// Random labels: pieces of one to four positions, a third of all wires split at each level.
#pragma once

#include <random>

#include "napkin/partition.hpp"

namespace napkin::testing {

// Legal or not; `levels` counts the outermost.
inline Partition random_partition(const Derivation& derivation, std::size_t levels, std::mt19937& random) {
  Partition partition;
  for (std::size_t level = 1; level < levels; ++level)
    for (const auto kind : {SplitKind::group, SplitKind::stream})
      for (const auto& verdict : derivation.verdicts)
        if (random() % 3 == 0)
          partition.splits.push_back({kind, verdict.wire, 1 + static_cast<std::int64_t>(random() % 4), level});
  return partition;
}

}  // namespace napkin::testing
