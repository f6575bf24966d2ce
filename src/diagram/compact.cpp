#include "diagram/compact.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "diagram/assume.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

std::set<ExprId> needed_expressions(const Diagram& diagram) {
  std::set<ExprId> needed;
  const auto add = [&](ExprId root) {
    any_part(diagram, root, [&](ExprId part) { return needed.insert(part), false; });
  };
  for (const auto& statement : diagram.statements) add(statement.value);
  for (const auto assumption : assumptions(diagram)) add(assumption);
  return needed;
}

}  // namespace

void drop_unused_expressions(Diagram& diagram) {
  std::map<ExprId, ExprId> moved;
  Expressions kept;
  for (const auto id : needed_expressions(diagram)) {  // children come first, as they are stored
    auto expr = diagram.at(id);
    match(
        expr.node, [&](Apply& apply) { std::ranges::for_each(apply.arguments, [&](ExprId& e) { e = moved.at(e); }); },
        [&](Cast& cast) { cast.value = moved.at(cast.value); },
        [&](Reduce& reduce) { reduce.body = moved.at(reduce.body); }, [](auto&) {});
    moved[id] = {static_cast<std::uint32_t>(kept.size())};
    kept.push_back(std::move(expr));
  }
  for (auto& statement : diagram.statements) statement.value = moved.at(statement.value);
  std::erase_if(diagram.calls, [&](const Call& call) {
    return !moved.contains(call.result) ||
           !std::ranges::all_of(call.arguments, [&](ExprId e) { return moved.contains(e); });
  });
  for (auto& call : diagram.calls) {
    call.result = moved.at(call.result);
    for (auto& argument : call.arguments) argument = moved.at(argument);
  }
  diagram.exprs = std::move(kept);
}

}  // namespace napkin
