// Sums of products of shifts, u (w + v)^k (w' + v')^j ..: moments about centres of the w; finish shifts them to the -v.
#pragma once

#include <optional>

#include "derive/states/attempt.hpp"

namespace napkin {

// The value in finish of a sum that contains shifts; none if it is best taken as a plain sum.
std::optional<Sum> about_centres(StreamAttempt&, const Column&);

}  // namespace napkin
