// A diagram -> its functions in the order in which they are drawn: contractions, reductions, defs that the user called,
// boxes of pointwise functions, masks and reindexings, each with the values that it reads and the one that it makes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "napkin/scene.hpp"

namespace napkin::scene {

// An array of the file, or the result of a function inside a statement.
struct Value {
  std::string name;              // empty inside a statement
  std::optional<ArrayId> array;  // none inside a statement
  std::vector<WireId> wires;     // in the order of drawing
};

struct Function {
  MarkKind kind = MarkKind::pointwise;
  std::string name;                // "softmax", "exp(S - L)", "x <= q"
  std::string about;               // a sentence without a full stop
  std::vector<std::size_t> reads;  // the values read, each once
  std::vector<WireId> acts;        // wires of what it reads that it is not merely woven over
  std::size_t makes = 0;
  std::size_t statement = 0;
  std::map<WireId, WireId> as{};  // of `acts` that a reindexing reads position by position: the wire each becomes
};

struct Circuit {
  std::vector<Value> values;
  std::vector<Function> functions;  // producers first
  std::vector<std::size_t> inputs, outputs;
};
Circuit circuit(const Diagram&);

// The name of an array or wire as it is drawn. A long name is shortened to its beginning and its last letters, in which
// names with the same beginning differ.
std::string short_name(std::string_view);

// The functions of some statements only, with the same values.
Circuit part(const Circuit&, const Derivation&);

}  // namespace napkin::scene
