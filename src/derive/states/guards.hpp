// Values that count for nothing if their guards hold nowhere.
#pragma once

#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// The value, or zero if the guards hold at no position along the wires `over`. `waiting` is the factor that an empty
// sum would be multiplied by: if it is always finite, the value stays as it is.
Sum guarded(StreamAttempt&, const Column&, const Sum& value, const Sum& waiting, const Guards&,
            const std::vector<WireId>& over);
// Whether the condition holds at any position that the column folds, computed in finish. A piece in which it holds
// nowhere changes no state, so that the piece may be skipped.
ExprId any_holds(StreamAttempt&, const Column&, ExprId condition);

}  // namespace napkin
