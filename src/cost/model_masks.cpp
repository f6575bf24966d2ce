// Counts the positions and pieces that masks let through, and what loops skip.
#include <algorithm>
#include <cmath>

#include "cost/independent.hpp"
#include "cost/model.hpp"
#include "cost/reach.hpp"
#include "diagram/checked.hpp"

namespace napkin {

void CostModel::sum_regions(std::span<const std::int64_t> sizes, Figures& figures) const {
  figures.regions.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) figures.regions[i] = sum_region(i, sizes);
}

void CostModel::find_parts() {
  for (const auto& region : regions_) {
    std::vector<std::vector<bool>> shaped;
    for (const auto footprint : region.footprints) shaped.push_back(this->shaped(footprints_[footprint], region));
    const auto add = [&](Region::Part what, std::vector<std::size_t>& parts) {
      for (auto& part : independent(region, what, shaped)) parts.push_back(this->part(std::move(part)));
    };
    auto& [whole, open] = sums_.emplace_back();
    add(region.part == Region::Part::open ? Region::Part::open : Region::Part::run, whole);
    if (region.part == Region::Part::masked) add(Region::Part::open, open);
  }
}

// Returns the number of the part. Equal parts are stored once.
std::size_t CostModel::part(Region region) {
  const auto known = std::ranges::find(parts_, region, &RegionPart::region);
  if (known != parts_.end()) return static_cast<std::size_t>(known - parts_.begin());
  std::vector<Footprints> factors;
  for (const auto footprint : region.footprints) factors.push_back(factor(footprints_[footprint], region));
  auto all = product_of(std::move(factors), region.wires.size());
  parts_.push_back({std::move(region), std::move(all)});
  return parts_.size() - 1;
}

std::shared_ptr<KnownSums::Sums> KnownSums::of(Asked asked) {
  const auto known = std::ranges::find(all_, asked, [](const auto& one) -> const Asked& { return one.first; });
  if (known != all_.end()) return known->second;
  return all_.emplace_back(std::move(asked), std::make_shared<Sums>()).second;
}

void CostModel::share(KnownSums& sums) {
  for (auto& part : parts_) {
    KnownSums::Asked asked{part.region, {}, {}};
    asked.region.cuts.clear(), asked.region.footprints.clear();
    for (const auto cut : part.region.cuts) {
      asked.splits.push_back(cuts_[cut].splits.size());
      asked.extents.push_back(wire_sizes_[cuts_[cut].wire.index]);
    }
    for (const auto footprint : part.region.footprints) asked.footprints.push_back(footprints_[footprint].indices);
    part.known = sums.of(std::move(asked));
  }
}

std::int64_t CostModel::sum_region(std::size_t index, std::span<const std::int64_t> sizes) const {
  const auto product = [&](const std::vector<std::size_t>& parts) {
    std::int64_t all = 1;
    for (const auto part : parts) all = saturating_multiply(all, sum_part(parts_[part], sizes));
    return all;
  };
  const auto& [whole, open] = sums_[index];
  return open.empty() ? product(whole) : product(whole) - product(open);
}

std::int64_t CostModel::sum_part(const RegionPart& part, std::span<const std::int64_t> sizes) const {
  sizes_of_cuts_.clear();
  for (const auto cut : part.region.cuts)
    for (const auto split : cuts_[cut].splits) sizes_of_cuts_.push_back(sizes[split]);
  const auto [known, fresh] = part.known->at(sizes_of_cuts_);
  if (fresh) *known = sum_pieces(part, sizes);
  return *known;
}

std::int64_t CostModel::sum_pieces(const RegionPart& part, std::span<const std::int64_t> sizes) const {
  std::vector<Cutting> cuttings;
  cuttings.reserve(part.region.cuts.size());
  for (const auto cut : part.region.cuts) {
    cuttings.push_back({wire_sizes_[cuts_[cut].wire.index]});
    for (const auto split : cuts_[cut].splits) cuttings.back().sizes.push_back(sizes[split]);
  }
  return sum_tied(part.region, cuttings, wire_sizes_.size(), part.factor);
}

Footprints CostModel::factor(const Footprint& footprint, const Region& region) const {
  const auto values = [footprint](const Intervals& at) {
    Checked product{1};
    for (const auto& [index, size] : footprint.indices) product.times(napkin::footprint(index, at, size).length());
    return product.value;
  };
  return {values, shaped(footprint, region), footprint.inside && footprint.indices.front().first.divisor == 1};
}

std::vector<bool> CostModel::shaped(const Footprint& footprint, const Region& region) const {
  std::vector<bool> all;
  for (const auto wire : region.wires)
    all.push_back(std::ranges::any_of(footprint.cuts, [&](std::size_t cut) { return cuts_[cut].wire == wire; }));
  return all;
}

