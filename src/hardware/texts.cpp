// Texts of a profile reach code, pages and terminals: none may hold more than it says.
#include <fmt/format.h>

#include "hardware/check.hpp"
#include "hardware/units.hpp"
#include "text/escape.hpp"

namespace napkin::profile {
namespace {

void check_printable(Reader& reader, const std::string& text, Span span) {
  if (is_on_one_line(text)) return;
  reader.error(problem("E0420", "a text of a profile is one line without control characters", span,
                       "write it on one line, without characters that cannot be printed"));
}

void check_printable(Reader& reader, const Node& node) {
  check_printable(reader, node.text, node.span);
  for (const Node& item : node.items) check_printable(reader, item);
  for (const Entry& entry : node.entries) {
    check_printable(reader, entry.key, entry.key_span);
    check_printable(reader, entry.value);
  }
}

void check_name(Reader& reader, std::string_view what, const std::string& name, Span span) {
  if (is_plain_name(name) || !is_on_one_line(name)) return;  // the latter is said already
  reader.error(problem("E0420", fmt::format("`{}` cannot be {}", name, what), span,
                       "write letters, digits, `.`, `_`, `-` and `+`, a letter or a digit first, at most 64 in all"));
}

void check_value(Reader& reader, std::string_view what, const Node* node) {
  if (node != nullptr && node->kind == Node::Kind::text) check_name(reader, what, node->text, node->span);
}

const Node* find(const Node& node, std::string_view key) {
  const Entry* entry = node.find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

void check_keys(Reader& reader, std::string_view what, const Node* map) {
  if (map == nullptr) return;
  for (const Entry& entry : map->entries) check_name(reader, what, entry.key, entry.key_span);
}

}  // namespace

void check_texts(Reader& reader, const Node& root) {
  check_printable(reader, root);
  check_value(reader, "the name of a machine", find(root, "name"));
  check_value(reader, "an architecture of CUDA", find(root, "cuda_architecture"));
  check_keys(reader, "the name of a level", find(root, "levels"));
  check_keys(reader, "the name of a cache", find(root, "caches"));
  check_keys(reader, "the name of a parameter", find(root, "parameters"));
  if (const Node* levels = find(root, "levels"))
    for (const Entry& level : levels->entries) check_value(reader, "the unit of a level", find(level.value, "unit"));
}

}  // namespace napkin::profile
