// Evaluates the products of a cost model for one choice of sizes.
#include "cost/model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "loops/pieces.hpp"

namespace napkin {
namespace {

// Pieces of `extent` under nested sizes; ragged last pieces are cut on their own.
std::int64_t pieces(std::int64_t extent, const std::vector<std::size_t>& splits, std::size_t at,
                    std::span<const std::int64_t> sizes) {
  if (at == splits.size()) return 1;
  const auto piece = std::min(extent, sizes[splits[at]]);
  if (piece <= 0) return 0;
  const auto whole = extent / piece * pieces(piece, splits, at + 1, sizes);
  return extent % piece == 0 ? whole : whole + pieces(extent % piece, splits, at + 1, sizes);
}

// Calls `visit` with every interval of a wire under nested sizes.
template <class Visit>
void each_piece(Interval extent, const std::vector<std::size_t>& splits, std::size_t at,
                std::span<const std::int64_t> sizes, const Visit& visit) {
  if (at == splits.size()) return visit(extent);
  const auto piece = std::min(extent.length(), sizes[splits[at]]);
  for (auto begin = extent.begin; begin < extent.end; begin += piece)
    each_piece({begin, std::min(extent.end, begin + piece)}, splits, at + 1, sizes, visit);
}

struct Checked {
  std::int64_t value;
  bool overflow = false;
  void times(std::int64_t factor) { overflow = __builtin_mul_overflow(value, factor, &value) || overflow; }
  void plus(std::int64_t more) { overflow = __builtin_add_overflow(value, more, &value) || overflow; }
};

}  // namespace

void CostModel::figures(std::span<const std::int64_t> sizes, Figures& figures) const {
  measure(sizes, figures);
  sum_regions(sizes, figures);
  levels(figures);
  memory(figures);
}

void CostModel::held(std::span<const std::int64_t> sizes, Figures& figures) const {
  measure(sizes, figures);
  memory(figures);
}

void CostModel::least_moved(std::span<const std::int64_t> sizes, Figures& figures) const {
  measure(sizes, figures);
  bound_regions(figures);
  levels(figures);
}

void CostModel::sum_regions(std::span<const std::int64_t> sizes, Figures& figures) const {
  figures.regions.resize(regions_.size());
  std::map<std::size_t, Pieces> pieces;
  const auto pieces_of = [&](std::size_t index) {
    const auto [at, fresh] = pieces.try_emplace(index);
    std::vector<std::int64_t> nested;
    for (const auto split : cuts_[index].splits) nested.push_back(sizes[split]);
    if (fresh) at->second = cut_into_pieces(wire_sizes_[cuts_[index].wire.index], nested);
    return &at->second;
  };
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    std::vector<const Pieces*> all;
    for (const auto cut : regions_[i].cuts) all.push_back(pieces_of(cut));
    figures.regions[i] = sum(regions_[i], all, wire_sizes_.size(), [&](const Intervals& at) {
      Checked values{1};
      for (const auto footprint : regions_[i].footprints)
        for (const auto& [index, size] : footprints_[footprint].indices)
          values.times(napkin::footprint(index, at, size).length());
      return values.value;
    });
  }
}

// Every piece that is run has a position that is run, and a piece that counts once has at most as many positions as a
// whole one.
void CostModel::bound_regions(Figures& figures) const {
  figures.regions.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    auto& least = figures.regions[i] = least_positions_[i];
    for (std::size_t w = 0; w < regions_[i].wires.size(); ++w)
      if (!regions_[i].measured[w]) least /= std::max<std::int64_t>(1, figures.lengths[regions_[i].cuts[w]]);
  }
}

// Positions that the conditions let through, counted in pieces of about the size of the wire over `grid`, each of which
// they let through as a whole.
std::int64_t CostModel::positions(const Region& region, std::int64_t grid) const {
  Region open = region;
  open.part = Region::Part::open;
  open.footprints.clear();
  open.measured.assign(region.wires.size(), true);
  open.open = {{}, std::vector<std::size_t>(region.wires.size(), 0)};
  for (const auto& test : region.needs)
    open.open.conditions.insert(open.open.conditions.end(), test.conditions.begin(), test.conditions.end());
  open.needs.clear();
  std::vector<Pieces> pieces;
  for (const auto wire : region.wires) {
    const auto extent = wire_sizes_[wire.index];
    pieces.push_back(equal_pieces(extent, std::max<std::int64_t>(1, extent / grid), 0));
  }
  std::vector<const Pieces*> all;
  for (const auto& each : pieces) all.push_back(&each);
  return sum(open, all, wire_sizes_.size(), {});
}

double CostModel::share(const Region& region) const {
  double all = 1;
  for (const auto wire : region.wires) {
    if (!shape_.derivation->scratch.size(wire)) return 1;
    all *= static_cast<double>(wire_sizes_[wire.index]);
  }
  return static_cast<double>(positions(region, INT64_MAX)) / all;
}

std::vector<MaskCost> CostModel::masks(const Figures& figures) const {
  const auto& diagram = shape_.program.scratch;
  std::vector<MaskCost> all;
  for (const auto& mask : masks_) {
    MaskCost cost{mask.loop.level, diagram.at(mask.loop.wire).name, {}, figures.regions[mask.run], 1};
    for (const auto& condition : mask.needs) cost.conditions.push_back(to_text(diagram, condition));
    for (const auto cut : mask.cuts) cost.all *= figures.counts[cut];
    all.push_back(std::move(cost));
  }
  return all;
}

