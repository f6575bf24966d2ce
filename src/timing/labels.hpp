// The labels of a kernel that its launch depends on.
#pragma once

#include "napkin/partition.hpp"

namespace napkin {

// The kernel without its splits below a level.
Kernel down_to(const Kernel&, std::size_t level);
// The partition without those labels from level `first` on that make only one piece.
Partition without_idle_labels(const Diagram&, const Partition&, std::size_t first);
Kernel without_idle_labels(const Kernel&);

}  // namespace napkin
