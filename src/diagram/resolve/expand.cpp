// Expands expressions. Every name is looked up in the scope of its place (scope.hpp). An error is reported at its place
// in the user's text, and one walk finds all independent errors of a statement.
#include "diagram/resolve/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "diagram/resolve/access.hpp"
#include "diagram/resolve/expand_def.hpp"
#include "diagram/resolve/lookup.hpp"
#include "text/limits.hpp"

namespace napkin {

using ast::ExprKind;

namespace {

Kind wanted(const Pointwise& function, std::size_t argument) {
  if (function.role == Role::logic || (function.role == Role::choose && argument == 0)) return Kind::condition;
  return Kind::number;
}

Kind given(const Pointwise& function) {
  return function.role == Role::logic || function.role == Role::compare ? Kind::condition : Kind::number;
}

std::string_view words(Kind kind) { return kind == Kind::condition ? "a condition" : "a number"; }

// The value of an expression of constants only: an exponent may be written as 1/2.
std::optional<double> constant_value(const Diagram& diagram, ExprId id) {
  const auto& node = diagram.at(id).node;
  if (const auto* constant = std::get_if<Constant>(&node)) return constant->value;
  const auto* apply = std::get_if<Apply>(&node);
  if (apply == nullptr) return std::nullopt;
  std::vector<double> values;
  for (const auto argument : apply->arguments) {
    const auto value = constant_value(diagram, argument);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return apply->function->value(values.data());
}

bool within_limits(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  if (expansion.exhausted) return false;
  const bool large = ++expansion.terms > limits::expanded_terms, deep = expansion.depth >= limits::expanded_nesting;
  if (!large && !deep) return true;
  expansion.exhausted = true;
  if (large)
    fail(expansion,
         {.code = "E0607",
          .message = fmt::format("the expressions of the diagram have more than {} terms", limits::expanded_terms),
          .notes = {"defs are expanded first; a def that uses a parameter several times copies what is passed to it "
                    "each time"},
          .help = "give a part of it a statement of its own"},
         expr, scope);
  else
    fail(expansion,
         {.code = "E0604",
          .message =
              fmt::format("expression nested deeper than {} levels, with its defs expanded", limits::expanded_nesting),
          .help = "give a part of it a statement of its own"},
         expr, scope);
  return false;
}

bool wants(Expansion& expansion, const Expanded& value, Kind kind, const ast::Expr& expr, const Scope& scope) {
  if (value.kind == kind || value.kind == Kind::any || kind == Kind::any) return true;
  Diagnostic diagnostic{.code = "E0215",
                        .message = fmt::format("expected {}, found {}", words(kind), words(value.kind)),
                        .help = "compare it with something, as in `e > 0`"};
  if (kind == Kind::number) {
    diagnostic.help = "write `where(condition, 1, 0)`, or give the array the type `bool`";
    diagnostic.fixes = {
        {"write `where(condition, 1, 0)`", {{before(expr.span), "where("}, {after(expr.span), ", 1, 0)"}}}};
  }
  fail(expansion, std::move(diagnostic), expr, scope);
  return false;
}

// Refuses axes on a pointwise function or a cast, where they have no meaning.
bool no_axes(Expansion& expansion, const ast::Expr& expr) {
  if (expr.axes.empty()) return true;
  Span span = expr.axes.front().span;
  span.end = expr.axes.back().span.end;
  expansion.diagnostics.add({.code = "E0209",
                             .message = fmt::format("`{}` takes no axes: it is no reduction", expr.name.text),
                             .span = span,
                             .help = fmt::format("write `{}(..)`", expr.name.text)});
  return false;
}

std::optional<Expanded> number(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const bool infinite = expr.kind == ExprKind::infinity;
  return add(expansion, Constant{infinite ? std::numeric_limits<double>::infinity() : expr.number}, Kind::number, expr,
             scope);
}

std::optional<Expanded> parameter(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto& frame = *scope.frame;
  if (frame.call == nullptr) return add(expansion, Constant{0}, Kind::any, expr, scope);
  const auto& names = frame.entry->def->parameters;
  const auto at = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.text == expr.name.text; });
  const auto outside = argument_scope(scope);
  const auto value = expand(expansion, frame.call->arguments[static_cast<std::size_t>(at - names.begin())], outside);
  if (value && outside.frame == nullptr) expansion.arguments.push_back(value->id);
  return value;
}

std::optional<Expanded> name(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  if (scope.frame != nullptr)
    for (const auto& parameter_name : scope.frame->entry->def->parameters)
      if (parameter_name.text == expr.name.text) return parameter(expansion, expr, scope);
  const auto found = find_bound(expansion, expr, scope, ReadAs::number);
  if (!found) return std::nullopt;
  return add(expansion, Position{found->use}, Kind::number, expr, scope);
}

std::optional<Expanded> size(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const bool name = expr.axes.empty() && expr.arguments.size() == 1 && expr.arguments[0].kind == ExprKind::name;
  if (!name) {
    fail(expansion, {.code = "E0208", .message = "`size` takes the name of one axis", .help = "write `size(d)`"}, expr,
         scope);
    return std::nullopt;
  }
  const auto id = find_axis(expansion, expr.arguments[0].name, scope);
  if (!id) return std::nullopt;
  return add(expansion, Size{*id}, Kind::number, expr, scope);
}

std::optional<Expanded> cast(Expansion& expansion, const ast::Expr& expr, const Scope& scope, Datatype type) {
  const bool plain = no_axes(expansion, expr);
  const auto values = expand_arguments(expansion, expr, scope, 1);
  if (row(type).of_inputs) refuse_rounding(type, expr.name.span, expansion.diagnostics);
  if (!values || !plain || row(type).of_inputs) return std::nullopt;
  return add(expansion, Cast{type, values->front().id}, kind_of(type), expr, scope);
}

std::optional<Expanded> reduce(Expansion& expansion, const ast::Expr& expr, const Scope& scope,
                               const Reduction& reduction) {
  check_distinct(expr.axes, expansion.diagnostics);
  Scope inner = scope;
  std::vector<WireId> over;
  bool good = true;
  for (const auto& name : expr.axes) {
    const auto id = find_axis(expansion, name, scope);
    good = good && id;
    if (!id) continue;
    over.push_back(expansion.draft.new_use(*id));
    inner.axes[name.text] = {over.back(), *id};
    if (!expansion.draft.bound.empty()) expansion.draft.bound.back().push_back(over.back());
  }
  if (expr.axes.empty()) {
    fail(expansion,
         {.code = "E0209",
          .message = fmt::format("`{}` reduces no axis", reduction.name),
          .help = fmt::format("name the axes to reduce: `{}[x](..)`", reduction.name)},
         expr, scope);
    return std::nullopt;
  }
  const auto values = expand_arguments(expansion, expr, inner, 1);
  if (!values || !good || !wants(expansion, values->front(), Kind::number, expr.arguments[0], inner))
    return std::nullopt;
  return add(expansion, Reduce{&reduction, std::move(over), values->front().id}, Kind::number, expr, scope);
}

std::optional<Expanded> apply(Expansion& expansion, const ast::Expr& expr, const Scope& scope,
                              const Pointwise& function) {
  const bool plain = no_axes(expansion, expr);
  const auto values = expand_arguments(expansion, expr, scope, static_cast<std::size_t>(function.arity));
  if (!values || !plain) return std::nullopt;
  Apply apply{&function, {}};
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (!wants(expansion, (*values)[i], wanted(function, i), expr.arguments[i], scope)) return std::nullopt;
    apply.arguments.push_back((*values)[i].id);
  }
  if (function.role != Role::power) return add(expansion, std::move(apply), given(function), expr, scope);
  const auto exponent = constant_value(expansion.draft.diagram, apply.arguments[1]);
  if (!exponent && values->back().kind != Kind::any) {
    fail(expansion,
         {.code = "E0216",
          .message = "the exponent is not constant",
          .help = "write `exp(b * log(a))` for a varying exponent"},
         expr.arguments[1], scope);
    return std::nullopt;
  }
  apply.arguments[1] = add(expansion, Constant{exponent.value_or(1)}, Kind::number, expr.arguments[1], scope).id;
  return add(expansion, std::move(apply), Kind::number, expr, scope);
}

