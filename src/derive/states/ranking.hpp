// Reductions that depend on how a position ranks among those whose extreme is carried; see derive/algebra/ranks.hpp.
#pragma once

#include <optional>
#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// Recognizes a comparison of the expression whose extreme is carried with that extreme or with a later level of its
// chain.
std::optional<RankCondition> rank_condition(StreamAttempt&, ExprId);
bool has_ranks(StreamAttempt&, ExprId);
// The value in finish of a fold whose body depends on ranks.
Sum ranked(StreamAttempt&, const Column&, ExprId value, const std::vector<WireId>& over);

}  // namespace napkin
