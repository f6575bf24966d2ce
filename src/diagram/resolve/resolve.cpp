// Resolves a file to its diagram: first names, then the statements one by one into a draft; at last, connected uses
// become wires.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/assume.hpp"
#include "diagram/resolve/draft.hpp"
#include "diagram/resolve/expand.hpp"
#include "diagram/resolve/expand_def.hpp"
#include "diagram/resolve/names.hpp"
#include "diagram/resolve/warn.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

class Resolver {
 public:
  Resolver(const ast::File& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  Diagram run(const ast::File& prelude, const Overrides& overrides) {
    draft_.diagram.name = file_.diagram.text;
    names_ = declare(file_, prelude, overrides, draft_.diagram, diagnostics_);
    Expansion expansion{draft_, names_, diagnostics_};
    for (auto& [name, entry] : names_.prelude) check_def(expansion, entry);
    for (const auto* def : all<ast::Def>(file_)) check_def(expansion, names_.defs.at(def->name.text));
    statements(expansion);
    outputs();
    if (diagnostics_.has_errors()) return {};
    auto diagram = join(draft_);
    for (const auto axis : draft_.assumed) assume_size(diagram, axis);
    warn(file_, diagram, diagnostics_);
    return diagram;
  }

 private:
  void statements(Expansion& expansion) {
    for (const auto* statement : all<ast::Statement>(file_)) {
      if (draft_.diagram.statements.size() == limits::statements) {
        diagnostics_.add({.code = "E0606",
                          .message = fmt::format("more than {} statements", limits::statements),
                          .span = statement->name.span});
        return;
      }
      auto& entry = names_.arrays.at(statement->name.text);
      const bool doubled = draft_.diagram.at(entry.id).span != statement->name.span;
      if (!doubled && !entry.bad) this->statement(expansion, *statement, entry.id);
      entry.ready = true;
    }
  }

  void statement(Expansion& expansion, const ast::Statement& statement, ArrayId array) {
    const auto value = expand_statement(expansion, statement, array);
    if (!value) return;
    Span span = statement.name.span;
    span.end = statement.value.span.end;
    draft_.diagram.statements.push_back({array, *value, span});
  }

  void outputs() {
    std::set<std::string> seen;
    for (const auto* output : all<ast::Output>(file_)) {
      const auto& name = output->name;
      const auto found = names_.arrays.find(name.text);
      if (names_.broken.contains(name.text)) continue;
      if (found == names_.arrays.end())
        unknown_output(name);
      else if (is_input(found->second.id))
        fail("E0214", fmt::format("input `{}` cannot be an output", name.text), name.span,
             "outputs are produced by statements");
      else if (!seen.insert(name.text).second)
        fail("E0214", fmt::format("`{}` is an output already", name.text), name.span, "remove this line");
      else
        draft_.diagram.outputs.push_back(found->second.id);
    }
    if (all<ast::Output>(file_).empty()) no_output();
  }

  void unknown_output(const ast::Name& name) {
    diagnostics_.add(
        with_suggestion({.code = "E0203", .message = fmt::format("unknown array `{}`", name.text), .span = name.span},
                        name.text, names_.array_names(), "arrays"));
  }

  // Reported only if no broken line may have been the missing statement.
  void no_output() {
    for (const auto* broken : all<ast::Broken>(file_))
      if (!broken->name) return;
    const auto statements = all<ast::Statement>(file_);
    if (statements.empty() && diagnostics_.has_errors()) return;
    const auto last = statements.empty() ? file_.diagram : statements.back()->name;
    Diagnostic diagnostic{
        .code = "E0214",
        .message = fmt::format("diagram `{}` has no output", file_.diagram.text),
        .span = last.span,
        .help = fmt::format("end the file with a line such as `output {}`", statements.empty() ? "O" : last.text)};
    if (!statements.empty()) {
      const auto line = fmt::format("output {}", last.text);
      diagnostic.fixes = {{fmt::format("write `{}`", line), {{after(file_.declarations.back().span), "\n" + line}}}};
    }
    diagnostics_.add(std::move(diagnostic));
  }

  bool is_input(ArrayId id) const {
    const auto& inputs = draft_.diagram.inputs;
    return std::find(inputs.begin(), inputs.end(), id) != inputs.end();
  }

  void fail(std::string_view code, std::string message, Span span, std::string help) {
    diagnostics_.add({.code = code, .message = std::move(message), .span = span, .help = std::move(help)});
  }

  const ast::File& file_;
  Diagnostics& diagnostics_;
  Draft draft_;
  Names names_;
};

}  // namespace

Diagram resolve(const ast::File& file, const ast::File& prelude, const Overrides& overrides, Diagnostics& diagnostics) {
  if (file.diagram.text.empty() && !diagnostics.has_errors())
    diagnostics.add({.code = "E0109",
                     .message = "the file holds no diagram",
                     .span = {file.file, 0, 0},
                     .help = "begin the file with a line such as `diagram attention`"});
  return Resolver(file, diagnostics).run(prelude, overrides);
}

Diagram read_diagram(Sources& sources, std::uint32_t file, const Overrides& overrides, Diagnostics& diagnostics) {
  const auto prelude = sources.add("<prelude>", std::string(prelude_text()));
  const auto tree = parse(sources, file, diagnostics);
  return resolve(tree, parse(sources, prelude, diagnostics), overrides, diagnostics);
}

std::optional<WireId> find_wire(const Diagram& diagram, std::string_view name) {
  for (std::uint32_t i = 0; i < diagram.wires.size(); ++i)
    if (diagram.wires[i].name == name) return WireId{i};
  return std::nullopt;
}

}  // namespace napkin