std::optional<Expanded> negate(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto value = expand(expansion, expr.arguments[0], scope);
  if (!value || !wants(expansion, *value, Kind::number, expr.arguments[0], scope)) return std::nullopt;
  const auto* constant = std::get_if<Constant>(&expansion.draft.diagram.at(value->id).node);
  if (constant != nullptr && value->kind != Kind::any)
    return add(expansion, Constant{-constant->value}, Kind::number, expr, scope);
  return add(expansion, Apply{find_pointwise("neg"), {value->id}}, Kind::number, expr, scope);
}

std::optional<Expanded> call(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  const auto* function = find_pointwise(name);
  const bool callable = function != nullptr && function->callable && function->precedence == 0;
  const auto* reduction = find_reduction(name);
  if (name == "size") return size(expansion, expr, scope);
  if (const auto* type = find_datatype(name)) return cast(expansion, expr, scope, type->type);
  if (reduction != nullptr && (!expr.axes.empty() || !callable)) return reduce(expansion, expr, scope, *reduction);
  if (callable) return apply(expansion, expr, scope, *function);
  const bool in_prelude = scope.frame != nullptr && scope.frame->entry->prelude;
  if (auto* def = expansion.names.find_def(name, in_prelude)) return expand_def(expansion, expr, scope, *def);
  return fail_unknown_call(expansion, expr, scope), std::nullopt;
}

