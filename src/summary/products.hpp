// Sums of products, as far as several files of the summary ask for them.
#pragma once

#include "napkin/derive.hpp"

namespace napkin {

// Whether a column sums products of what varies along one wire of the result and what varies along another, arrays or
// not.
bool sums_matrices(const Diagram&, const Column&);

}  // namespace napkin
