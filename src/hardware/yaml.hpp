// YAML text to a small tree with byte spans: the only place that knows yaml-cpp.
//
// A profile needs maps, lists and plain words; anchors, aliases, tags and second documents are refused, so a tree is
// never larger than its text. Key order is kept, because the order of levels means something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/problem.hpp"
#include "napkin/text.hpp"

namespace napkin::profile {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { empty, text, list, map };
  Kind kind = Kind::empty;
  Span span;  // of a text: its characters; of anything else: the key that names it, or where it begins
  std::string text;
  bool exact = false;  // `text` stands in the file letter for letter: offsets in it are offsets in the file
  bool given = false;  // set on the command line
  std::vector<Entry> entries;
  std::vector<Node> items;

  Node() = default;
  Node(Kind, Span, std::string text = "");

  Entry* find(std::string_view key);
  const Entry* find(std::string_view key) const;
  // The span of text[offset, offset + length), as closely as it is known.
  Span part(std::size_t offset, std::size_t length) const;
};

struct Entry {
  std::string key;
  Span key_span;
  Node value;
};

// The document of a file; none if it could not be read.
std::optional<Node> read_yaml(const Sources&, std::uint32_t file, Diagnostics&);

}  // namespace napkin::profile