void CostModel::measure(std::span<const std::int64_t> sizes, Figures& figures) const {
  figures.overflow = false;
  figures.counts.resize(cuts_.size());
  figures.lengths.resize(cuts_.size());
  figures.reaches.resize(footprints_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    const auto extent = wire_sizes_[cuts_[i].wire.index];
    figures.counts[i] = pieces(extent, cuts_[i].splits, 0, sizes);
    figures.lengths[i] = extent;
    for (const auto split : cuts_[i].splits) figures.lengths[i] = std::min(figures.lengths[i], sizes[split]);
  }
  for (std::size_t i = 0; i < footprints_.size(); ++i) figures.reaches[i] = reach(footprints_[i], sizes);
  figures.levels.assign(hardware_->levels.size(), {});
  for (const auto& grouping : groupings_) {
    auto& at = figures.levels[grouping.level];
    Checked groups{at.groups};
    groups.times(figures.counts[grouping.cut]);
    figures.overflow = figures.overflow || groups.overflow;
    at.groups = groups.value;
    const auto outer = figures.lengths[grouping.above], inner = figures.lengths[grouping.cut];
    if (inner > 0) at.groups_per_parent *= (outer + inner - 1) / inner;
  }
}

std::int64_t CostModel::product(const Product& product, Figures& figures) const {
  Checked all{1};
  for (const auto wire : product.whole) all.times(wire_sizes_[wire.index]);
  for (const auto cut : product.counts) all.times(figures.counts[cut]);
  for (const auto cut : product.lengths) all.times(figures.lengths[cut]);
  for (const auto footprint : product.footprints) all.times(figures.reaches[footprint]);
  if (product.region) all.times(figures.regions[*product.region]);
  figures.overflow = figures.overflow || all.overflow;
  return all.overflow || all.value > INT64_MAX / 8 ? (figures.overflow = true, 0) : all.value;
}

// Over all pieces: the sum, over the combinations of pieces, of the product of the clipped footprints.
std::int64_t CostModel::reach(const Footprint& footprint, std::span<const std::int64_t> sizes) const {
  Intervals at(wire_sizes_.size());
  for (std::size_t w = 0; w < at.size(); ++w) at[w] = {0, wire_sizes_[w]};
  Checked all{0};
  std::int64_t largest = 0;
  const auto visit = [&](const auto& self, std::size_t depth) -> void {
    if (depth < footprint.cuts.size()) {
      const auto& cut = cuts_[footprint.cuts[depth]];
      each_piece({0, wire_sizes_[cut.wire.index]}, cut.splits, 0, sizes, [&](Interval piece) {
        at[cut.wire.index] = piece;
        self(self, depth + 1);
      });
      return;
    }
    Checked values{1};
    for (const auto& [index, size] : footprint.indices) values.times(napkin::footprint(index, at, size).length());
    all.plus(values.overflow ? INT64_MAX : values.value);
    largest = std::max(largest, values.value);
  };
  visit(visit, 0);
  return footprint.all_pieces ? (all.overflow ? INT64_MAX : all.value) : largest;
}

void CostModel::levels(Figures& figures) const {
  for (const auto& transfer : transfers_) {
    auto& at = figures.levels[transfer.level];
    const auto values = product(transfer.values, figures);
    Checked total{at.transfer_values}, bytes{values};
    total.plus(values);
    bytes.times(transfer.bytes);
    bytes.plus(at.transfer_bytes);
    figures.overflow = figures.overflow || total.overflow || bytes.overflow;
    at.transfer_values = total.value;
    at.transfer_bytes = bytes.value;
  }
  figures.operations.assign(work_.size(), 0);
  for (const auto& [work, each, positions] : operations_)
    figures.operations[work] += each * static_cast<double>(product(positions, figures));
}

void CostModel::memory(Figures& figures) const {
  struct Sum {
    Checked values{0}, bytes{0};
  };
  const auto add = [&](Sum& sum, std::int64_t size, int bytes) {
    Checked more{size};
    more.times(bytes);
    sum.values.plus(size);
    sum.bytes.plus(more.value);
    figures.overflow = figures.overflow || more.overflow || sum.values.overflow || sum.bytes.overflow;
  };
  figures.holdings.resize(holdings_.size());
  for (std::size_t i = 0; i < holdings_.size(); ++i) figures.holdings[i] = product(holdings_[i].values, figures);
  for (const auto& column : columns_) {
    Sum sum;
    for (const auto held : column.held) add(sum, figures.holdings[held], holdings_[held].bytes);
    for (const auto& [a, b] : column.shared) {
      const auto x = figures.holdings[a], y = figures.holdings[b];
      sum.values.plus(-std::min(x, y));
      sum.bytes.plus(-std::min(x * holdings_[a].bytes, y * holdings_[b].bytes));
    }
    auto& at = figures.levels[column.level];
    at.memory_values = std::max(at.memory_values, sum.values.value);
    at.memory_bytes = std::max(at.memory_bytes, sum.bytes.value);
  }
  for (std::size_t level = 1; level < ideal_.size(); ++level) {
    Sum sum;
    for (const auto held : ideal_[level]) add(sum, figures.holdings[held], holdings_[held].bytes);
    figures.levels[level].ideal_memory_values = sum.values.value;
    figures.levels[level].ideal_memory_bytes = sum.bytes.value;
  }
}

}  // namespace napkin
