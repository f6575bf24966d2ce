// Turns expressions of the file into expressions of a draft: names become ids, and calls of defs become their bodies.
#pragma once

#include <optional>
#include <vector>

#include "diagram/resolve/expansion.hpp"

namespace napkin {

// The value of a statement, in the scope of what its left side binds; none if there was an error.
std::optional<ExprId> expand_statement(Expansion&, const ast::Statement&, ArrayId);

std::optional<Expanded> expand(Expansion&, const ast::Expr&, const Scope&);
// The arguments of a call, which must be `count`.
std::optional<std::vector<Expanded>> expand_arguments(Expansion&, const ast::Expr&, const Scope&, std::size_t count);

}  // namespace napkin
