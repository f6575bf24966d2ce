// A diagram in which one network is contracted in another order: the products between are statements of their own.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "derive/orders/network.hpp"
#include "napkin/derive.hpp"

namespace napkin::orders {

// A product of factors of a network that some array holds already.
struct Existing {
  FactorSet factors = 0;
  ArrayId array{};
  std::vector<ExprId> outside{}, under{};  // of the network's: they are in the array too
};

// What arrays hold of a network: those that are needed anyway, which the order reads, and those of statements that are
// parts of the network, which it reads if they are computed as it does.
struct Held {
  std::vector<Existing> needed, opened;
};
// None where two arrays hold one factor that stands outside of all sums.
std::optional<ContractionForm> form(const Diagram&, std::size_t statement, const Network&, const Order&, const Held&);

// The statements that outputs or other statements read, were this one to read the factors of the network instead.
std::set<ArrayId> needed_besides(const Diagram&, std::size_t statement, const Network&);
// What these arrays hold of the network, as far as statements before this one make them.
std::vector<Existing> existing(Diagram&, std::size_t statement, const Network&, const std::set<ArrayId>& arrays);

}  // namespace napkin::orders
