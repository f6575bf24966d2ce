// Normal forms of expressions.
#pragma once

#include "derive/algebra/algebra.hpp"

namespace napkin {

Sum normal(Algebra&, ExprId);
// A function without known rules as one factor. Finished reductions inside it are written out in the state.
Sum opaque(Algebra&, ExprId, const Apply&);

}  // namespace napkin
