// A diagram in which one network is contracted in another order: the intermediate products become statements.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "derive/orders/network.hpp"
#include "napkin/derive.hpp"

namespace napkin::orders {

// A product of factors of a network that an array already holds.
struct Existing {
  FactorSet factors = 0;
  ArrayId array{};
  std::vector<ExprId> outside{}, under{};  // factors of the network that the array includes too
};

// The parts of a network that arrays hold. The order reads arrays that are needed anyway (`needed`). Arrays of
// statements that are parts of the network (`opened`) are read if the order computes them too.
struct Held {
  std::vector<Existing> needed, opened;
};
// None if two arrays hold the same factor that is outside of all sums.
std::optional<ContractionForm> form(const Diagram&, std::size_t statement, const Network&, const Order&, const Held&);

// The arrays of statements that outputs or other statements would still read if this statement read the factors of the
// network instead.
std::set<ArrayId> needed_besides(const Diagram&, std::size_t statement, const Network&);
// The parts of the network that these arrays hold, as far as earlier statements make them.
std::vector<Existing> existing(Diagram&, std::size_t statement, const Network&, const std::set<ArrayId>& arrays);

}  // namespace napkin::orders
