// The steps of a derivation as expressions: what a column was, and what a rule made of it.
#pragma once

#include "napkin/derive.hpp"

namespace napkin {

// `(repair * carried) (+) fold over .. of value` as an expression, to be shown.
ExprId as_expression(Diagram&, const Column&);
// `(repair * carried) (+) piece`.
ExprId joined(Diagram&, const Column&, ExprId piece);

// The scratch of a stream, for telling one of its steps: with the names of the derivation, where the stream calls its
// pieces like the whole and the whole otherwise.
Diagram told(const Derivation&, const Streamable&, const Rewriting&);

}  // namespace napkin
