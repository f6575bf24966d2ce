// Finds the uses of an axis that meet, and so are one wire.
#pragma once

#include <cstdint>
#include <vector>

#include "diagram/resolve/draft.hpp"

namespace napkin {

// By use of the draft: a use that represents all uses that it meets.
std::vector<std::uint32_t> meet(const Draft&);

}  // namespace napkin
