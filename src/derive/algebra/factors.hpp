// Products and functions of normal forms. A function of a product is rewritten factor by factor if this separates
// pieces from finished reductions.
#pragma once

#include "derive/algebra/algebra.hpp"

namespace napkin {

Sum multiplied(Algebra&, const Sum&, const Sum&);
Sum raised(Algebra&, const Sum&, double power);
Sum rooted(Algebra&, const Apply& root, const Sum&, double power);
// exp(by * sum): logarithms in the exponent become factors, and constants go into the coefficient.
Sum exponential(const Diagram&, const Sum&, double by);
Sum logarithm(Algebra&, const Apply& log, const Sum&);
Sum magnitude(Algebra&, ExprId, const Apply&, const Sum&);
// f(u * v, w * v) = v * f(u, w) if v is never negative. If the sign of v is known only at the end, both cases are
// computed, with f(u * v, w * v) = -v * f(-u, -w) for a negative v.
Sum homogeneous(Algebra&, ExprId, const Apply&);

}  // namespace napkin
