// A def of one axis called over several: a copy of it with an axis for each.
#pragma once

#include <optional>

#include "napkin/syntax.hpp"

namespace napkin {

// A reduction over the axis becomes one over all `count`, its size their product. Nothing where the def asks for the
// position along its axis.
std::optional<ast::Def> spread(const ast::Def&, std::size_t count);

}  // namespace napkin
