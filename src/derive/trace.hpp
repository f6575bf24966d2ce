// The steps of a derivation as expressions: a column before and after a rule was applied.
#pragma once

#include "napkin/derive.hpp"

namespace napkin {

// `(repair * carried) (+) fold over .. of value` as an expression, for display.
ExprId as_expression(Diagram&, const Column&);
// `(repair * carried) (+) piece`.
ExprId joined(Diagram&, const Column&, ExprId piece);

// The scratch diagram of a stream with the names of the derivation, for describing one of its steps. In the stream
// itself, pieces have the names of whole arrays, and whole arrays have other names.
Diagram told(const Derivation&, const Streamable&, const Rewriting&);

}  // namespace napkin
