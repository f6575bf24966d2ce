// Looks up the axis and array names of an expression, and reports unknown names.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/affine.hpp"
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

}  // namespace

std::optional<AxisId> Expander::axis(const ast::Name& name, const Scope& scope) {
  if (scope.frame != nullptr) {
    if (const auto place = formal_place(*scope.frame, name.text)) return scope.frame->axes[*place];
    return fail_not_given(name, scope, "axis"), std::nullopt;
  }
  if (const auto found = names_.axes.find(name.text); found != names_.axes.end()) return found->second;
  if (!names_.broken.contains(name.text)) diagnostics_.add(unknown_axis(name, names_.axis_names()));
  return std::nullopt;
}

std::optional<Bound> Expander::bound(const ast::Expr& expr, const Scope& scope, ReadAs as) {
  const auto& name = expr.name;
  if (const auto* found = scope.find(name.text)) return *found;
  const auto place = scope.frame != nullptr ? formal_place(*scope.frame, name.text) : std::nullopt;
  if (scope.frame != nullptr && !place)
    fail_not_given(name, scope, "name");
  else if (scope.in_call())
    fail_loose(passed_axis(*scope.frame, *place), scope.frame, as);
  else if (names_.axes.contains(name.text))
    fail_loose(name, scope.through, as);
  else
    fail_unknown(expr, scope);
  return std::nullopt;
}

// A def can use only its own axes and parameters, and nothing else of the file.
void Expander::fail_not_given(const ast::Name& name, const Scope& scope, std::string_view what) {
  const auto& def = *scope.frame->entry->def;
  std::vector<std::string> given;
  for (const auto& known : def.axes) given.push_back(known.text);
  if (what == "name")
    for (const auto& known : def.parameters) given.push_back(known.text);
  const bool is_axis = what == "axis" || names_.axes.contains(name.text);
  const bool of_file = is_axis ? names_.axes.contains(name.text) : names_.arrays.contains(name.text);
  Diagnostic diagnostic{.code = "E0219",
                        .message = fmt::format("def `{}` is not given `{}`", def.name.text, name.text),
                        .span = name.span,
                        .notes = {"a def sees only its own axes and parameters"}};
  if (of_file || !suggest(diagnostic, name.text, given))
    diagnostic.help = is_axis ? fmt::format("add it to the axes of the def: `{}[{}{}](..)`", def.name.text,
                                            def.axes.empty() ? "" : ".., ", name.text)
                              : "add a parameter for it to the def, and pass it in the call";
  diagnostics_.add(std::move(diagnostic));
}

void Expander::fail_loose(const ast::Name& name, const Frame* through, ReadAs as) {
  const auto& statement = *statement_;
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
    diagnostic.notes.push_back(fmt::format("a name alone is the position along the axis, from 0 to {}",
                                           length_words(draft_.diagram.at(names_.axes.at(name.text)))));
    diagnostic.help =
        fmt::format("for the length of the axis write `size({})`; for the position, {}", name.text, diagnostic.help);
    diagnostic.fixes.insert(diagnostic.fixes.begin(), write_instead(name.span, fmt::format("size({})", name.text)));
  }
  if (through != nullptr)
    diagnostic.notes.push_back(fmt::format("`{}` keeps what it does not reduce: it has a value for each `{}`",
                                           through->entry->def->name.text, name.text));
  diagnostics_.add(std::move(diagnostic));
}

Expander::Result Expander::fail_unknown(const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (names_.broken.contains(name)) return std::nullopt;
  if (const auto array = names_.arrays.find(name); array != names_.arrays.end()) {
    fail({.code = "E0207",
          .message = fmt::format("array `{}` is read without indices", name),
          .fixes = {write_instead(expr.span, text_of(draft_.diagram, draft_.diagram.at(array->second.id)))}},
         expr, scope);
  } else if (is_built_in(name) || names_.find_def(name, false) != nullptr) {
    fail({.code = "E0208", .message = fmt::format("`{}` is a function and lacks its arguments", name)}, expr, scope);
  } else {
    auto diagnostic = unknown_axis(expr.name, names_.axis_names());
    diagnostic.message = fmt::format("unknown name `{}`", name);
    diagnostic.notes = {"a name alone is an axis, read as the position along it"};
    diagnostics_.add(std::move(diagnostic));
  }
  return std::nullopt;
}

Expander::Result Expander::fail_unknown_call(const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (names_.broken.contains(name)) return std::nullopt;
  Diagnostic diagnostic{.code = "E0206",
                        .message = fmt::format("unknown function `{}`", name),
                        .span = expr.name.span,
                        .help = written_instead(name)};
  const bool elsewhere = !diagnostic.help.empty();  // then the help shows the arguments too
  if (!elsewhere) suggest(diagnostic, name, names_.function_names());
  if (const auto array = names_.arrays.find(name); array != names_.arrays.end()) {
    diagnostic.message = fmt::format("array `{}` is called like a function", name);
    diagnostic.help.clear();
    diagnostic.fixes = {write_instead(expr.span, text_of(draft_.diagram, draft_.diagram.at(array->second.id)))};
  }
  diagnostics_.add(std::move(diagnostic));
  for (const auto& argument : expr.arguments)
    if (expr.axes.empty() && !elsewhere) expand(argument, scope);
  return std::nullopt;
}

