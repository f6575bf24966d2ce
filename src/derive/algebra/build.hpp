// Expressions from normal forms.
#pragma once

#include <string_view>
#include <vector>

#include "derive/algebra/terms.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

ExprId applied(Diagram&, std::string_view function, std::vector<ExprId> arguments);
ExprId cast_to(Diagram&, Datatype, ExprId);  // does nothing if an array has the type already

ExprId build(Diagram&, const Term&);
ExprId build(Diagram&, const Sum&);
Sum as_factor(Diagram&, const Sum&);  // the sum as a single factor

ExprId all_of(Diagram&, const Guards&);
Guards either(Diagram&, const Guards&, const Guards&);  // for a sum of terms with the same finished factors

}  // namespace napkin
