// Prints expressions of a diagram as code, with the texts of the function table. Positions and sizes stay integers
// while they only meet integers.
#include "emit/shared/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "derive/algebra/conditions.hpp"
#include "diagram/assume.hpp"
#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

constexpr double greatest_int = 2147483647;

bool whole(double value) { return std::abs(value) <= greatest_int && value == std::floor(value); }

// Functions whose C++ text is an operator that works directly on integers and booleans.
bool gives_condition(const Pointwise& f) { return f.role == Role::compare || f.role == Role::logic; }
bool keeps_integers(const Pointwise& f) {
  return f.role == Role::add || f.role == Role::subtract || f.role == Role::multiply || f.role == Role::negate;
}

// Whether an expression is an int: an array of whole numbers, or sums and products of positions, sizes and whole
// constants.
bool is_integer(const Diagram& diagram, const std::vector<ArrayId>& inputs, ExprId id) {
  const auto& node = diagram.at(id).node;
  if (const auto* constant = std::get_if<Constant>(&node)) return whole(constant->value);
  if (const auto* apply = std::get_if<Apply>(&node))
    return keeps_integers(*apply->function) &&
           std::ranges::all_of(apply->arguments, [&](ExprId each) { return is_integer(diagram, {}, each); });
  const auto* access = std::get_if<Access>(&node);
  if (!access) return std::holds_alternative<Position>(node) || std::holds_alternative<Size>(node);
  const auto type = diagram.at(access->array).type;
  return (type == Datatype::i8 || type == Datatype::i32) && contains(inputs, access->array);
}

// A position as a term of a condition; its product may exceed an int.
std::string factor_of(const Condition& condition, WireId wire, const std::string& position) {
  const auto term = std::ranges::find(condition.terms, wire, [](const auto& each) { return each.first; });
  return std::abs(term->second) == 1 ? position : "(long long)" + position;
}

bool divides(const Diagram& diagram, ExprId id) {
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  return apply && (apply->function->role == Role::divide ||
                   std::ranges::any_of(apply->arguments, [&](ExprId each) { return divides(diagram, each); }));
}
// A comparison of quotients of positions as one of whole multiples of positions, if possible, because integers compare
// it exactly.
std::optional<Condition> compared_quotients(const Diagram& diagram, ExprId id) {
  auto found = divides(diagram, id) ? condition(diagram, id) : std::nullopt;
  const auto is_whole = [](const auto& term) { return whole(term.second); };
  const bool exact = found && whole(found->constant) && std::ranges::all_of(found->terms, is_whole) &&
                     std::ranges::all_of(found->sizes, is_whole);
  return exact ? found : std::nullopt;
}

// Whether a product is `length * part`, where a part of a divided axis begins.
bool begins_part(const Diagram& diagram, const Apply& product) {
  const auto parts = divided_axes(diagram);
  const auto begins = [&](ExprId length, ExprId position) {
    const auto* number = std::get_if<Constant>(&diagram.at(length).node);
    const auto* along = std::get_if<Position>(&diagram.at(position).node);
    return number && along && std::ranges::any_of(parts, [&](const Parts& each) {
             const auto size = diagram.at(each.inside).size;
             return each.part == diagram.at(along->wire).axis && size && static_cast<double>(*size) == number->value;
           });
  };
  return begins(product.arguments[0], product.arguments[1]) || begins(product.arguments[1], product.arguments[0]);
}

class Printer {
 public:
  Printer(const Diagram& diagram, const Surroundings& around) : diagram_(diagram), around_(around) {}

  Typed run(ExprId id) {
    if (around_.local) count(id);
    return printed(id);
  }

 private:
  void count(ExprId id) {
    const auto& node = diagram_.at(id).node;
    if (std::holds_alternative<Reduce>(node) || (std::holds_alternative<Apply>(node) && ++uses_[id] > 1)) return;
    each_operand(diagram_, id, [&](ExprId operand) { count(operand); });
  }

  Typed printed(ExprId id) {
    if (const auto known = locals_.find(id); known != locals_.end()) return known->second;
    auto result = fresh(id);
    if (uses_[id] > 1 && result.kind == NumberKind::real) {
      result.text = around_.local(without_brackets(result.text));
      locals_[id] = result;
    }
    return result;
  }

