// Looks up the names of axes, and reports names that are unknown or loose; see lookup.hpp.
#include "diagram/resolve/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/resolve/elsewhere.hpp"
#include "diagram/resolve/expand.hpp"

namespace napkin {

using ast::ExprKind;

namespace {

std::string listed(const std::vector<ast::Name>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "`" : i + 1 == names.size() ? " and `" : ", `") + names[i].text + "`";
  return text;
}

void collect_names(const ast::Expr& expr, std::set<std::string_view>& names) {
  if (expr.kind == ExprKind::name) names.insert(expr.name.text);
  for (const auto& axis : expr.axes) names.insert(axis.text);
  for (const auto& argument : expr.arguments) collect_names(argument, names);
}

// The axis on the left that the right side never uses, if there is exactly one.
const ast::Name* unused_axis(const ast::Statement& statement) {
  std::set<std::string_view> used;
  collect_names(statement.value, used);
  const ast::Name* found = nullptr;
  for (const auto& axis : statement.axes) {
    if (used.contains(axis.text)) continue;
    if (found != nullptr) return nullptr;
    found = &axis;
  }
  return found;
}

// The left side of a statement with one axis replaced by another, or with an axis added.
std::string left_side(const ast::Statement& statement, const ast::Name* replaced, const std::string& axis) {
  std::string text = statement.name.text + "[";
  for (const auto& name : statement.axes)
    text += (&name == &statement.axes.front() ? "" : ", ") + (&name == replaced ? axis : name.text);
  if (replaced == nullptr) text += (statement.axes.empty() ? "" : ", ") + axis;
  return text + "]";
}

// The edit that makes this change to the left side; none if there is no axis between the brackets.
std::vector<Edit> keeping(const ast::Statement& statement, const ast::Name* replaced, const std::string& axis) {
  if (replaced != nullptr) return {{replaced->span, axis}};
  if (statement.axes.empty()) return {};
  return {{after(statement.axes.back().span), ", " + axis}};
}

// "127", or "its length less 1" if the length is not known.
std::string length_words(const Axis& axis) { return axis.size ? std::to_string(*axis.size - 1) : "its length less 1"; }

// The number of the def's axis that has this name.
std::optional<std::size_t> formal_place(const Frame& frame, std::string_view name) {
  const auto& formal = frame.entry->def->axes;
  const auto found = std::find_if(formal.begin(), formal.end(), [=](const auto& f) { return f.text == name; });
  if (found == formal.end()) return std::nullopt;
  return static_cast<std::size_t>(found - formal.begin());
}

// The axis of the user's own statement that a def received for this axis, possibly through other defs.
const ast::Name& passed_axis(const Frame& frame, std::size_t place) {
  const auto& passed = frame.call->axes[place];
  const Frame* outer = frame.caller->frame;
  return outer == nullptr ? passed : passed_axis(*outer, *formal_place(*outer, passed.text));
}

void fail_loose(Expansion& expansion, const ast::Name& name, const Frame* through, ReadAs as) {
  const auto& statement = *expansion.statement;
  const auto* unused = unused_axis(statement);
  Diagnostic diagnostic{.code = "E0204",
                        .message = fmt::format("axis `{}` is neither kept nor reduced", name.text),
                        .span = name.span,
                        .label = "read here"};
  const auto kept = left_side(statement, unused, name.text);
  if (const auto edits = keeping(statement, unused, name.text); !edits.empty())
    diagnostic.fixes = {{fmt::format("write `{}`", kept), edits}};
  if (unused != nullptr) {
    diagnostic.others.push_back(
        {unused->span, fmt::format("kept here: `{}`, which the right side never uses", unused->text)});
    diagnostic.help = fmt::format("write `{}`, or reduce it: `sum[{}](..)`", kept, name.text);
  } else {
    Span left = statement.name.span;
    if (!statement.axes.empty()) left.end = statement.axes.back().span.end + 1;
    diagnostic.others.push_back({left, statement.axes.empty() ? "nothing is kept" : "kept: " + listed(statement.axes)});
    diagnostic.help = fmt::format("keep it: `{}`, or reduce it: `sum[{}](..)`", kept, name.text);
  }
  if (as == ReadAs::number && through == nullptr) {
    diagnostic.notes.push_back(
        fmt::format("a name alone is the position along the axis, from 0 to {}",
                    length_words(expansion.draft.diagram.at(expansion.names.axes.at(name.text)))));
    diagnostic.help =
        fmt::format("for the length of the axis write `size({})`; for the position, {}", name.text, diagnostic.help);
    diagnostic.fixes.insert(diagnostic.fixes.begin(), write_instead(name.span, fmt::format("size({})", name.text)));
  }
  if (through != nullptr)
    diagnostic.notes.push_back(fmt::format("`{}` keeps what it does not reduce: it has a value for each `{}`",
                                           through->entry->def->name.text, name.text));
  expansion.diagnostics.add(std::move(diagnostic));
}

void fail_unknown(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (expansion.names.broken.contains(name)) return;
  if (const auto array = expansion.names.arrays.find(name); array != expansion.names.arrays.end()) {
    fail(expansion,
         {.code = "E0207",
          .message = fmt::format("array `{}` is read without indices", name),
          .fixes = {write_instead(expr.span,
                                  text_of(expansion.draft.diagram, expansion.draft.diagram.at(array->second.id)))}},
         expr, scope);
  } else if (is_built_in(name) || expansion.names.find_def(name, false) != nullptr) {
    fail(expansion, {.code = "E0208", .message = fmt::format("`{}` is a function and lacks its arguments", name)}, expr,
         scope);
  } else {
    auto diagnostic = unknown_axis(expr.name, expansion.names.axis_names());
    diagnostic.message = fmt::format("unknown name `{}`", name);
    diagnostic.notes = {"a name alone is an axis, read as the position along it"};
    expansion.diagnostics.add(std::move(diagnostic));
  }
}

}  // namespace

