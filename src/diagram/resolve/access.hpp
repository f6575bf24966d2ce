// Reads of arrays.
#pragma once

#include <optional>

#include "diagram/resolve/expansion.hpp"

namespace napkin {

std::optional<Expanded> expand_access(Expansion&, const ast::Expr&, const Scope&);

}  // namespace napkin
