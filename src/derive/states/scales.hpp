// Sums of powers are kept relative to the greatest magnitude of the base, as sums of exponentials are kept relative to
// the greatest exponent (docs/theory.md, powers).
#pragma once

#include <optional>
#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// For a sum of powers that the finished factor `waiting` scales: the greatest magnitude of the base.
std::optional<Reference> scaled(StreamAttempt&, const Column&, const Sum& piece, const std::vector<WireId>& over,
                                const Term& waiting);
// `sum`, relative to the scale, times `waiting`: the scale and its divisor are put under one power.
Sum rescaled(StreamAttempt&, const Sum& sum, const Reference& scale, const Term& waiting);
// Products of few 16-bit numbers stay within the range of f32 without a scale.
bool needs_scale(const Ranges&, const Term& piece, const Reference& scale);

// The state of the greatest magnitude.
std::size_t greatest_of(StreamAttempt&, const Column&, ExprId magnitude, const std::vector<WireId>& over);
// The magnitude, or -infinity where a mask of the piece leaves out the position.
ExprId magnitude_where_counted(StreamAttempt&, ExprId base, const Term& piece);
// The scale after the sweep. If a mask leaves out every position there is no greatest magnitude, and the scale is 1.
Term scale_after(StreamAttempt&, const Term& piece, std::size_t state);

}  // namespace napkin
