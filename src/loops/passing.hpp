// Results that are inlined: they are computed where they are used and never stored.
#pragma once

#include <functional>
#include <map>

#include "napkin/loops.hpp"

namespace napkin {

// True if the column reads the buffer, or continues what the buffer holds.
bool reads(const Compute&, BufferId);
// True if the column continues a sum in place that no other statement of the body computes, reads or saves: the sum may
// still be computed when the next iteration begins.
bool may_trail(const LoopBody&, const Compute&);
// The inlined buffers and the columns that compute them. Such a column neither folds nor carries. Its result is read by
// a single product in the same loop body, or it is saved there and read by no column. `is_product` says which columns
// run on matrix units.
std::map<BufferId, const Compute*> passing(const LoopNest&, const std::function<bool(const Compute*)>& is_product);

}  // namespace napkin
