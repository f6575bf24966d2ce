// Axes by their names, and errors of names.
#pragma once

#include <optional>
#include <string_view>

#include "diagram/resolve/expansion.hpp"

namespace napkin {

std::optional<AxisId> find_axis(Expansion&, const ast::Name&, const Scope&);
enum class ReadAs : std::uint8_t { index, number };
// The use of an axis that a name alone refers to.
std::optional<Bound> find_bound(Expansion&, const ast::Expr&, const Scope&, ReadAs);

// A def can use only its own axes and parameters, and nothing else of the file.
void fail_not_given(Expansion&, const ast::Name&, const Scope&, std::string_view what);
// Its arguments are expanded, if they are those of a call, so that their own errors are reported too.
void fail_unknown_call(Expansion&, const ast::Expr&, const Scope&);

}  // namespace napkin
