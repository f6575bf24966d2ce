// Casts of pieces: whether a waiting factor may be multiplied in after the rounding.
#pragma once

#include <optional>

#include "derive/states/attempt.hpp"

namespace napkin {

// Whether roundings of pieces that were moved past finished factors give the same results as before; else the column is
// refused. The piece is kept relative to the reference.
bool rounds_alike(StreamAttempt&, const Column&, const Sum& piece, const std::optional<Reference>&);

}  // namespace napkin