Expander::Result Expander::access(const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (scope.frame != nullptr) {
    const auto& parameters = scope.frame->entry->def->parameters;
    const bool parameter =
        std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.text == name; });
    if (parameter)
      fail({.code = "E0207",
            .message = fmt::format("parameter `{}` takes no indices", name),
            .notes = {"a parameter stands for a whole expression, its axes and all"},
            .fixes = {write_instead(expr.span, name)}},
           expr, scope);
    else
      fail_not_given(expr.name, scope, "name");
    return std::nullopt;
  }
  if (names_.broken.contains(name)) return std::nullopt;
  if (const auto array = names_.arrays.find(name); array != names_.arrays.end())
    return read(expr, scope, array->second);
  if (is_built_in(name) || names_.find_def(name, false) != nullptr)
    fail({.code = "E0208",
          .message = fmt::format("`{}` is a function and lacks its arguments", name),
          .help = fmt::format("write `{}[..](..)`", name)},
         expr, scope);
  else if (names_.axes.contains(name))
    fail({.code = "E0203",
          .message = fmt::format("`{}` is an axis and takes no indices", name),
          .help = fmt::format("the position along it is `{}`", name),
          .fixes = {write_instead(expr.span, name)}},
         expr, scope);
  else
    diagnostics_.add(
        with_suggestion({.code = "E0203", .message = fmt::format("unknown array `{}`", name), .span = expr.name.span},
                        name, names_.array_names(), "arrays"));
  return std::nullopt;
}

// Checks that every index stays in bounds. If the axes are only in another order, that is reported as the one error.
void Expander::check_indices(const ast::Expr& expr, const Array& array,
                             const std::vector<std::optional<Index>>& indices) {
  Diagnostics found;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i]) check_bounds(draft_.diagram, array, i, *indices[i], expr.arguments[i], found);
  std::vector<Index> all;
  for (const auto& index : indices)
    if (index) all.push_back(*index);
  if (found.size() > 0 && all.size() == indices.size() && exchanged(draft_.diagram, array, all)) {
    diagnostics_.add({.code = "E0212",
                      .message = fmt::format("array `{}` is read with its axes in another order", array.name),
                      .span = expr.span,
                      .others = {{array.span, fmt::format("declared as `{}`", text_of(draft_.diagram, array))}},
                      .fixes = {write_instead(expr.span, text_of(draft_.diagram, array))}});
    return;
  }
  for (auto& problem : found.sorted()) diagnostics_.add(std::move(problem));
}

Expander::Result Expander::read(const ast::Expr& expr, const Scope& scope, const ArrayEntry& entry) {
  const auto& array = draft_.diagram.at(entry.id);
  if (!entry.ready) {
    const bool itself = array.name == statement_->name.text;
    std::vector<std::string> notes;
    if (itself)
      notes.emplace_back("a value computed from its own earlier values is a recurrence, and no statement is one");
    diagnostics_.add({.code = "E0213",
                      .message = fmt::format("array `{}` is read {}", array.name,
                                             itself ? "by the statement that produces it" : "before it is produced"),
                      .span = expr.name.span,
                      .others = {{array.span, "produced here"}},
                      .notes = std::move(notes),
                      .help = itself ? "give the result a name of its own" : "move its statement up"});
  }
  if (entry.bad) return std::nullopt;
  if (expr.arguments.size() != array.wires.size()) {
    diagnostics_.add({.code = "E0207",
                      .message = fmt::format("array `{}` has {} ax{}s, found {}", array.name, array.wires.size(),
                                             array.wires.size() == 1 ? "i" : "e", expr.arguments.size()),
                      .span = expr.span,
                      .others = {{array.span, fmt::format("declared as `{}`", text_of(draft_.diagram, array))}}});
    return std::nullopt;
  }
  AffineReader reader(
      draft_.diagram, names_, [&](const ast::Expr& name) { return bound(name, scope, ReadAs::index); }, diagnostics_);
  Access access{entry.id, {}};
  std::vector<std::optional<Index>> indices;
  for (const auto& argument : expr.arguments) indices.push_back(reader.read(argument));
  check_indices(expr, array, indices);
  for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
    auto& index = indices[i];
    if (!index) continue;
    if (const auto use = plain_wire(*index);
        use && draft_.diagram.at(*use).axis == draft_.diagram.at(array.wires[i]).axis)
      draft_.meetings.emplace_back(*use, array.wires[i]);
    access.at.push_back(std::move(*index));
  }
  if (access.at.size() != expr.arguments.size() || !entry.ready) return std::nullopt;
  draft_.assumed.insert(reader.sizes().begin(), reader.sizes().end());
  return add(std::move(access), kind_of(array.type), expr, scope);
}

}  // namespace napkin
