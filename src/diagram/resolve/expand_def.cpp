// Expands calls of defs; see expand_def.hpp.
#include "diagram/resolve/expand_def.hpp"

#include <fmt/format.h>

#include <utility>

#include "diagram/resolve/expand.hpp"
#include "diagram/resolve/lookup.hpp"
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

std::optional<Expanded> body(Expansion& expansion, const ast::Expr& expr, const Scope& scope, const DefEntry& entry,
                             std::vector<AxisId> axes) {
  const Frame frame{&entry, std::move(axes), &expr, &scope, scope.frame != nullptr ? scope.frame->origin : expr.span};
  Scope inner;
  inner.frame = &frame;
  for (std::size_t i = 0; i < expr.axes.size(); ++i)
    if (const auto* outer = scope.find(expr.axes[i].text)) inner.axes[entry.def->axes[i].text] = *outer;
  if (scope.frame != nullptr) return expand(expansion, entry.def->value, inner);
  auto outer = std::exchange(expansion.arguments, {});
  auto result = expand(expansion, entry.def->value, inner);
  outer.swap(expansion.arguments);
  if (result) expansion.draft.diagram.calls.push_back({entry.def->name.text, expr.span, result->id, std::move(outer)});
  return result;
}

// Expands the body once only to check it, with axes and parameters of which only the names are known.
bool check_body(Expansion& expansion, DefEntry& entry) {
  entry.state = DefState::checking;
  const auto before = expansion.diagnostics.size();
  check_distinct(entry.def->axes, expansion.diagnostics);
  check_distinct(entry.def->parameters, expansion.diagnostics);
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
  Expansion inside{scratch, expansion.names, expansion.diagnostics};
  inside.checks = expansion.checks + 1;
  const auto value = expand(inside, entry.def->value, scope);
  if (value) entry.kind = value->kind;
  entry.state = value && expansion.diagnostics.size() == before ? DefState::good : DefState::bad;
  return entry.state == DefState::good;
}

}  // namespace

std::optional<Expanded> expand_def(Expansion& expansion, const ast::Expr& expr, const Scope& scope, DefEntry& of_name) {
  const bool one = of_name.def->axes.size() == 1;
  if (one && expr.axes.size() > 1 && !check_def(expansion, of_name)) return std::nullopt;
  auto& entry = called_over(expr.axes.size(), of_name);
  const auto& def = *entry.def;
  std::vector<AxisId> axes;
  check_distinct(expr.axes, expansion.diagnostics);
  for (const auto& name : expr.axes)
    if (const auto id = find_axis(expansion, name, scope)) axes.push_back(*id);
  const bool known = axes.size() == expr.axes.size();
  if (expr.axes.size() != def.axes.size()) {
    fail(expansion,
         {.code = "E0209",
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
  if (!check_def(expansion, entry) || !known) return std::nullopt;
  if (expr.arguments.size() != def.parameters.size() || checking) {
    const auto values = expand_arguments(expansion, expr, scope, def.parameters.size());
    return values ? std::optional(add(expansion, Constant{0}, entry.kind, expr, scope)) : std::nullopt;
  }
  return body(expansion, expr, scope, entry, std::move(axes));
}

bool check_def(Expansion& expansion, DefEntry& entry) {
  const auto& name = entry.def->name;
  if (entry.state == DefState::checking) {
    expansion.diagnostics.add({.code = "E0217",
                               .message = fmt::format("def `{}` calls itself", name.text),
                               .span = name.span,
                               .notes = {"defs are expanded where they are called, so they cannot recurse"}});
    return false;
  }
  if (entry.state != DefState::unchecked) return entry.state == DefState::good;
  if (expansion.checks < limits::def_depth) return check_body(expansion, entry);
  expansion.diagnostics.add({.code = "E0604",
                             .message = fmt::format("defs call each other more than {} levels deep", limits::def_depth),
                             .span = name.span});
  entry.state = DefState::bad;
  return false;
}

}  // namespace napkin
