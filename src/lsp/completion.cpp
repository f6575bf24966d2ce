// Completes names at a position, according to the words before it and the names in scope.
#include <cctype>
#include <set>

#include "diagram/resolve/names.hpp"
#include "lsp/session.hpp"
#include "lsp/signatures.hpp"
#include "syntax/token.hpp"
#include "syntax/words.hpp"

namespace napkin::lsp {
namespace {

enum ItemKind : int { function_item = 3, variable_item = 6, type_item = 25, keyword_item = 14, constant_item = 21 };

constexpr int as_snippet = 2;

class Items {
 public:
  void add(std::string_view label, ItemKind kind, std::string_view detail, const std::string& snippet = "") {
    if (!known_.emplace(label).second) return;
    items_.push_back(
        {{"label", std::string(label)}, {"kind", static_cast<int>(kind)}, {"detail", std::string(detail)}});
    if (snippet.empty()) return;
    items_.back()["insertText"] = snippet;
    items_.back()["insertTextFormat"] = as_snippet;
  }
  Json take() { return std::move(items_); }

 private:
  std::set<std::string> known_;
  Json items_ = Json::array();
};

void add_types(Items& items) {
  for (const auto& type : datatypes()) items.add(type.name, type_item, "number format");
}

// Inserts only the name if brackets follow already.
void add_functions(const Reading& reading, bool snippets, Items& items) {
  for (const auto& one : signatures(reading))
    items.add(one.name, function_item, one.summary, snippets ? snippet(one) : "");
  add_types(items);
  for (const auto word : operator_words) items.add(word, keyword_item, "");
}

// The def whose declaration contains the position.
const ast::Def* def_at(const ast::File& file, std::size_t offset) {
  for (const auto& declared : file.declarations)
    if (declared.span.begin <= offset && offset <= declared.span.end)
      if (const auto* def = std::get_if<ast::Def>(&declared.node)) return def;
  return nullptr;
}

void add_names(const ast::File& file, std::size_t offset, Items& items) {
  if (const auto* def = def_at(file, offset)) {
    for (const auto& axis : def->axes) items.add(axis.text, constant_item, "axis of the def");
    for (const auto& parameter : def->parameters) items.add(parameter.text, variable_item, "parameter");
    return;
  }
  for (const auto& name : occurrences(file)) {
    if (!name.declares || name.inside) continue;
    if (name.role == Role::axis) items.add(name.text, constant_item, "axis");
    if (name.role == Role::array) items.add(name.text, variable_item, "array");
  }
}

// The last word or sign before the current word, in its line; empty at the start of a line.
std::string_view word_before(const Reading& reading, std::size_t offset) {
  Diagnostics known;
  std::string_view before;
  for (const auto& token : tokenize(reading.sources, reading.file, known).tokens) {
    const bool at_hand = token.kind == TokenKind::name && token.span.end >= offset;
    if (token.span.end > offset || at_hand) break;
    before = token.kind == TokenKind::newline || token.text == ";" ? "" : token.text;
  }
  return before;
}

bool brackets_follow(const Reading& reading, std::size_t offset) {
  const std::string_view text = reading.text();
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (offset < text.size() && is_word(text[offset])) ++offset;
  return offset < text.size() && (text[offset] == '(' || text[offset] == '[');
}

}  // namespace

Json completion(State& state, const Json& params) {
  const auto& reading = document(state, params).reading;
  const auto offset = reading.lines.offset(reading.text(), position_field(params, "position"));
  const auto before = word_before(reading, offset);
  Items items;
  if (before == ":") {
    add_types(items);
  } else if (before == "at") {
    for (std::size_t i = 1; state.target && i < state.target->levels.size(); ++i)
      items.add(state.target->levels[i].name, constant_item, "level");
  } else {
    if (before.empty())
      for (const auto word : keywords) items.add(word, keyword_item, "");
    add_names(reading.syntax, offset, items);
    if (!before.empty()) add_functions(reading, state.snippets && !brackets_follow(reading, offset), items);
  }
  return items.take();
}

}  // namespace napkin::lsp