// Smaller pieces have fewer entries and are run less often.
void CostModel::shares(const Figures& held, Figures& figures) const {
  figures.shares.resize(shares_.size());
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const auto entries = product(shares_[i].entries, held, figures.overflow);
    figures.shares[i] = 1 - std::pow(1 - shares_[i].density, static_cast<double>(entries));
  }
}

// Returns lower bounds. Every piece that is run contains a position that is run, and a piece that counts once has at
// most as many positions as a whole one.
void CostModel::bound_regions(std::span<const std::int64_t> sizes, std::span<const std::int64_t> grains,
                              Figures& figures) const {
  figures.regions.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    auto& least = figures.regions[i] = least_positions_[i];
    for (std::size_t w = 0; w < regions_[i].wires.size(); ++w)
      if (!regions_[i].measured[w]) least /= std::max<std::int64_t>(1, figures.lengths[regions_[i].cuts[w]]);
    if (!grains.empty()) least = std::max(least, least_run(i, sizes, grains, figures));
  }
}

// A tighter bound with pieces of one grain instead of positions: every piece that is run consists of grains, one of
// which is run. If all sizes are known, the bound is the sum itself. It is 0 if more than grains count, or if there are
// too many grains to visit.
std::int64_t CostModel::least_run(std::size_t index, std::span<const std::int64_t> sizes,
                                  std::span<const std::int64_t> grains, const Figures& figures) const {
  constexpr std::int64_t most_grains = 10'000;  // of all wires except the one with the most
  const auto& region = regions_[index];
  bool known = true;
  std::int64_t all = 1, most = 1;
  for (const auto cut : region.cuts) {
    for (const auto split : cuts_[cut].splits) known = known && sizes[split] == grains[split];
    const auto grain = piece(cuts_[cut], grains);
    const auto count = (wire_sizes_[cuts_[cut].wire.index] + grain - 1) / grain;
    most = std::max(most, count);
    if (__builtin_mul_overflow(all, count, &all)) return 0;
  }
  if (known) return sum_region(index, sizes);
  if (region.part != Region::Part::run || !region.footprints.empty() || all / most > most_grains) return 0;
  auto least = sum_region(index, grains);
  for (std::size_t w = 0; w < region.wires.size(); ++w) {
    const auto grain = piece(cuts_[region.cuts[w]], grains);
    if (!region.measured[w]) least /= (figures.lengths[region.cuts[w]] + grain - 1) / grain;
  }
  return least;
}

std::int64_t CostModel::piece(const Cut& cut, std::span<const std::int64_t> sizes) const {
  auto length = std::max<std::int64_t>(1, wire_sizes_[cut.wire.index]);
  for (const auto split : cut.splits) length = std::min(length, sizes[split]);
  return length;
}

// Counts the positions that the conditions let through, in pieces of about the length of the wire divided by `grid`.
// Only pieces that pass as a whole count.
std::int64_t CostModel::positions(const Region& region, std::int64_t grid) const {
  Region open = region;
  open.part = Region::Part::open;
  open.footprints.clear();
  open.measured.assign(region.wires.size(), true);
  open.open = {{}, std::vector<std::size_t>(region.wires.size(), 1)};
  for (const auto& test : region.needs)
    open.open.conditions.insert(open.open.conditions.end(), test.conditions.begin(), test.conditions.end());
  open.needs.clear();
  std::vector<Cutting> cuttings;
  for (const auto wire : region.wires) {
    const auto extent = wire_sizes_[wire.index];
    cuttings.push_back({extent, {std::max<std::int64_t>(1, extent / grid)}});
  }
  return sum(open, cuttings, wire_sizes_.size(), {});
}

double CostModel::share(const Region& region) const {
  double all = 1;
  for (const auto wire : region.wires) {
    if (!sized_[wire.index]) return 1;
    all *= static_cast<double>(wire_sizes_[wire.index]);
  }
  // Position by position along two wires; along more, in pieces, which leaves out some at the edge of a mask.
  constexpr std::int64_t grid_of_many = 32;
  return static_cast<double>(positions(region, region.wires.size() <= 2 ? INT64_MAX : grid_of_many)) / all;
}

std::vector<MaskCost> CostModel::masks(const Diagram& diagram, const Figures& figures) const {
  std::vector<MaskCost> all;
  for (const auto& mask : masks_) {
    bool overflow = false;
    MaskCost cost{mask.loop.level,
                  diagram.at(mask.loop.wire).name,
                  mask.asks,
                  product(mask.run, figures, overflow),
                  product(mask.all, figures, overflow),
                  !mask.asks.empty()};
    for (const auto& condition : mask.needs) cost.conditions.push_back(to_text(diagram, condition));
    all.push_back(std::move(cost));
  }
  return all;
}

}  // namespace napkin
