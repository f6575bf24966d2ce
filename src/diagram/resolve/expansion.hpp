// What the expansion of expressions shares: where it writes to, and how far it is.
#pragma once

#include <vector>

#include "diagram/resolve/draft.hpp"
#include "diagram/resolve/scope.hpp"

namespace napkin {

inline Kind kind_of(Datatype type) { return type == Datatype::boolean ? Kind::condition : Kind::number; }

struct Expanded {
  ExprId id;
  Kind kind;
};

struct Expansion {
  Draft& draft;
  Names& names;
  Diagnostics& diagnostics;
  const ast::Statement* statement = nullptr;
  std::vector<ExprId> arguments{};  // arguments that the current call has read so far
  int depth = 0, checks = 0;
  std::size_t terms = 0;
  bool exhausted = false;  // a limit was exceeded, so that nothing more is expanded
};

Expanded add(Expansion&, ExprNode, Kind, const ast::Expr&, const Scope&);
// An error in a called def belongs to the call: it is shown at the call, with the line of the def next to it.
void fail(Expansion&, Diagnostic, const ast::Expr&, const Scope&);

}  // namespace napkin
