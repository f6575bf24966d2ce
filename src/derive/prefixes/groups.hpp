// Chunks of prefixes in groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// Of a diagram in chunks, reductions of what lies in chunks before, along these wires: with so many chunks to a group.
PrefixesInChunks chunks_in_groups(const Diagram&, std::int64_t of_group, std::vector<std::string> chunks);

}  // namespace napkin
