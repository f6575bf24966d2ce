// A column in words.
#pragma once

#include <string>

#include "napkin/derive.hpp"

namespace napkin {

// "l = exp(m - n) * l + sum[x](P[q, x])", with indices where `to_text` of an expression has them.
std::string to_text(const Diagram&, const Column&);

}  // namespace napkin
