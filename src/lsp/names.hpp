// The names of a file, each where it stands, and which of them are the same.
//
// What a name means is the language's to say: axes, arrays and own defs share one space of names, a def sees its own
// axes and parameters, the prelude stands behind. So a symbol is a space and a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "napkin/syntax.hpp"

namespace napkin::lsp {

enum class Role : std::uint8_t { diagram, axis, array, function, parameter, type, partition, target, level };

struct Occurrence {
  std::string_view text;  // without primes
  Span span;              // of that text
  Role role;
  bool declares = false;
  const ast::Def* inside = nullptr;
  // Of an axis that stands for a dimension of an array, alone: which. `wire` is what the text and its primes say.
  std::string_view array = {};
  std::size_t dimension = 0;
  std::string_view wire = {};
};
// In no order. They point into the tree.
std::vector<Occurrence> occurrences(const ast::File&);
// The one that holds a byte, or ends there.
std::optional<Occurrence> occurrence_at(const ast::File&, std::size_t offset);

enum class Space : std::uint8_t { file, def, partitions, diagram, prelude, language, machine };
struct Symbol {
  Space space;
  const ast::Def* def;  // whose axis or parameter it is
  std::string_view text;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};
Symbol symbol(const ast::File&, const Occurrence&);

// Everywhere the symbol stands in the file, declarations included, in the order of the text.
std::vector<Occurrence> uses(const ast::File&, const Symbol&);
// Where it is declared first; none for what the file does not declare.
std::optional<Occurrence> declaration(const ast::File&, const Symbol&);

}  // namespace napkin::lsp
