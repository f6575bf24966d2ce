// Reads comparisons of linear forms of positions from expressions, and writes them as expressions.
#include "derive/algebra/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "diagram/match.hpp"

namespace napkin {
namespace {

// A linear form of positions and sizes, over a divisor, so that quotients of positions are compared exactly.
struct Form {
  std::map<WireId, double> terms{};
  double offset = 0, constant = 0;  // the constant part, with and without the present sizes
  std::map<AxisId, double> sizes{};
  double divisor = 1;

  void scale(double factor) {
    for (auto& term : terms) term.second *= factor;
    for (auto& size : sizes) size.second *= factor;
    offset *= factor;
    constant *= factor;
  }
  void divide(double by) {
    divisor *= std::abs(by);
    if (by < 0) scale(-1);
  }
  void add(const Form& other, double factor) {
    if (divisor != other.divisor) {
      factor *= divisor;
      scale(other.divisor);
      divisor *= other.divisor;
    }
    for (const auto& [wire, coefficient] : other.terms) terms[wire] += factor * coefficient;
    for (const auto& [axis, coefficient] : other.sizes) sizes[axis] += factor * coefficient;
    offset += factor * other.offset;
    constant += factor * other.constant;
  }
  bool is_constant() const { return terms.empty() && sizes.empty(); }
};

std::optional<Form> linear(const Diagram& diagram, ExprId id);

std::optional<Form> product(Form form, const Form& number) {
  form.scale(number.offset);
  form.divide(number.divisor);
  return form;
}
std::optional<Form> quotient(Form form, const Form& number) {
  if (!number.is_constant() || number.offset == 0) return std::nullopt;
  form.scale(number.divisor);
  form.divide(number.offset);
  return form;
}

std::optional<Form> linear(const Diagram& diagram, const Apply& apply) {
  std::vector<Form> arguments;
  for (const auto argument : apply.arguments) {
    auto form = linear(diagram, argument);
    if (!form) return std::nullopt;
    arguments.push_back(std::move(*form));
  }
  switch (apply.function->role) {
    case Role::add:
      return arguments[0].add(arguments[1], 1), arguments[0];
    case Role::subtract:
      return arguments[0].add(arguments[1], -1), arguments[0];
    case Role::negate:
      return arguments[0].scale(-1), arguments[0];
    case Role::multiply:
      if (arguments[0].is_constant()) return product(arguments[1], arguments[0]);
      return arguments[1].is_constant() ? product(arguments[0], arguments[1]) : std::nullopt;
    case Role::divide:
      return quotient(arguments[0], arguments[1]);
    default:
      return std::nullopt;
  }
}

std::optional<Form> linear(const Diagram& diagram, ExprId id) {
  const auto number = [](double value) {
    return std::isfinite(value) ? std::optional(Form{.offset = value, .constant = value}) : std::nullopt;
  };
  return match(
      diagram.at(id).node, [&](const Constant& c) { return number(c.value); },
      [](const Position& p) {
        return std::optional(Form{.terms = {{p.wire, 1}}});
      },
      [&](const Size& s) {
        const auto size = static_cast<double>(diagram.at(s.axis).size.value_or(1));
        return std::optional(Form{.offset = size, .sizes = {{s.axis, 1}}});
      },
      [](const Access&) { return std::optional<Form>(); }, [&](const Apply& a) { return linear(diagram, a); },
      [](const Cast&) { return std::optional<Form>(); }, [](const Reduce&) { return std::optional<Form>(); });
}

}  // namespace

std::optional<Condition> condition(const Diagram& diagram, ExprId comparison) {
  const auto* apply = std::get_if<Apply>(&diagram.at(comparison).node);
  if (!apply || apply->function->role != Role::compare) return std::nullopt;
  const auto left = linear(diagram, apply->arguments[0]), right = linear(diagram, apply->arguments[1]);
  if (!left || !right) return std::nullopt;
  Form form = *left;
  form.add(*right, -1);
  const auto holds = [&](double a, double b) {
    const double both[] = {a, b};
    return apply->function->value(both) != 0;
  };
  Condition result{{}, form.offset, form.constant, {}, holds(0, 1), holds(0, 0), holds(1, 0)};
  std::ranges::copy_if(form.terms, std::back_inserter(result.terms), [](const auto& term) { return term.second != 0; });
  std::ranges::copy_if(form.sizes, std::back_inserter(result.sizes), [](const auto& term) { return term.second != 0; });
  return result.terms.empty() ? std::nullopt : std::optional(std::move(result));
}

namespace {

// One side of a comparison: `q - 256`.
struct Side {
  std::string text;
  void add(double factor, const std::string& what) {
    const double size = std::abs(factor);
    const auto term = what.empty() ? fmt::format("{}", size) : size == 1 ? what : fmt::format("{} * {}", size, what);
    text += text.empty() ? (factor < 0 ? "-" : "") + term : (factor < 0 ? " - " : " + ") + term;
  }
};

}  // namespace

std::string to_text(const Condition& condition, std::string_view sign, const ConditionWords& words) {
  Side left, right;
  for (const auto& [wire, factor] : condition.terms)
    factor > 0 ? left.add(factor, words.wire(wire, true)) : right.add(-factor, words.wire(wire, false));
  auto& rest = left.text.empty() ? left : right;
  const double factor_here = left.text.empty() ? 1 : -1;
  for (const auto& [axis, factor] : condition.sizes) rest.add(factor_here * factor, words.size(axis));
  if (condition.constant != 0 || rest.text.empty()) rest.add(factor_here * condition.constant, "");
  return fmt::format("{} {} {}", left.text, sign, right.text);
}

std::string_view sign(const Condition& condition) {
  const auto [below, at, above] = std::tuple(condition.below, condition.at, condition.above);
  return below && above ? "!=" : below ? (at ? "<=" : "<") : above ? (at ? ">=" : ">") : "==";
}

std::string to_text(const Diagram& diagram, const Condition& condition) {
  return to_text(condition, sign(condition),
                 {[&](WireId wire, bool) { return diagram.at(wire).name; },
                  [&](AxisId axis) { return fmt::format("size({})", diagram.at(axis).name); }});
}

}  // namespace napkin
