// Names of the arrays that an order of contraction adds.
#pragma once

#include <string>

#include "napkin/diagram.hpp"

namespace napkin::orders {

// A name for the product of these arrays, such as "KV" or "keys_values", that nothing in the diagram has. A longer one
// is replaced by a name made from that of the result.
std::string free_name(const Diagram&, const std::vector<std::string>& factors, const std::string& result);

}  // namespace napkin::orders
