// Expands calls of defs: each call is replaced by the body. A def is also checked once by itself, called or not, so
// that its errors are reported in its own text, and a call adds only errors of its arguments.
#include <fmt/format.h>

#include <utility>

#include "diagram/resolve/expand.hpp"
#include "diagram/resolve/spread.hpp"
#include "syntax/print_expression.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

// The def for a call over this number of axes: the def itself, or a copy spread over several axes.
DefEntry& called_over(std::size_t axes, DefEntry& entry) {
  if (entry.def->axes.size() != 1 || axes < 2) return entry;
  auto& made = entry.over[axes];
  if (made == nullptr)
    if (auto def = spread(*entry.def, axes)) {
      made = std::make_shared<SpreadDef>(SpreadDef{std::move(*def), entry});
      made->entry.def = &made->def;
      made->entry.over.clear();
    }
  return made == nullptr ? entry : made->entry;
}

}  // namespace

Expander::Result Expander::expand_def(const ast::Expr& expr, const Scope& scope, DefEntry& of_name) {
  const bool one = of_name.def->axes.size() == 1;
  if (one && expr.axes.size() > 1 && !check(of_name)) return std::nullopt;
  auto& entry = called_over(expr.axes.size(), of_name);
  const auto& def = *entry.def;
  std::vector<AxisId> axes;
  check_distinct(expr.axes, diagnostics_);
  for (const auto& name : expr.axes)
    if (const auto id = axis(name, scope)) axes.push_back(*id);
  const bool known = axes.size() == expr.axes.size();
  if (expr.axes.size() != def.axes.size()) {
    fail({.code = "E0209",
          .message = fmt::format("`{}` takes {} ax{}s, found {}", def.name.text, def.axes.size(), one ? "i" : "e",
                                 expr.axes.size()),
          .others = {{def.name.span, "defined here"}},
          .notes = one && expr.axes.size() > 1
                       ? std::vector<std::string>{fmt::format("it asks for the position along `{0}`, and over several "
                                                              "axes there is none",
                                                              def.axes[0].text)}
                       : std::vector<std::string>{},
          .help =
              fmt::format("write `{}(..)`", def.name.text + (def.axes.empty() ? "" : print_names(def.axes, '[', ']')))},
         expr, scope);
    return std::nullopt;
  }
  const bool checking = scope.frame != nullptr && !scope.in_call();
  if (!check(entry) || !known) return std::nullopt;
  if (expr.arguments.size() != def.parameters.size() || checking) {
    const auto values = arguments(expr, scope, def.parameters.size());
    return values ? add(Constant{0}, entry.kind, expr, scope) : std::nullopt;
  }
  return body(expr, scope, entry, std::move(axes));
}

Expander::Result Expander::body(const ast::Expr& expr, const Scope& scope, const DefEntry& entry,
                                std::vector<AxisId> axes) {
  const Frame frame{&entry, std::move(axes), &expr, &scope, scope.frame != nullptr ? scope.frame->origin : expr.span};
  Scope inner;
  inner.frame = &frame;
  for (std::size_t i = 0; i < expr.axes.size(); ++i)
    if (const auto* outer = scope.find(expr.axes[i].text)) inner.axes[entry.def->axes[i].text] = *outer;
  if (scope.frame != nullptr) return expand(entry.def->value, inner);
  auto outer = std::exchange(arguments_, {});
  auto result = expand(entry.def->value, inner);
  outer.swap(arguments_);
  if (result) draft_.diagram.calls.push_back({entry.def->name.text, expr.span, result->id, std::move(outer)});
  return result;
}

bool Expander::check(DefEntry& entry) {
  const auto& name = entry.def->name;
  if (entry.state == DefState::checking) {
    diagnostics_.add({.code = "E0217",
                      .message = fmt::format("def `{}` calls itself", name.text),
                      .span = name.span,
                      .notes = {"defs are expanded where they are called, so they cannot recurse"}});
    return false;
  }
  if (entry.state != DefState::unchecked) return entry.state == DefState::good;
  if (checks_ < limits::def_depth) return check_body(entry);
  diagnostics_.add({.code = "E0604",
                    .message = fmt::format("defs call each other more than {} levels deep", limits::def_depth),
                    .span = name.span});
  entry.state = DefState::bad;
  return false;
}

// Expands the body once only to check it, with axes and parameters of which only the names are known.
bool Expander::check_body(DefEntry& entry) {
  entry.state = DefState::checking;
  const auto before = diagnostics_.size();
  check_distinct(entry.def->axes, diagnostics_);
  check_distinct(entry.def->parameters, diagnostics_);
  Draft scratch;
  Frame frame{&entry, {}, nullptr, nullptr, {}};
  Scope scope;
  scope.frame = &frame;
  for (const auto& name : entry.def->axes) {
    const AxisId id{static_cast<std::uint32_t>(scratch.diagram.axes.size())};
    scratch.diagram.axes.push_back({name.text, std::nullopt, name.span});
    frame.axes.push_back(id);
    scope.axes[name.text] = {scratch.new_use(id), id};
  }
  Expander expander(scratch, names_, diagnostics_);
  expander.checks_ = checks_ + 1;
  const auto value = expander.expand(entry.def->value, scope);
  if (value) entry.kind = value->kind;
  entry.state = value && diagnostics_.size() == before ? DefState::good : DefState::bad;
  return entry.state == DefState::good;
}

}  // namespace napkin
