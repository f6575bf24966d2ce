// Networks of a diagram: products of factors that are summed, with neither a function nor a rounding between them.
#pragma once

#include <optional>
#include <vector>

#include "derive/orders/orders.hpp"
#include "napkin/diagram.hpp"

namespace napkin::orders {

// What distributes over what: * over sum, + over max and min, and * over those where nothing is negative.
struct Semiring {
  const Reduction* sum = nullptr;
  const Pointwise *product = nullptr, *quotient = nullptr;
  double one = 1;  // times which everything stays what it is
};

// A part of a network as the file has it: a reduction, or a statement that another one reads.
struct Part {
  std::size_t above = 0;           // the part that it is in; itself at the root
  std::size_t begin = 0, end = 0;  // of what was gathered
  bool sums = false;               // a reduction
  ExprId value{};
  double positions = 0;            // that it works through
  int operands = 0;                // that it multiplies there
  std::optional<ArrayId> array{};  // of a statement
  double values = 0;               // of it
};

// A rounding that was looked through: of a statement's array, or a cast inside one.
struct Rounding {
  std::size_t part = 0;  // what it rounds
  std::optional<ArrayId> array{};
  ExprId cast{};  // where it is no array
};

struct Network {
  ExprId root{};  // a reduction in the statement
  Semiring of;
  std::vector<ExprId> factors;         // each varies along a wire that is summed
  std::vector<ExprId> outside, under;  // multiply and divide the whole: they vary along kept wires alone
  std::vector<WireId> wires;           // of the factors; those that are kept come first
  std::size_t kept = 0;                // how many are
  std::vector<Part> parts;             // the root first
  std::vector<FactorSet> masks;        // of the parts: their factors
  std::vector<Rounding> rounded;
  std::vector<ArrayId> opened() const;    // statements whose expressions are parts
  Problem problem(const Diagram&) const;  // every axis of it needs a size
};

// Whether a statement's array is stored as what its value is held in anyway.
bool rounds(const Diagram&, const Statement&);

// The networks in a statement, outermost reductions first. With `through`, roundings are looked through, and noted.
// Adds expressions to the diagram, but changes none.
std::vector<Network> networks_in(Diagram&, const Statement&, bool through);
// All that a statement computes as one, if it multiplies and sums so.
std::optional<Network> network_of(Diagram&, const Statement&, const Semiring&);

}  // namespace napkin::orders