std::optional<AxisId> find_axis(Expansion& expansion, const ast::Name& name, const Scope& scope) {
  if (scope.frame != nullptr) {
    if (const auto place = formal_place(*scope.frame, name.text)) return scope.frame->axes[*place];
    return fail_not_given(expansion, name, scope, "axis"), std::nullopt;
  }
  if (const auto found = expansion.names.axes.find(name.text); found != expansion.names.axes.end())
    return found->second;
  if (!expansion.names.broken.contains(name.text))
    expansion.diagnostics.add(unknown_axis(name, expansion.names.axis_names()));
  return std::nullopt;
}

std::optional<Bound> find_bound(Expansion& expansion, const ast::Expr& expr, const Scope& scope, ReadAs as) {
  const auto& name = expr.name;
  if (const auto* found = scope.find(name.text)) return *found;
  const auto place = scope.frame != nullptr ? formal_place(*scope.frame, name.text) : std::nullopt;
  if (scope.frame != nullptr && !place)
    fail_not_given(expansion, name, scope, "name");
  else if (scope.in_call())
    fail_loose(expansion, passed_axis(*scope.frame, *place), scope.frame, as);
  else if (expansion.names.axes.contains(name.text))
    fail_loose(expansion, name, scope.through, as);
  else
    fail_unknown(expansion, expr, scope);
  return std::nullopt;
}

void fail_not_given(Expansion& expansion, const ast::Name& name, const Scope& scope, std::string_view what) {
  const auto& def = *scope.frame->entry->def;
  std::vector<std::string> given;
  for (const auto& known : def.axes) given.push_back(known.text);
  if (what == "name")
    for (const auto& known : def.parameters) given.push_back(known.text);
  const bool is_axis = what == "axis" || expansion.names.axes.contains(name.text);
  const bool of_file = is_axis ? expansion.names.axes.contains(name.text) : expansion.names.arrays.contains(name.text);
  Diagnostic diagnostic{.code = "E0219",
                        .message = fmt::format("def `{}` is not given `{}`", def.name.text, name.text),
                        .span = name.span,
                        .notes = {"a def sees only its own axes and parameters"}};
  if (of_file || !suggest(diagnostic, name.text, given))
    diagnostic.help = is_axis ? fmt::format("add it to the axes of the def: `{}[{}{}](..)`", def.name.text,
                                            def.axes.empty() ? "" : ".., ", name.text)
                              : "add a parameter for it to the def, and pass it in the call";
  expansion.diagnostics.add(std::move(diagnostic));
}

void fail_unknown_call(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (expansion.names.broken.contains(name)) return;
  Diagnostic diagnostic{.code = "E0206",
                        .message = fmt::format("unknown function `{}`", name),
                        .span = expr.name.span,
                        .help = written_instead(name)};
  const bool elsewhere = !diagnostic.help.empty();  // then the help shows the arguments too
  if (!elsewhere) suggest(diagnostic, name, expansion.names.function_names());
  if (const auto array = expansion.names.arrays.find(name); array != expansion.names.arrays.end()) {
    diagnostic.message = fmt::format("array `{}` is called like a function", name);
    diagnostic.help.clear();
    diagnostic.fixes = {
        write_instead(expr.span, text_of(expansion.draft.diagram, expansion.draft.diagram.at(array->second.id)))};
  }
  expansion.diagnostics.add(std::move(diagnostic));
  for (const auto& argument : expr.arguments)
    if (expr.axes.empty() && !elsewhere) expand(expansion, argument, scope);
}

}  // namespace napkin
