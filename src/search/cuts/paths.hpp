// The cheapest paths through cuts, by the prices of their kernels.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "search/cuts/cuts.hpp"
#include "search/cuts/prices.hpp"

namespace napkin {

using PriceOf = std::function<Price(std::size_t cut)>;

struct Paths {
  const Cuts& cuts;
  bool any_order;  // false: only steps in the order of the file
  bool has(const Cuts::Step& step) const { return any_order || step.in_order; }
  // By place, the price of the cheapest path to it, and from it to the last place.
  std::vector<Price> to_places(const PriceOf&) const;
  std::vector<Price> from_places(const PriceOf&) const;
  Price least(const PriceOf& price) const { return to_places(price).back(); }
  // The kernels of the cheapest path in launch order, always the same one of equal paths; none if nothing fits.
  std::vector<std::size_t> cheapest(const PriceOf&) const;
};

}  // namespace napkin
