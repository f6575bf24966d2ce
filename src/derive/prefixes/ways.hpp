// How many positions lie on the way from one of a chunk to one of a later chunk: up to the beginning of the next chunk,
// over the chunks between, and in the other from its beginning. None is negative, so that what fades on the way fades
// on each part of it.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// From the position at hand to the first one of the next chunk, where a wire has the positions of one.
ExprId to_next(Diagram&, WireId inside);
// Those of the chunks between two, which are as long as an axis: none where one follows the other.
ExprId between(Diagram&, ExprId chunk, ExprId later, WireId inside);

}  // namespace napkin
