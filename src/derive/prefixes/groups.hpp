// Groups of chunks of prefixes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// Rewrites reductions over earlier chunks to work in groups of `of_group` chunks, along the wires `chunks` of a diagram
// in chunks.
PrefixesInChunks chunks_in_groups(const Diagram&, std::int64_t of_group, std::vector<std::string> chunks);

}  // namespace napkin
