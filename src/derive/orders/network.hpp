// Networks of a diagram: products of factors that are summed, without a function or a rounding between them.
#pragma once

#include <optional>
#include <vector>

#include "derive/orders/orders.hpp"
#include "napkin/diagram.hpp"

namespace napkin::orders {

// Which operations distribute: * over sum, + over max and min, and * over max and min if nothing is negative.
struct Semiring {
  const Reduction* sum = nullptr;
  const Pointwise *product = nullptr, *quotient = nullptr;
  double one = 1;  // the neutral element of `product`
};

// A part of a network in the file: a reduction, or a statement that another one reads.
struct Part {
  std::size_t above = 0;           // the part that contains it; the root contains itself
  std::size_t begin = 0, end = 0;  // its range among the gathered factors
  bool sums = false;               // whether it is a reduction
  ExprId value{};
  double positions = 0;            // the positions that it iterates over
  int operands = 0;                // the operands that it multiplies at each position
  std::optional<ArrayId> array{};  // the array, if it is a statement
  double values = 0;               // the number of values of the array
};

// A rounding that was ignored to find a network: that of a statement's array, or a cast inside a statement.
struct Rounding {
  std::size_t part = 0;  // the part that it rounds
  std::optional<ArrayId> array{};
  ExprId cast{};  // the cast, if it is not that of an array
};

struct Network {
  ExprId root{};  // a reduction in the statement
  Semiring of;
  std::vector<ExprId> factors;         // each varies along a wire that is summed
  std::vector<ExprId> outside, under;  // multiply and divide the whole: they vary along kept wires only
  std::vector<WireId> wires;           // the wires of the factors; kept ones come first
  std::size_t kept = 0;                // the number of kept wires
  std::vector<Part> parts;             // the root first
  std::vector<FactorSet> masks;        // by part: its set of factors
  std::vector<Rounding> rounded;
  std::vector<ArrayId> opened() const;    // statements whose expressions are parts
  Problem problem(const Diagram&) const;  // every axis of the network must have a size
};

// Whether storing a statement's array rounds it: whether the stored type differs from that in which its value is
// computed.
bool rounds(const Diagram&, const Statement&);

// The networks in a statement, outermost reductions first. With `through`, roundings are ignored and recorded. Adds
// expressions to the diagram but changes none.
std::vector<Network> networks_in(Diagram&, const Statement&, bool through);
// The whole statement as one network, if it consists of such products and sums.
std::optional<Network> network_of(Diagram&, const Statement&, const Semiring&);

}  // namespace napkin::orders
