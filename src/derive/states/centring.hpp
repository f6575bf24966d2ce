// Centres that are carried, and the moments and sums about them; see moments.hpp.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// The number of the centre of a part of a shift: the extremes that it subtracts, or a running mean.
std::size_t centre_for(StreamAttempt&, const Column&, const Shifted&, const Shifted::Part&);
// The distance of the centre from the value that the file subtracts, with the factor of the shift.
Sum off_centre(StreamAttempt&, std::size_t centre, const Shifted::Part&);

// All moments of powers up to the greatest. `waiting`: the exponent of the factor that finish multiplies them by.
std::map<Powers, ArrayId> moments_for(StreamAttempt&, const Column&, const Moment& greatest, const Term& piece,
                                      const std::vector<WireId>& over, const Sum& waiting);
bool counts(const Term& piece);  // true if its moment of degree zero is the number of positions

// A sum of u * w, where w has the known centre c: c times the sum of u, plus the sum of u * (w - c).
std::optional<Sum> sum_about_centre(StreamAttempt&, const Column&, const Sum& piece, const std::vector<WireId>& over,
                                    const Sum& waiting);

}  // namespace napkin
