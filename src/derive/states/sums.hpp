// Sums: a factor that does not vary with the piece moves out.
#pragma once

#include <optional>

#include "derive/states/attempt.hpp"

namespace napkin {

void reduce_sum(StreamAttempt&, const Column&, const Sum& body);
// The value in finish; none, and a refusal, if there is none. `alone`: it is the whole value of the column.
std::optional<Sum> summed(StreamAttempt&, const Column&, const Sum& body, bool alone = true);
// Pieces that are exponentials are written out to expose their exponents. True if this is of use, because a maximum of
// an exponent is kept, or because finished reductions are mixed in.
bool takes_reference(StreamAttempt&, const Column&, const Sum& body);

}  // namespace napkin
