// Sums over regions part by part. What is known of a part is not summed again.
#include "cost/figures/region_sums.hpp"

#include <algorithm>
#include <cmath>

#include "cost/figures/pieces.hpp"
#include "cost/figures/products.hpp"
#include "diagram/checked.hpp"

namespace napkin {
namespace {

using RegionPart = CostModel::RegionPart;
using Sizes = std::span<const std::int64_t>;

std::int64_t sum_pieces(const CostModel& model, const RegionPart& part, Sizes sizes) {
  std::vector<Cutting> cuttings;
  cuttings.reserve(part.region.cuts.size());
  for (const auto i : part.region.cuts) {
    const auto& cut = model.cuts[i];
    cuttings.push_back({model.wire_sizes[cut.wire.index]});
    for (const auto split : cut.splits) cuttings.back().sizes.push_back(sizes[split]);
  }
  return sum_tied(part.region, cuttings, model.wire_sizes.size(), part.factor);
}

std::int64_t sum_part(const CostModel& model, const RegionPart& part, Sizes sizes, Figures& figures) {
  auto& asked = figures.sizes_of_part;
  asked.clear();
  for (const auto cut : part.region.cuts)
    for (const auto split : model.cuts[cut].splits) asked.push_back(sizes[split]);
  const auto [known, fresh] = part.known->at(asked);
  if (fresh) *known = sum_pieces(model, part, sizes);
  return *known;
}

std::int64_t sum_region(const CostModel& model, std::size_t index, Sizes sizes, Figures& figures) {
  const auto product = [&](const std::vector<std::size_t>& parts) {
    std::int64_t all = 1;
    for (const auto part : parts) all = saturating_multiply(all, sum_part(model, model.parts[part], sizes, figures));
    return all;
  };
  const auto& [whole, open] = model.sums[index];
  return open.empty() ? product(whole) : product(whole) - product(open);
}

// A tighter bound with pieces of one grain instead of positions: every piece that is run consists of grains, one of
// which is run. If all sizes are known, the bound is the sum itself. It is 0 if more than grains count, or if there are
// too many grains to visit.
std::int64_t least_run(const CostModel& model, std::size_t index, Sizes sizes, Sizes grains, Figures& figures) {
  constexpr std::int64_t most_grains = 10'000;  // of all wires except the one with the most
  const auto& region = model.regions[index];
  bool known = true;
  std::int64_t all = 1, most = 1;
  for (const auto i : region.cuts) {
    const auto& cut = model.cuts[i];
    for (const auto split : cut.splits) known = known && sizes[split] == grains[split];
    const auto grain = length_of(model, cut, grains);
    const auto count = (model.wire_sizes[cut.wire.index] + grain - 1) / grain;
    most = std::max(most, count);
    if (__builtin_mul_overflow(all, count, &all)) return 0;
  }
  if (known) return sum_region(model, index, sizes, figures);
  if (region.part != Region::Part::run || !region.footprints.empty() || all / most > most_grains) return 0;
  auto least = sum_region(model, index, grains, figures);
  for (std::size_t w = 0; w < region.wires.size(); ++w) {
    const auto grain = length_of(model, model.cuts[region.cuts[w]], grains);
    if (!region.measured[w]) least /= (figures.lengths[region.cuts[w]] + grain - 1) / grain;
  }
  return least;
}

}  // namespace

void sum_regions(const CostModel& model, Sizes sizes, Figures& figures) {
  figures.regions.resize(model.regions.size());
  for (std::size_t i = 0; i < model.regions.size(); ++i) figures.regions[i] = sum_region(model, i, sizes, figures);
}

// Every piece that is run contains a position that is run, and a piece that counts once has at most as many positions
// as a whole one.
void bound_regions(const CostModel& model, Sizes sizes, Sizes grains, Figures& figures) {
  figures.regions.resize(model.regions.size());
  for (std::size_t i = 0; i < model.regions.size(); ++i) {
    const auto& region = model.regions[i];
    auto& least = figures.regions[i] = model.least_positions[i];
    for (std::size_t w = 0; w < region.wires.size(); ++w)
      if (!region.measured[w]) least /= std::max<std::int64_t>(1, figures.lengths[region.cuts[w]]);
    if (!grains.empty()) least = std::max(least, least_run(model, i, sizes, grains, figures));
  }
}

void find_shares(const CostModel& model, const Figures& held, Figures& figures) {
  figures.shares.resize(model.shares.size());
  for (std::size_t i = 0; i < model.shares.size(); ++i) {
    const auto entries = value_of(model.shares[i].entries, held, figures.overflow);
    figures.shares[i] = 1 - std::pow(1 - model.shares[i].density, static_cast<double>(entries));
  }
}

}  // namespace napkin
