// Sums: a factor that does not vary with the piece moves out.
#pragma once

#include <optional>

#include "derive/states/attempt.hpp"

namespace napkin {

// In the body, pieces that are exponentials are written out to expose their exponents. They are read unchanged instead
// where this is of no use.
void reduce_sum(StreamAttempt&, const Column&, const Sum& body);
// The value in finish; none, and a refusal, if there is none. `alone`: it is the whole value of the column.
std::optional<Sum> summed(StreamAttempt&, const Column&, const Sum& body, bool alone = true);

}  // namespace napkin
