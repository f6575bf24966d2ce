// Sums of products, as far as several files of the summary ask for them.
#pragma once

#include <string>

#include "napkin/derive.hpp"

namespace napkin {

// "S" for the sum of it that the derivation takes apart.
std::string without_sum(std::string name);

// Whether a column sums products of what varies along one wire of the result and what varies along another, arrays or
// not.
bool sums_matrices(const Diagram&, const Column&);

}  // namespace napkin
