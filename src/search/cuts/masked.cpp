#include "search/cuts/masked.hpp"

#include <algorithm>
#include <optional>

#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

std::optional<WireId> position(const Diagram& diagram, ExprId id) {
  const auto* found = std::get_if<Position>(&diagram.at(id).node);
  return found ? std::optional(found->wire) : std::nullopt;
}

bool reads(const Diagram& diagram, ExprId id) {
  return any_part(diagram, id, [&](ExprId part) { return std::holds_alternative<Access>(diagram.at(part).node); });
}

// True if the condition holds for equal numbers and if the first one is less, or with `reversed` if it is greater.
bool is_at_most(const Pointwise& condition, bool reversed) {
  const auto holds = [&](double a, double b) {
    const double arguments[] = {a, b};
    return condition.value(arguments) != 0;
  };
  const double greater = reversed ? -1 : 1;
  return holds(0, 0) && holds(0, greater) && !holds(0, -greater);
}

// Notes the wires of a mask that compares two positions and reads only where the first is at most the second.
bool compares(const Diagram& diagram, const Apply& choice, MaskedWires& masked) {
  const auto* compare = std::get_if<Apply>(&diagram.at(choice.arguments[0]).node);
  if (!compare || compare->function->role != Role::compare || reads(diagram, choice.arguments[2])) return false;
  const auto a = position(diagram, compare->arguments[0]), b = position(diagram, compare->arguments[1]);
  if (!a || !b || diagram.size(*a) != diagram.size(*b)) return false;
  for (const bool reversed : {false, true}) {
    if (!is_at_most(*compare->function, reversed)) continue;
    masked.lower.insert(reversed ? *b : *a);
    masked.upper.insert(reversed ? *a : *b);
    return true;
  }
  return false;
}

// Notes the wires of another condition, as far as it follows from positions and from arrays of truth values.
void condition(const Diagram& diagram, ExprId id, MaskedWires& masked) {
  any_part(diagram, id, [&](ExprId part) {
    const auto* access = std::get_if<Access>(&diagram.at(part).node);
    if (position(diagram, part) || (access && diagram.at(access->array).type == Datatype::boolean))
      for (const auto wire : free_wires(diagram, part)) masked.other.insert(wire);
    return false;
  });
}

bool share(const std::set<WireId>& a, const std::set<WireId>& b) {
  return std::ranges::any_of(a, [&](WireId wire) { return b.contains(wire); });
}

}  // namespace

Masks::Masks(const Diagram& diagram) : diagram_(diagram) {
  for (std::uint32_t i = 0; i < diagram.wires.size(); ++i) same_.push_back({i});
  for (const auto& statement : diagram.statements) read(statement.value, by_statement_.emplace_back());
}

void Masks::read(ExprId id, MaskedWires& masked) {
  match(
      diagram_.at(id).node, [](const Constant&) {}, [](const Size&) {}, [](const Position&) {},
      [&](const Access& a) { read_along(a, masked); },
      [&](const Apply& a) {
        if (a.function->role == Role::choose && !compares(diagram_, a, masked))
          condition(diagram_, a.arguments[0], masked);
        for (const auto argument : a.arguments) read(argument, masked);
      },
      [&](const Cast& c) { read(c.value, masked); }, [&](const Reduce& r) { read(r.body, masked); });
}

// An array that is read only in part may be needed only in part.
void Masks::read_along(const Access& access, MaskedWires& masked) {
  if (std::ranges::count(diagram_.inputs, access.array) > 0) return;
  for (std::size_t i = 0; i < access.at.size(); ++i) {
    const auto& [terms, offset, divisor] = access.at[i];
    const auto own = diagram_.at(access.array).wires[i];
    const bool is_whole = terms.size() == 1 && terms[0].second == 1 && offset == 0 && divisor == 1 &&
                          diagram_.size(own) == diagram_.size(terms[0].first);
    if (is_whole) same_[name(own).index] = name(terms[0].first);
    if (!is_whole) masked.other.insert(own);
  }
}

WireId Masks::name(WireId wire) const {
  while (same_[wire.index] != wire) wire = same_[wire.index];
  return wire;
}

// A position that satisfies one mask may not satisfy another, which compares the wire otherwise.
MaskedWires Masks::of(const Statements& statements) const {
  MaskedWires all;
  const auto add = [&](std::set<WireId>& to, const std::set<WireId>& wires) {
    for (const auto wire : wires) to.insert(name(wire));
  };
  for (auto i = statements._Find_first(); i < statements.size(); i = statements._Find_next(i)) {
    add(all.lower, by_statement_[i].lower);
    add(all.upper, by_statement_[i].upper);
    add(all.other, by_statement_[i].other);
  }
  if (!share(all.lower, all.upper) && !share(all.lower, all.other) && !share(all.upper, all.other)) return all;
  add(all.other, all.lower);
  add(all.other, all.upper);
  return all;
}

bool Masks::may_skip(const MaskedWires& masked, const std::vector<WireId>& wires) const {
  const auto among = [&](const std::set<WireId>& some) {
    return std::ranges::any_of(wires, [&](WireId wire) { return some.contains(name(wire)); });
  };
  return among(masked.other) || (among(masked.lower) && among(masked.upper));
}

}  // namespace napkin