  Typed fresh(ExprId id) {
    return match(
        diagram_.at(id).node,
        [&](const Constant& c) {
          return Typed{code_number(c.value, around_.wide), NumberKind::real};
        },
        [&](const Position& p) {
          return Typed{around_.position(p.wire), NumberKind::integer};
        },
        [&](const Size& s) {
          return Typed{around_.size(s.axis), NumberKind::integer};
        },
        [&](const Access& a) { return read(a, id); },
        [&](const Apply& a) {
          if (compares_integers(diagram_, around_.inputs, id)) return compared(a);
          const auto quotients = compared_quotients(diagram_, id);
          return quotients ? compared(*quotients) : applied(a);
        },
        [&](const Cast& c) { return cast(c); },
        [&](const Reduce&) {
          return Typed{around_.reduction(id), NumberKind::real};
        });
  }

  // In double, the product of two f32 numbers must be computed in double too.
  Typed read(const Access& access, ExprId id) {
    auto typed = around_.read(id);
    if (around_.wide && typed.kind == NumberKind::real && !is_wide(diagram_.at(access.array).type))
      typed.text = fmt::format("double({})", without_brackets(typed.text));
    return typed;
  }

  Typed cast(const Cast& c) {
    const auto text = without_brackets(real(printed(c.value)));
    const auto rounded = filled(code_type(around_.language, c.type).round, text);
    return {c.type == Datatype::f32 && around_.wide ? fmt::format("float({})", text) : rounded, NumberKind::real};
  }

  std::string number() const { return around_.wide ? "double" : "float"; }
  std::string real(const Typed& value) const {
    if (value.kind == NumberKind::real) return value.text;
    return fmt::format("{}({})", number(), without_brackets(value.text));
  }

  Typed applied(const Apply& apply) {
    const auto& f = *apply.function;
    std::vector<Typed> arguments;
    for (const auto argument : apply.arguments) arguments.push_back(printed(argument));
    if (f.role == Role::choose) return chosen(arguments);
    const bool integers = (keeps_integers(f) || gives_condition(f)) && make_integers(apply, arguments);
    std::vector<std::string> texts;
    for (const auto& argument : arguments)
      texts.push_back(integers || (f.role == Role::logic && argument.kind == NumberKind::boolean) ? argument.text
                                                                                                  : real(argument));
    if (integers && f.role == Role::multiply && !begins_part(diagram_, apply)) texts[0] = "(long long)" + texts[0];
    const bool fast = around_.fast && !around_.wide && !integers;
    const auto code = fast && !f.fast.empty() ? f.fast : code_of(around_.language, f);
    // Brackets prevent `--` when a sign precedes a negative number.
    if (code.find("-{0}") != std::string_view::npos && texts[0].starts_with('-')) texts[0] = "(" + texts[0] + ")";
    const auto kind = gives_condition(f) ? NumberKind::boolean : integers ? NumberKind::integer : NumberKind::real;
    if (texts.size() == 1) return {filled(code, texts[0]), kind};
    if (const auto exponent = fast && f.role == Role::power ? small_power(diagram_, apply) : 0)
      return {fmt::format("napkin_whole_power<{}>({})", exponent, without_brackets(texts[0])), kind};
    return {fmt::format(fmt::runtime(code), texts[0], texts[1]), kind};
  }

  Typed compared(const Apply& apply) {
    const auto text = [&](ExprId id) {
      const auto& node = diagram_.at(id).node;
      if (std::holds_alternative<Access>(node)) return around_.stored(id);
      const auto* constant = std::get_if<Constant>(&node);
      return constant ? fmt::format("{}", static_cast<long long>(constant->value)) : printed(id).text;
    };
    const auto code = code_of(around_.language, *apply.function);
    const auto left = text(apply.arguments[0]), right = text(apply.arguments[1]);
    return {fmt::format(fmt::runtime(code), left, right), NumberKind::boolean};
  }

  Typed compared(const Condition& quotients) const {
    const ConditionWords words{[&](WireId wire, bool) { return factor_of(quotients, wire, around_.position(wire)); },
                               around_.size};
    return {fmt::format("({})", to_text(quotients, sign(quotients), words)), NumberKind::boolean};
  }

  // Whether all arguments can be integers. If so, whole constants become integers.
  bool make_integers(const Apply& apply, std::vector<Typed>& arguments) const {
    std::vector<Typed> as_integers = arguments;
    bool any = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* constant = std::get_if<Constant>(&diagram_.at(apply.arguments[i]).node);
      if (constant && whole(constant->value))
        as_integers[i] = {fmt::format("{}", static_cast<long long>(constant->value)), NumberKind::integer};
      else if (arguments[i].kind == NumberKind::real)
        return false;
      any |= arguments[i].kind == NumberKind::integer;
    }
    if (any) arguments = std::move(as_integers);
    return any;
  }

  Typed chosen(const std::vector<Typed>& arguments) const {
    const auto& [condition, yes, no] = std::tie(arguments[0], arguments[1], arguments[2]);
    const auto test = condition.kind == NumberKind::boolean ? condition.text : fmt::format("({} != 0)", condition.text);
    return {fmt::format("({} ? {} : {})", test, real(yes), real(no)), NumberKind::real};
  }

  const Diagram& diagram_;
  const Surroundings& around_;
  std::map<ExprId, int> uses_;
  std::map<ExprId, Typed> locals_;
};

