// Choices, where(c, a, b), as normal forms.
#pragma once

#include "derive/algebra/algebra.hpp"

namespace napkin {

// Factors that do not depend on the piece move out of the choice.
Sum chosen(Algebra&, ExprId, const Apply&);

}  // namespace napkin
