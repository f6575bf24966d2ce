// Chunks of prefixes in groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// Takes reductions over the chunks before, along the wires `chunks` of a diagram in chunks, in groups of `of_group`.
PrefixesInChunks chunks_in_groups(const Diagram&, std::int64_t of_group, std::vector<std::string> chunks);

}  // namespace napkin
