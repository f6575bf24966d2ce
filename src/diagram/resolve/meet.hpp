// Which uses of an axis meet, and so are one wire.
#pragma once

#include <cstdint>
#include <vector>

#include "diagram/resolve/draft.hpp"

namespace napkin {

// For each use of the draft one that stands for all that it meets.
std::vector<std::uint32_t> meet(const Draft&);

}  // namespace napkin
