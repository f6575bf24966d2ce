// Results that are never stored: computed where they are wanted.
#pragma once

#include <functional>
#include <map>

#include "napkin/loops.hpp"

namespace napkin {

// What one product alone reads, or what is saved and nobody reads, in the block of its column; of columns that neither
// fold nor carry. `is_product` says which columns run on matrix units.
std::map<BufferId, const Compute*> passing(const LoopNest&, const std::function<bool(const Compute*)>& is_product);

}  // namespace napkin
