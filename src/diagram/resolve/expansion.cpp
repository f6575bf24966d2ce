// Adds expressions and errors to an expansion; see expansion.hpp.
#include "diagram/resolve/expansion.hpp"

#include <fmt/format.h>

#include <utility>

namespace napkin {

Expanded add(Expansion& expansion, ExprNode node, Kind kind, const ast::Expr& expr, const Scope& scope) {
  expansion.draft.diagram.exprs.push_back({std::move(node), scope.in_call() ? scope.frame->origin : expr.span});
  return {{static_cast<std::uint32_t>(expansion.draft.diagram.exprs.size() - 1)}, kind};
}

void fail(Expansion& expansion, Diagnostic diagnostic, const ast::Expr& expr, const Scope& scope) {
  diagnostic.span = scope.in_call() ? scope.frame->origin : expr.span;
  if (scope.in_call()) {
    if (diagnostic.help.empty() && !diagnostic.fixes.empty()) diagnostic.help = diagnostic.fixes.front().title;
    diagnostic.fixes.clear();  // they would edit the def
    diagnostic.others.push_back({expr.span, fmt::format("here, in `{}`", scope.frame->entry->def->name.text)});
  }
  expansion.diagnostics.add(std::move(diagnostic));
}

}  // namespace napkin