std::optional<Expanded> expand_kind(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  switch (expr.kind) {
    case ExprKind::number:
    case ExprKind::infinity:
      return number(expansion, expr, scope);
    case ExprKind::name:
      return name(expansion, expr, scope);
    case ExprKind::access:
      return expand_access(expansion, expr, scope);
    case ExprKind::call:
      return call(expansion, expr, scope);
    case ExprKind::unary:
      return expr.name.text == "-" ? negate(expansion, expr, scope)
                                   : apply(expansion, expr, scope, *find_pointwise(expr.name.text));
    case ExprKind::binary:
      return apply(expansion, expr, scope, *find_pointwise(expr.name.text));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ExprId> expand_statement(Expansion& expansion, const ast::Statement& statement, ArrayId id) {
  expansion.statement = &statement;
  Scope scope;
  const auto& array = expansion.draft.diagram.at(id);
  for (std::size_t i = 0; i < statement.axes.size(); ++i)
    scope.axes[statement.axes[i].text] = {array.wires[i], expansion.draft.diagram.at(array.wires[i]).axis};
  expansion.draft.bound.emplace_back();
  const auto value = expand(expansion, statement.value, scope);
  if (!value || !wants(expansion, *value, kind_of(array.type), statement.value, scope)) return std::nullopt;
  return value->id;
}

std::optional<Expanded> expand(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  if (!within_limits(expansion, expr, scope)) return std::nullopt;
  ++expansion.depth;
  auto result = expand_kind(expansion, expr, scope);
  --expansion.depth;
  return result;
}

std::optional<std::vector<Expanded>> expand_arguments(Expansion& expansion, const ast::Expr& expr, const Scope& scope,
                                                      std::size_t count) {
  std::vector<Expanded> values;
  for (const auto& argument : expr.arguments)
    if (const auto value = expand(expansion, argument, scope)) values.push_back(*value);
  if (expr.arguments.size() == count) return values.size() == count ? std::optional(values) : std::nullopt;
  const bool meant_reduction = expr.axes.empty() && expr.arguments.size() == 1 && find_reduction(expr.name.text);
  fail(expansion,
       {.code = "E0208",
        .message = fmt::format("`{}` takes {} argument{}, found {}", expr.name.text, count, count == 1 ? "" : "s",
                               expr.arguments.size()),
        .help = meant_reduction ? fmt::format("a reduction names its axes: `{}[x](..)`", expr.name.text) : ""},
       expr, scope);
  return std::nullopt;
}

}  // namespace napkin
