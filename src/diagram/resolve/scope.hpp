// The meaning of a name at one place of an expression, while defs are expanded.
//
// An axis name refers to the reduction (or the left side) that binds it, and each binding is a separate use of a wire.
// Inside a def, its axes mean what the call passed. A parameter means the argument *read in the scope of the call*,
// except that those of the caller's axes that the def's own reductions bind are rebound. So nothing is captured by
// accident.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "diagram/resolve/names.hpp"

namespace napkin {

struct Bound {
  WireId use;
  AxisId axis;
};

struct Frame;
struct Scope {
  std::map<std::string_view, Bound> axes;
  const Frame* frame = nullptr;    // the call of the def whose body this is; none in a statement
  const Frame* through = nullptr;  // the call of the def that reads this argument; used in messages only

  const Bound* find(std::string_view name) const {
    const auto found = axes.find(name);
    return found == axes.end() ? nullptr : &found->second;
  }
  bool in_call() const;  // inside a call; not in a statement or in a def that is checked by itself
};

// One call of a def. A frame without a call is for the check of the def by itself.
struct Frame {
  const DefEntry* entry;
  std::vector<AxisId> axes;  // the axes passed, whether the caller binds them or not
  const ast::Expr* call = nullptr;
  const Scope* caller = nullptr;
  Span origin;  // the call in the user's own statement that led here
};

inline bool Scope::in_call() const { return frame != nullptr && frame->call != nullptr; }

// The scope in which an argument is read at a place inside the def.
inline Scope argument_scope(const Scope& inside) {
  const Frame& frame = *inside.frame;
  Scope scope = *frame.caller;
  scope.through = &frame;
  const auto& formal = frame.entry->def->axes;
  for (std::size_t i = 0; i < formal.size(); ++i)
    if (const auto* bound = inside.find(formal[i].text)) scope.axes[frame.call->axes[i].text] = *bound;
  return scope;
}

}  // namespace napkin
