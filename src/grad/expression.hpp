// Readable expressions of sums of products.
#pragma once

#include "grad/algebra.hpp"

namespace napkin::grad {

ExprId expression(Algebra&, const Sum&);
ExprId expression(Algebra&, const Product&);
// A sum without what all terms share in front of it. A term that is not subtracted comes first, if there is one.
ExprId inner_sum(Algebra&, const Sum&);

}  // namespace napkin::grad
