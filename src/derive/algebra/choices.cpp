// Finds conditions in expressions and replaces them by their values; see choices.hpp.
#include "derive/algebra/choices.hpp"

#include "diagram/operands.hpp"

namespace napkin {
namespace {

std::optional<bool> truth(const Diagram& diagram, ExprId e) {
  const auto* constant = std::get_if<Constant>(&diagram.at(e).node);
  return constant ? std::optional(constant->value != 0) : std::nullopt;
}

// Simplifies a function of conditions of which some are decided: to one remaining condition, or to a constant.
ExprId combined(Diagram& diagram, ExprId e) {
  const auto apply = std::get<Apply>(diagram.at(e).node);
  const auto answer = [&](bool first, bool second) {
    const double values[] = {first ? 1.0 : 0.0, second ? 1.0 : 0.0};
    return apply.function->value(values) != 0;
  };
  const auto number = [&](bool holds) { return diagram.intern(Constant{holds ? 1.0 : 0.0}); };
  const auto first = truth(diagram, apply.arguments[0]);
  if (apply.arguments.size() == 1) return first ? number(answer(*first, false)) : e;
  const auto second = truth(diagram, apply.arguments[1]);
  if (first && second) return number(answer(*first, *second));
  if (!first && !second) return e;
  const auto with = [&](bool open) { return first ? answer(*first, open) : answer(open, *second); };
  if (with(false) == with(true)) return number(with(true));
  return first ? apply.arguments[1] : apply.arguments[0];
}

std::optional<ExprId> part_of_condition(const Diagram& diagram, ExprId condition, const Question& wanted) {
  if (wanted(condition)) return condition;
  const auto* apply = std::get_if<Apply>(&diagram.at(condition).node);
  if (!apply || apply->function->role != Role::logic) return {};
  for (const auto argument : apply->arguments)
    if (const auto found = part_of_condition(diagram, argument, wanted)) return found;
  return {};
}

}  // namespace

ExprId decided(Diagram& diagram, ExprId e, const std::map<ExprId, bool>& conditions) {
  if (const auto found = conditions.find(e); found != conditions.end())
    return diagram.intern(Constant{found->second ? 1.0 : 0.0});
  const ExprId made = with_operands(diagram, e, [&](ExprId part) { return decided(diagram, part, conditions); });
  const auto* apply = std::get_if<Apply>(&diagram.at(made).node);
  if (!apply || made == e) return made;
  if (apply->function->role == Role::logic) return combined(diagram, made);
  if (apply->function->role != Role::choose) return made;
  const auto holds = truth(diagram, apply->arguments[0]);
  return holds ? apply->arguments[*holds ? 1 : 2] : made;
}

std::optional<ExprId> condition_below(const Diagram& diagram, ExprId e, const Question& among, const Question& wanted) {
  if (!among(e)) return {};
  const auto& node = diagram.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node)) return condition_below(diagram, cast->value, among, wanted);
  const auto* apply = std::get_if<Apply>(&node);
  if (!apply) return {};
  if (apply->function->role == Role::choose)
    if (const auto found = part_of_condition(diagram, apply->arguments[0], wanted)) return found;
  for (const auto argument : apply->arguments)
    if (const auto found = condition_below(diagram, argument, among, wanted)) return found;
  return {};
}

}  // namespace napkin
