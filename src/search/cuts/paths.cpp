// Places are sorted, so that one pass over the steps finds the prices of all of them.
#include "search/cuts/paths.hpp"

#include <algorithm>

namespace napkin {

std::vector<Price> Paths::to_places(const PriceOf& price) const {
  std::vector<Price> prices(cuts.places, Price::never());
  prices.front() = {};
  for (const auto& step : cuts.steps)
    if (has(step)) prices[step.to] = std::min(prices[step.to], prices[step.from] + price(step.cut));
  return prices;
}

std::vector<Price> Paths::from_places(const PriceOf& price) const {
  std::vector<Price> prices(cuts.places, Price::never());
  prices.back() = {};
  for (auto step = cuts.steps.rbegin(); step != cuts.steps.rend(); ++step)
    if (has(*step)) prices[step->from] = std::min(prices[step->from], prices[step->to] + price(step->cut));
  return prices;
}

std::vector<std::size_t> Paths::cheapest(const PriceOf& price) const {
  const auto prices = to_places(price);
  std::vector<std::size_t> path;
  auto place = cuts.places - 1;
  if (prices[place] == Price::never()) return path;
  for (auto step = cuts.steps.rbegin(); step != cuts.steps.rend(); ++step) {
    if (step->to != place || !has(*step) || prices[step->from] + price(step->cut) != prices[place]) continue;
    path.push_back(step->cut);
    place = step->from;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace napkin
