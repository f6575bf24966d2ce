// Prints an expression in the language, with the fewest brackets that keep its meaning.
#include <fmt/format.h>

#include <cmath>

#include "diagram/match.hpp"
#include "napkin/diagram.hpp"

namespace napkin {
namespace {

// Binding strengths of printed forms; brackets enclose an expression that binds less strongly than its context needs.
constexpr int whole = 100, any = 0, additive = 5, signed_number = 7;
struct Printed {
  std::string text;
  int binding;
};
struct Style {
  bool brief = false;  // omit the indices of an array that is read at its own place
};
Printed printed(const Diagram& diagram, ExprId id, Style style);

std::string within(const Diagram& diagram, ExprId id, int least, Style style) {
  auto [text, binding] = printed(diagram, id, style);
  return binding < least ? "(" + text + ")" : text;
}

template <class Items, class Text>
std::string joined(const Items& items, Text text) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : ", ") + text(item);
  return all;
}

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

std::string index_text(const Diagram& diagram, const Index& index) {
  std::string text;
  const auto add = [&](std::int64_t coefficient, const std::string& name) {
    if (!text.empty())
      text += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0)
      text += "-";
    const auto size = coefficient < 0 ? -coefficient : coefficient;
    if (name.empty())
      text += fmt::format("{}", size);
    else
      text += size == 1 ? name : fmt::format("{}*{}", size, name);
  };
  for (const auto& [wire, coefficient] : index.terms) add(coefficient, diagram.at(wire).name);
  if (index.offset != 0 || index.terms.empty()) add(index.offset, "");
  if (index.divisor == 1) return text;
  const bool bracket = index.terms.size() + (index.offset != 0) > 1;
  return fmt::format("{} / {}", bracket ? "(" + text + ")" : text, index.divisor);
}

bool own_place(const Diagram& diagram, const Access& access) {
  const auto& wires = diagram.at(access.array).wires;
  for (std::size_t i = 0; i < wires.size(); ++i)
    if (access.at[i] != Index{{{wires[i], 1}}, 0, 1}) return false;
  return true;
}

Printed printed_apply(const Diagram& diagram, const Apply& apply, Style style) {
  const auto& f = *apply.function;
  const auto argument = [&](std::size_t i, int least) { return within(diagram, apply.arguments[i], least, style); };
  if (!f.callable) return {fmt::format("exp({} - {})", argument(0, additive), argument(1, additive + 1)), whole};
  if (f.precedence == 0)
    return {fmt::format("{}({})", f.name,
                        joined(apply.arguments, [&](ExprId a) { return within(diagram, a, any, style); })),
            whole};
  if (f.role == Role::negate) return {"-" + argument(0, f.precedence), f.precedence};
  if (f.arity == 1) return {fmt::format("{} {}", f.name, argument(0, f.precedence)), f.precedence};
  if (f.role == Role::power) return {argument(0, f.precedence + 1) + "^" + argument(1, f.precedence), f.precedence};
  return {fmt::format("{} {} {}", argument(0, f.precedence), f.name, argument(1, f.precedence + 1)), f.precedence};
}

Printed printed(const Diagram& diagram, ExprId id, Style style) {
  const auto wire_name = [&](WireId wire) { return diagram.at(wire).name; };
  const auto inside = [&](ExprId e) { return within(diagram, e, any, style); };
  return match(
      diagram.at(id).node,
      [](const Constant& c) -> Printed {
        return {number(c.value), c.value < 0 ? signed_number : whole};
      },
      [&](const Position& p) -> Printed {
        return {wire_name(p.wire), whole};
      },
      [&](const Size& s) -> Printed {
        return {fmt::format("size({})", diagram.at(s.axis).name), whole};
      },
      [&](const Access& a) -> Printed {
        const auto indices = joined(a.at, [&](const Index& i) { return index_text(diagram, i); });
        const bool bare = style.brief && own_place(diagram, a);
        return {bare ? diagram.at(a.array).name : fmt::format("{}[{}]", diagram.at(a.array).name, indices), whole};
      },
      [&](const Apply& a) -> Printed { return printed_apply(diagram, a, style); },
      [&](const Cast& c) -> Printed {
        return {fmt::format("{}({})", row(c.type).name, inside(c.value)), whole};
      },
      [&](const Reduce& r) -> Printed {
        return {fmt::format("{}[{}]({})", r.reduction->name, joined(r.over, wire_name), inside(r.body)), whole};
      });
}

}  // namespace

std::string to_text(const Diagram& diagram, ExprId id) { return printed(diagram, id, {}).text; }
std::string to_short_text(const Diagram& diagram, ExprId id) { return printed(diagram, id, {.brief = true}).text; }

}  // namespace napkin
