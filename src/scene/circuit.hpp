// A diagram -> functions one after another, as they are drawn: contractions, reductions, what the user called by name,
// boxes of pointwise functions, masks and reindexings, each with the values that it reads and the one that it makes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "napkin/scene.hpp"

namespace napkin::scene {

// An array of the file, or what a function inside a statement makes.
struct Value {
  std::string name;              // empty inside a statement
  std::optional<ArrayId> array;  // none inside a statement
  std::vector<WireId> wires;     // in the order of drawing
};

struct Function {
  MarkKind kind = MarkKind::pointwise;
  std::string name;                // "softmax", "exp(S - L)", "x <= q"
  std::string about;               // a sentence without its full stop
  std::vector<std::size_t> reads;  // values, each once
  std::vector<WireId> acts;        // wires of what it reads that it does more with than being woven over them
  std::size_t makes = 0;
  std::size_t statement = 0;
  std::map<WireId, WireId> as{};  // of `acts`, which a reindexing reads position by position, and as which wire
};

struct Circuit {
  std::vector<Value> values;
  std::vector<Function> functions;  // producers first
  std::vector<std::size_t> inputs, outputs;
};
Circuit circuit(const Diagram&);

// The name of an array or wire as it is drawn: of a long one the beginning and the last letters, in which those that
// begin alike differ.
std::string short_name(std::string_view);

// The functions of some statements alone, with the same values.
Circuit part(const Circuit&, const Derivation&);

}  // namespace napkin::scene
