// Trees of expressions back to text.
#pragma once

#include <string>

#include "napkin/syntax.hpp"

namespace napkin {

// With the fewest brackets. Inside an index a product is close, `2*u + i`.
std::string print_expression(const ast::Expr&);

// A list of names between two brackets: `[q, x]`.
std::string print_names(const std::vector<ast::Name>&, char open, char close);

}  // namespace napkin
