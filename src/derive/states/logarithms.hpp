// Sums of log(a / r), where r is a finished reduction: the logarithm of a quotient near one is small, while log(a) and
// log(r) are large. So logarithms of quotients by the running maximum are carried (docs/theory.md, moments).
#pragma once

#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// For logarithms from which the logarithm of a finished reduction is subtracted: the greatest magnitude of each
// argument. None if the part is something else.
std::vector<Centre::Extreme> logarithms_in(StreamAttempt&, const Column&, const Shifted&, const Shifted::Part&);
// The distance of such a centre from the value that the file subtracts, log(m) + log(v) = log(m * v). Nothing remains
// if v divides by m.
Sum off_logarithms(StreamAttempt&, const Centre&, Sum offset);

}  // namespace napkin
