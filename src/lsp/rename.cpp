// Renames a declared name everywhere in the file; refuses if the file would then mean something else.
#include <fmt/format.h>

#include <algorithm>

#include "diagram/resolve/names.hpp"
#include "lsp/session.hpp"
#include "syntax/words.hpp"
#include "text/limits.hpp"

namespace napkin::lsp {
namespace {

Failure refused(std::string why) { return {request_failed, std::move(why)}; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void check_word(const std::string& name) {
  const bool word = !name.empty() && is_letter(name.front()) &&
                    std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!word) throw refused(fmt::format("`{}` is no name: names are ASCII letters, digits and `_`", name));
  if (name.size() > limits::name_bytes)
    throw refused(fmt::format("a name has at most {} characters", limits::name_bytes));
  if (is_reserved(name)) throw refused(fmt::format("`{}` is a word of the language", name));
}

// A new name is taken if it names something else in the same space, or could be read as a function.
void check_free(const Reading& reading, const Symbol& old, const std::string& name) {
  const auto& file = reading.syntax;
  if (is_built_in(name)) throw refused(fmt::format("`{}` is built into the language", name));
  const auto prelude = all<ast::Def>(reading.prelude);
  if (std::ranges::any_of(prelude, [&](const ast::Def* def) { return def->name.text == name; }))
    throw refused(fmt::format("`{}` is a function of the prelude", name));
  if (declaration(file, {old.space, old.def, name}))
    throw refused(fmt::format("`{}` is declared already: choose another name", name));
}

// The symbol at the position, if this file declares it.
Symbol renamed(const Document& open, const std::optional<Occurrence>& at) {
  const auto& file = open.reading.syntax;
  if (!at) throw refused("there is no name here");
  const auto found = symbol(file, *at);
  const std::string text(found.text);
  if (found.space == Space::language) throw refused(fmt::format("`{}` is built into the language", text));
  if (found.space == Space::prelude) throw refused(fmt::format("`{}` is not defined in this file", text));
  if (found.space == Space::machine) throw refused(fmt::format("`{}` is a name of the machine", text));
  if (!declaration(file, found)) throw refused(fmt::format("`{}` is not declared in this file", text));
  for (const auto& declared : file.declarations)
    if (std::holds_alternative<ast::Broken>(declared.node))
      throw refused("some lines have errors and may contain the name: correct them first");
  return found;
}

std::string with_name(std::string text, const std::vector<Occurrence>& places, const std::string& name) {
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    text.replace(place->span.begin, place->text.size(), name);
  return text;
}

std::vector<std::string_view> codes_of(const Reading& reading) {
  std::vector<std::string_view> found;
  for (const auto& diagnostic : reading.diagnostics.sorted()) found.push_back(diagnostic.code);
  std::ranges::sort(found);
  return found;
}

}  // namespace

Json prepare_rename(State& state, const Json& params) {
  const auto& open = document(state, params);
  const auto at = named(open, params);
  renamed(open, at);
  return range(open.reading, at->span);
}

Json rename(State& state, const Json& params) {
  const auto& open = document(state, params);
  const auto old = renamed(open, named(open, params));
  const auto& name = text_field(params, "newName");
  check_word(name);
  if (name == old.text) return nullptr;
  check_free(open.reading, old, name);
  const auto places = uses(open.reading.syntax, old);
  if (codes_of(read(with_name(open.reading.text(), places, name))) != codes_of(open.reading))
    throw refused(fmt::format("with the name `{}` the file would mean something else", name));
  auto edits = Json::array();
  for (const auto& place : places) edits.push_back({{"range", range(open.reading, place.span)}, {"newText", name}});
  return {{"changes", {{text_field(field(params, "textDocument"), "uri"), std::move(edits)}}}};
}

}  // namespace napkin::lsp
