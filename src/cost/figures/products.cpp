// Multiplies the factors of a product.
#include "cost/figures/products.hpp"

#include <cmath>

#include "cost/model/checked.hpp"

namespace napkin {

std::int64_t value_of(const CostModel::Product& product, const Figures& figures, bool& overflow) {
  Checked all{product.fixed};
  for (const auto cut : product.counts) all.times(figures.counts[cut]);
  for (const auto cut : product.lengths) all.times(figures.lengths[cut]);
  for (const auto footprint : product.footprints) all.times(figures.reaches[footprint]);
  if (product.region) all.times(figures.regions[*product.region]);
  overflow = overflow || all.overflow;
  if (all.overflow || all.value > INT64_MAX / 8) return overflow = true, 0;
  if (product.shares.empty()) return all.value;
  double expected = static_cast<double>(all.value);
  for (const auto share : product.shares) expected *= figures.shares[share];
  return std::llround(expected);
}

}  // namespace napkin
