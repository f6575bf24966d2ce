// The steps of a derivation as expressions: what a column was, and what a rule made of it.
#pragma once

#include "napkin/derive.hpp"

namespace napkin {

// `(repair * carried) (+) fold over .. of value` as an expression, to be shown.
ExprId as_expression(Diagram&, const Column&);
// `(repair * carried) (+) piece`.
ExprId joined(Diagram&, const Column&, ExprId piece);

}  // namespace napkin
