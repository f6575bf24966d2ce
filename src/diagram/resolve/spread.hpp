// A def of one axis that is called over several axes: a copy of it with all of them.
#pragma once

#include <optional>

#include "napkin/syntax.hpp"

namespace napkin {

// A reduction over the axis becomes one over all `count` axes, and its size becomes their product. None if the def
// reads the position along its axis.
std::optional<ast::Def> spread(const ast::Def&, std::size_t count);

}  // namespace napkin
