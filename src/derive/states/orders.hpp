// The extreme of a function: functions that keep or reverse the order of numbers are applied in finish.
#pragma once

#include <optional>
#include <utility>

#include "derive/states/extremes.hpp"

namespace napkin {

// The extreme of a power of an expression that mixes pieces and finished reductions; none, and a refusal, if there is
// none.
std::optional<Sum> extreme_of_power(StreamAttempt&, const Extreme&, std::pair<ExprId, double> factor);

}  // namespace napkin
