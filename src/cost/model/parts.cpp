// Divides the regions of a model into independent parts, and finds the factors of their pieces.
#include "cost/model/parts.hpp"

#include <algorithm>
#include <utility>

#include "cost/model/checked.hpp"
#include "cost/regions/independent.hpp"

namespace napkin {
namespace {

std::vector<bool> shaped_wires(const CostModel& model, const CostModel::Footprint& footprint, const Region& region) {
  std::vector<bool> all;
  for (const auto wire : region.wires)
    all.push_back(std::ranges::any_of(footprint.cuts, [&](std::size_t cut) { return model.cuts[cut].wire == wire; }));
  return all;
}

Footprints factor(const CostModel& model, const CostModel::Footprint& footprint, const Region& region) {
  const auto values = [footprint](const Intervals& at) {
    Checked product{1};
    for (const auto& [index, size] : footprint.indices) product.times(napkin::footprint(index, at, size).length());
    return product.value;
  };
  return {values, shaped_wires(model, footprint, region),
          footprint.inside && footprint.indices.front().first.divisor == 1};
}

std::size_t part_number(CostModel& model, Region region) {
  auto& parts = model.parts;
  const auto known = std::ranges::find(parts, region, &CostModel::RegionPart::region);
  if (known != parts.end()) return static_cast<std::size_t>(known - parts.begin());
  std::vector<Footprints> factors;
  for (const auto footprint : region.footprints) factors.push_back(factor(model, model.footprints[footprint], region));
  auto all = product_of(std::move(factors), region.wires.size());
  parts.push_back({std::move(region), std::move(all)});
  return parts.size() - 1;
}

}  // namespace

void find_parts(CostModel& model) {
  for (const auto& region : model.regions) {
    std::vector<std::vector<bool>> shaped;
    for (const auto footprint : region.footprints)
      shaped.push_back(shaped_wires(model, model.footprints[footprint], region));
    const auto add = [&](Region::Part what, std::vector<std::size_t>& parts) {
      for (auto& part : independent(region, what, shaped)) parts.push_back(part_number(model, std::move(part)));
    };
    auto& [whole, open] = model.sums.emplace_back();
    add(region.part == Region::Part::open ? Region::Part::open : Region::Part::run, whole);
    if (region.part == Region::Part::masked) add(Region::Part::open, open);
  }
}

void share_sums(CostModel& model, KnownSums& sums) {
  for (auto& part : model.parts) {
    KnownSums::Asked asked{part.region, {}, {}};
    asked.region.cuts.clear(), asked.region.footprints.clear();
    for (const auto cut : part.region.cuts) {
      asked.splits.push_back(model.cuts[cut].splits.size());
      asked.extents.push_back(model.wire_sizes[model.cuts[cut].wire.index]);
    }
    for (const auto footprint : part.region.footprints) asked.footprints.push_back(model.footprints[footprint].indices);
    part.known = sums.of(std::move(asked));
  }
}

}  // namespace napkin
