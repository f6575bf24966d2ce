// Casts as normal forms (docs/theory.md, casts).
#pragma once

#include "derive/algebra/algebra.hpp"

namespace napkin {

// The cast of a sum, which the expression is. The argument of a cast is the product of a piece and of finished
// reductions. The piece is rounded, and the other factor waits. Whether this gives the same result, within the cast's
// own rounding, is checked once it is known what the piece is kept relative to.
Sum cast(Algebra&, ExprId, Datatype, const Sum&);

}  // namespace napkin