bool is_simple(const std::string& text) { return text.find(' ') == std::string::npos; }

}  // namespace

bool compares_integers(const Diagram& diagram, const std::vector<ArrayId>& inputs, ExprId id) {
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  return apply && apply->function->role == Role::compare &&
         std::ranges::all_of(apply->arguments, [&](ExprId each) { return is_integer(diagram, inputs, each); });
}

Typed code_expression(const Diagram& diagram, ExprId id, const Surroundings& around) {
  return Printer(diagram, around).run(id);
}

std::string code_value(const Diagram& diagram, const CodeNames& names, ExprId id, Surroundings around, Lines& out,
                       Identifiers& pool) {
  const auto type = around.wide ? "double" : "float";
  around.size = [&](AxisId axis) { return names.size(axis); };
  around.local = [&](const std::string& text) {
    auto name = pool.fresh("t");
    out.line("const {} {} = {};", type, name, text);
    return name;
  };
  const auto typed = code_expression(diagram, id, around);
  return typed.kind == NumberKind::real ? typed.text : fmt::format("{}({})", type, without_brackets(typed.text));
}

std::string code_index(const Index& index, const std::function<std::string(WireId)>& position) {
  std::string text;
  bool negative = index.offset < 0;
  const auto add = [&](std::int64_t number, const std::string& name) {
    negative |= number < 0;
    const auto size = std::abs(number);
    text += text.empty() ? (number < 0 ? "-" : "") : (number < 0 ? " - " : " + ");
    text += name.empty() ? fmt::format("{}", size) : size == 1 ? name : fmt::format("{} * {}", size, name);
  };
  for (const auto& [wire, coefficient] : index.terms) {
    const auto name = position(wire);
    add(coefficient, is_simple(name) ? name : "(" + name + ")");
  }
  if (index.offset != 0 || text.empty()) add(index.offset, "");
  if (index.divisor == 1) return text;
  if (negative) return fmt::format("napkin_floor_divide({}, {})", text, index.divisor);
  return is_simple(text) ? fmt::format("{} / {}", text, index.divisor) : fmt::format("({}) / {}", text, index.divisor);
}

std::string code_end(const Index& index, bool greatest, const std::function<std::string(WireId, bool last)>& end) {
  const std::map<WireId, std::int64_t> sign(index.terms.begin(), index.terms.end());
  return code_index(index, [&](WireId wire) { return end(wire, (sign.at(wire) > 0) == greatest); });
}

std::string code_offset(const std::vector<std::string>& at, const std::vector<std::string>& sizes) {
  std::string text = "0";
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto place = is_simple(at[i]) ? at[i] : "(" + at[i] + ")";
    if (i == 0)
      text = at.size() == 1 ? at[i] : "(long long)" + place;
    else
      text = fmt::format("{} * {} + {}", is_simple(text) || i == 1 ? text : "(" + text + ")", sizes[i], at[i]);
  }
  return text;
}

std::string code_possible(const Condition& condition, const CodeNames& names,
                          const std::function<std::string(WireId, bool last)>& end) {
  const auto compared = [&](const char* sign, bool least) {
    return to_text(condition, sign,
                   {[&](WireId wire, bool left) { return factor_of(condition, wire, end(wire, left != least)); },
                    [&](AxisId axis) { return names.size(axis); }});
  };
  const auto low = compared(condition.at ? "<=" : "<", true), high = compared(condition.at ? ">=" : ">", false);
  if (condition.below != condition.above) return condition.below ? low : high;
  return fmt::format("{} {} {}", low, condition.at ? "&&" : "||", high);
}

std::string code_certain(const Condition& condition, const CodeNames& names,
                         const std::function<std::string(WireId, bool last)>& end) {
  return fmt::format("!({})", code_possible(condition.negated(), names, end));
}

std::string code_number(double value, bool wide) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value) || (!wide && std::abs(value) > FLT_MAX)) return value < 0 ? "-INFINITY" : "INFINITY";
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return wide ? text : text + "f";
}

}  // namespace napkin
