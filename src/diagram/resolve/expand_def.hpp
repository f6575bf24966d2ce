// Calls of defs: each call is replaced by the body. A def is also checked once by itself, called or not, so that its
// errors are reported in its own text, and a call adds only errors of its arguments.
#pragma once

#include <optional>

#include "diagram/resolve/expansion.hpp"

namespace napkin {

std::optional<Expanded> expand_def(Expansion&, const ast::Expr&, const Scope&, DefEntry&);
// Checks a def once, whether it is called or not. True if it may be called.
bool check_def(Expansion&, DefEntry&);

}  // namespace napkin
