// Writes the backward pass as a file: the declarations and statements that it keeps from the file, then those that were
// added.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "grad/axes.hpp"
#include "grad/backward.hpp"
#include "napkin/syntax.hpp"

namespace napkin::grad {
namespace {

constexpr std::size_t width = 115;

// A paragraph of comment.
std::string comment(const std::string& words) {
  std::string text, line = "#";
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    if (line.size() + 1 + end - at > width) {
      text += line + "\n";
      line = "#";
    }
    line += " " + words.substr(at, end - at);
    at = end + 1;
  }
  return text + line + "\n";
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool names(const std::string& text, const std::string& word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

class Writer {
 public:
  Writer(const Sources& sources, const ast::File& file, Backward& all, Diagnostics& diagnostics)
      : source_(sources.at(file.file).text),
        file_(file),
        all_(all),
        diagnostics_(diagnostics),
        diagram_(all.diagram),
        axes_(all) {}

  std::string run(const std::string& heading) {
    find_needed();
    for (const auto& statement : all_.forward)
      if (needed_.contains(statement.output)) statements_ += forward(statement) + "\n";
    if (!statements_.empty()) statements_ += "\n";
    for (const auto& statement : all_.made) statements_ += made(statement);
    for (const auto result : all_.results) outputs_ += fmt::format("output {}\n", diagram_.at(result).name);
    const auto inputs = this->inputs();
    const auto axes = this->axes(inputs + statements_);
    return canonical(fmt::format("{}diagram {}_gradient\n\n{}\n{}\n{}\n{}\n{}", comment(heading), diagram_.name, axes,
                                 inputs, defs(), statements_, outputs_));
  }

 private:
  void find_needed() {
    needed_.insert(all_.results.begin(), all_.results.end());
    for (auto at = all_.made.rbegin(); at != all_.made.rend(); ++at)
      if (needed_.contains(at->output)) need(at->value);
    std::erase_if(all_.made, [&](const Statement& statement) { return !needed_.contains(statement.output); });
    for (const auto& statement : all_.made)
      if (all_.between.contains(statement.output))
        all_.diagram.at(statement.output).name = all_.unused(diagram_.at(statement.output).name);
    for (auto at = all_.forward.rbegin(); at != all_.forward.rend(); ++at)
      if (needed_.contains(at->output)) need(at->value);
  }
  void need(ExprId id) {
    for (const auto array : arrays_read(diagram_, id)) needed_.insert(array);
  }

  // A part of the file as it is written there, with a comment after it if nothing else is on its line.
  std::string as_written(Span span) const {
    auto text = source_.substr(span.begin, span.end - span.begin);
    const auto line_end = std::min(source_.find('\n', span.end), source_.size());
    const auto rest = source_.substr(span.end, line_end - span.end);
    const auto mark = rest.find_first_not_of(" \t\r");
    if (mark != std::string::npos && rest[mark] == '#') text += "  " + rest.substr(mark);
    return text;
  }

  template <class Node>
  const ast::Declaration* declaration(const std::string& name) const {
    for (const auto& one : file_.declarations) {
      const auto* node = std::get_if<Node>(&one.node);
      if (node && node->name.text == name) return &one;
    }
    return nullptr;
  }

  static std::string bracketed(const Diagram& named, ArrayId array) {
    std::string text;
    for (const auto wire : named.at(array).wires) text += (text.empty() ? "" : ", ") + named.at(wire).name;
    return "[" + text + "]";
  }
  std::string typed(const Diagram& named, ArrayId array, bool always) const {
    const auto& one = named.at(array);
    const auto type = one.type == Datatype::f32 && !always ? "" : fmt::format(": {}", row(one.stored()).name);
    return one.name + type + bracketed(named, array);
  }

  std::string forward(const Statement& statement) {
    if (!all_.rewritten.contains(statement.output))
      return as_written(declaration<ast::Statement>(diagram_.at(statement.output).name)->span);
    return text_of(statement);
  }
  std::string text_of(const Statement& statement) {
    const auto named = axes_.named(statement);
    return fmt::format("{} = {}", typed(named, statement.output, false), to_text(named, statement.value));
  }
  std::string made(const Statement& statement) { return text_of(statement) + "\n"; }

  std::string inputs() {
    std::string text;
    for (const auto input : diagram_.inputs)
      if (needed_.contains(input)) text += as_written(declaration<ast::Input>(diagram_.at(input).name)->span) + "\n";
    for (const auto array : all_.saved)
      if (needed_.contains(array)) text += input(array, saved_words(array));
    for (const auto array : all_.seeds)
      if (needed_.contains(array)) text += input(array, "a gradient");
    return text;
  }
  std::string input(ArrayId array, const std::string& words) {
    const auto named = axes_.named({array, all_.algebra.read(array), nowhere});
    return fmt::format("input {}  # {}\n", typed(named, array, true), words);
  }
  std::string saved_words(ArrayId array) const {
    const auto found = all_.comments.find(array);
    return found == all_.comments.end() ? "of the forward pass" : found->second + ", of the forward pass";
  }

  // The defs that the statements call, directly or through other defs.
  std::string defs() {
    std::string text;
    std::set<std::string> taken;
    for (bool more = true; more;) {
      more = false;
      for (const auto& one : file_.declarations) {
        const auto* def = std::get_if<ast::Def>(&one.node);
        if (!def || taken.contains(def->name.text) || !names(statements_ + text, def->name.text)) continue;
        taken.insert(def->name.text);
        text += as_written(one.span) + "\n";
        more = true;
      }
    }
    return text;
  }

  // The axes that the rest of the text names, and those that their sizes name.
  std::string axes(const std::string& rest) {
    std::string added;
    for (const auto& line : axes_.declarations()) added += line + "\n";
    std::string all = rest + added;
    std::set<std::string> taken;
    for (auto at = file_.declarations.rbegin(); at != file_.declarations.rend(); ++at) {
      const auto* axis = std::get_if<ast::Axis>(&at->node);
      if (!axis || !names(all, axis->name.text)) continue;
      taken.insert(axis->name.text);
      all += as_written(at->span) + "\n";
    }
    std::string text;
    for (const auto& one : file_.declarations) {
      const auto* axis = std::get_if<ast::Axis>(&one.node);
      if (axis && taken.contains(axis->name.text)) text += as_written(one.span) + "\n";
    }
    return text + added;
  }

  // Of what it reads back, only limits of files may be passed.
  std::string canonical(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    const auto file = sources.add("<gradient>", text);
    read_diagram(sources, file, {}, diagnostics);
    for (const auto& one : diagnostics.sorted())
      if (is_of_limits(one)) return too_large(one), "";
    if (diagnostics.has_errors()) throw std::logic_error(render_text(sources, diagnostics, false));
    return print(sources, parse(sources, file, diagnostics));
  }
  static bool is_of_limits(const Diagnostic& one) { return one.code.starts_with("E06"); }
  void too_large(const Diagnostic& limit) {
    diagnostics_.add(
        {.code = limit.code,
         .message = fmt::format("as a gradient of `{}`, {}", diagram_.name, limit.message),
         .span = file_.diagram.span,
         .help = "ask for fewer gradients with `--wrt`, or give parts of the file statements of their own"});
  }

  const std::string& source_;
  const ast::File& file_;
  Backward& all_;
  Diagnostics& diagnostics_;
  const Diagram& diagram_;
  AxisNames axes_;
  std::set<ArrayId> needed_;
  std::string statements_, outputs_;
};

}  // namespace

std::string write(const Sources& sources, const ast::File& file, Backward& all, const std::string& heading,
                  Diagnostics& diagnostics) {
  return Writer(sources, file, all, diagnostics).run(heading);
}

}  // namespace napkin::grad
