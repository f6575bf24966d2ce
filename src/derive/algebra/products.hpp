// Products of normal forms.
#pragma once

#include <optional>

#include "derive/algebra/algebra.hpp"

namespace napkin {

Sum multiplied(Algebra&, const Sum&, const Sum&);
// Writes u * v + w * v as v * (u + w).
std::optional<Term> factored(const Algebra&, const Sum&);
// Whether the terms of a sum may cancel. Multiplied out, a product of two such sums has larger terms that cancel: its
// rounding error grows with the square of the cancellation, that of the product of the differences only linearly.
bool may_cancel(const Algebra&, const Sum&);

}  // namespace napkin
