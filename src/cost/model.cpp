// Evaluates the products of a cost model for one choice of sizes.
#include "cost/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cost/reach.hpp"
#include "diagram/checked.hpp"

namespace napkin {
namespace {

// More than any room where it overflows.

}  // namespace

void CostModel::figures(std::span<const std::int64_t> sizes, Figures& figures) const {
  lengths(sizes, figures);
  counts(sizes, figures);
  sum_regions(sizes, figures);
  shares(figures, figures);
  levels(figures);
  sectors(sizes, figures);
  memory(figures, true);
}

void CostModel::compared(std::span<const std::int64_t> sizes, Figures& figures) const {
  lengths(sizes, figures);
  counts(sizes, figures);
  sum_regions(sizes, figures);
  shares(figures, figures);
  levels(figures);
  sectors(sizes, figures);
  memory(figures, false);
}

void CostModel::least_held(std::span<const std::int64_t> sizes, std::span<const std::int64_t> most,
                           Figures& figures) const {
  lengths(sizes, figures, Reach::least);
  groups(most, figures);
  memory(figures, false);
}

void CostModel::least_held(std::span<const std::int64_t> sizes, std::size_t level, Figures& figures) const {
  lengths(sizes, figures, Reach::least);
  figures.holdings.resize(holdings_.size());
  memory(figures, false, level);
}

void CostModel::least_moved(std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                            std::span<const std::int64_t> grains) const {
  lengths(sizes, figures, Reach::least);
  counts(sizes, figures, Reach::least);
  bound_regions(sizes, grains, figures);
  shares(held, figures);
  levels(figures);
}

void CostModel::sum_regions(std::span<const std::int64_t> sizes, Figures& figures) const {
  figures.regions.resize(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) figures.regions[i] = sum_region(i, sizes);
}

// Told once for all choices of the other sizes.
std::int64_t CostModel::sum_region(std::size_t index, std::span<const std::int64_t> sizes) const {
  const auto& region = regions_[index];
  sums_.resize(regions_.size());
  sizes_of_cuts_.clear();
  for (const auto cut : region.cuts)
    for (const auto split : cuts_[cut].splits) sizes_of_cuts_.push_back(sizes[split]);
  const auto [known, fresh] = sums_[index].try_emplace(sizes_of_cuts_);
  if (fresh) known->second = sum_pieces(region, sizes);
  return known->second;
}

std::int64_t CostModel::sum_pieces(const Region& region, std::span<const std::int64_t> sizes) const {
  std::vector<Pieces> pieces;
  std::vector<const Pieces*> all;
  for (const auto cut : region.cuts) {
    std::vector<std::int64_t> nested;
    for (const auto split : cuts_[cut].splits) nested.push_back(sizes[split]);
    pieces.push_back(cut_into_pieces(wire_sizes_[cuts_[cut].wire.index], nested));
  }
  for (const auto& each : pieces) all.push_back(&each);
  const auto values = [&](const Intervals& at) {
    Checked product{1};
    for (const auto footprint : region.footprints)
      for (const auto& [index, size] : footprints_[footprint].indices)
        product.times(napkin::footprint(index, at, size).length());
    return product.value;
  };
  return sum(region, all, wire_sizes_.size(), {values, shaped(region)});
}

std::vector<bool> CostModel::shaped(const Region& region) const {
  const auto has = [&](WireId wire) {
    return std::ranges::any_of(region.footprints, [&](std::size_t footprint) {
      const auto& cuts = footprints_[footprint].cuts;
      return std::ranges::any_of(cuts, [&](std::size_t cut) { return cuts_[cut].wire == wire; });
    });
  };
  std::vector<bool> all;
  for (const auto wire : region.wires) all.push_back(has(wire));
  return all;
}

// Smaller pieces have fewer entries, and are run less often.
void CostModel::shares(const Figures& held, Figures& figures) const {
  figures.shares.resize(shares_.size());
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const auto entries = product(shares_[i].entries, held, figures.overflow);
    figures.shares[i] = 1 - std::pow(1 - shares_[i].density, static_cast<double>(entries));
  }
}

// Every piece that is run has a position that is run, and a piece that counts once has at most as many positions as a
// whole one.
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

// The same in pieces of one grain in place of positions: every piece that is run consists of grains, one of which is
// run. Where sizes are known it is the sum itself; else 0 where more than grains count or there are too many to look
// at.
std::int64_t CostModel::least_run(std::size_t index, std::span<const std::int64_t> sizes,
                                  std::span<const std::int64_t> grains, const Figures& figures) const {
  constexpr std::int64_t most_grains = 10'000;  // of all wires but the one that has most
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

void CostModel::lengths(std::span<const std::int64_t> sizes, Figures& figures, Reach kind) const {
  figures.overflow = false;
  figures.levels.assign(hardware_->levels.size(), {});
  figures.lengths.resize(cuts_.size());
  figures.reaches.resize(footprints_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    figures.lengths[i] = wire_sizes_[cuts_[i].wire.index];
    for (const auto split : cuts_[i].splits) figures.lengths[i] = std::min(figures.lengths[i], sizes[split]);
  }
  for (std::size_t i = 0; i < footprints_.size(); ++i)
    if (!footprints_[i].all_pieces)
      figures.reaches[i] =
          kind == Reach::least ? least_reach(footprints_[i], sizes, figures) : reach(footprints_[i], sizes);
  groups(sizes, figures);
}

void CostModel::groups(std::span<const std::int64_t> sizes, Figures& figures) const {
  for (auto& level : figures.levels) level.groups_per_parent = 1;
  for (const auto& grouping : groupings_) {
    const auto outer = piece(cuts_[grouping.above], sizes), inner = piece(cuts_[grouping.cut], sizes);
    Checked all{figures.levels[grouping.level].groups_per_parent};
    all.times((outer + inner - 1) / inner);
    figures.overflow = figures.overflow || all.overflow;
    figures.levels[grouping.level].groups_per_parent = all.value;
  }
}

void CostModel::counts(std::span<const std::int64_t> sizes, Figures& figures, Reach kind) const {
  figures.counts.resize(cuts_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i)
    figures.counts[i] = count_pieces(wire_sizes_[cuts_[i].wire.index], cuts_[i].splits, sizes);
  for (std::size_t i = 0; i < footprints_.size(); ++i)
    if (footprints_[i].all_pieces)
      figures.reaches[i] =
          kind == Reach::least ? least_reach(footprints_[i], sizes, figures) : reach(footprints_[i], sizes);
  for (const auto& grouping : groupings_) {
    auto& at = figures.levels[grouping.level];
    Checked groups{at.groups};
    groups.times(figures.counts[grouping.cut]);
    figures.overflow = figures.overflow || groups.overflow;
    at.groups = groups.value;
  }
}

std::int64_t CostModel::product(const Product& product, const Figures& figures, bool& overflow) {
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

// Results stay with the child that computes them. An input of the diagram lies with a child that reads it; what another
// kernel wrote lies anywhere.
std::int64_t CostModel::crossing(const Transfer& transfer, std::int64_t values, const Figures& figures) const {
  if (transfer.saved) return 0;
  const auto children = std::min(figures.levels[transfer.level].groups, hardware_->total(transfer.level));
  const auto at_home = values / children;
  return std::max<std::int64_t>(0, values - (transfer.from_file ? std::max(transfer.array_values, at_home) : at_home));
}

void CostModel::cross(const Transfer& transfer, std::int64_t values, Figures& figures) const {
  auto& at = figures.levels[transfer.level];
  const auto bytes = crossing(transfer, values, figures) * transfer.bytes;
  const auto loads =
      static_cast<double>(product(transfer.loads, figures, figures.overflow)) / static_cast<double>(at.groups);
  at.crossing_bytes += bytes;
  if (loads <= 1)
    at.crossing_once_bytes += bytes;
  else
    at.crossing_steps = std::max(at.crossing_steps, loads);
}

// What lies together in an array is moved in whole sectors: the pieces of its last dimension that is cut, with all
// dimensions behind that. Where an index is not one wire, or masks leave pieces of it out, bytes are counted alone.
double CostModel::sector_bytes(const Transfer& transfer, std::span<const std::int64_t> sizes, double sector,
                               const Figures& figures) const {
  bool unused = false;
  const auto bytes = static_cast<double>(product(transfer.values, figures, unused)) * transfer.bytes;
  std::int64_t together = transfer.bytes;
  for (const auto i : transfer.rows) {
    const auto& cut = cuts_[i];
    const auto size = wire_sizes_[cut.wire.index];
    if (figures.counts[i] > 1) {
      const Sectors memory(static_cast<std::int64_t>(sector));
      const auto row = size * together, rows = std::max<std::int64_t>(1, transfer.array_values * transfer.bytes / row);
      const auto all_rows = memory.sum(
          rows, row, [&](std::int64_t at) { return memory.of_pieces(at, size, cut.splits, sizes, together); });
      return bytes / static_cast<double>(row) / static_cast<double>(rows) * sector * static_cast<double>(all_rows);
    }
    if (__builtin_mul_overflow(together, size, &together)) return bytes;
  }
  const auto all = static_cast<double>(together);
  return transfer.rows_alone ? bytes / all * std::ceil(all / sector) * sector : bytes;
}

void CostModel::sectors(std::span<const std::int64_t> sizes, Figures& figures) const {
  for (std::size_t level = 1; level < hardware_->levels.size(); ++level)
    if (hardware_->levels[level].sector) figures.levels[level].sector_bytes = 0;
  for (const auto& transfer : transfers_)
    if (const auto& sector = hardware_->levels[transfer.level].sector)
      figures.levels[transfer.level].sector_bytes += sector_bytes(transfer, sizes, sector->value, figures);
}

void CostModel::levels(Figures& figures) const {
  for (const auto& transfer : transfers_) {
    auto& at = figures.levels[transfer.level];
    const auto values = product(transfer.values, figures, figures.overflow);
    Checked total{at.transfer_values}, bytes{values};
    total.plus(values);
    bytes.times(transfer.bytes);
    bytes.plus(at.transfer_bytes);
    figures.overflow = figures.overflow || total.overflow || bytes.overflow;
    at.transfer_values = total.value;
    at.transfer_bytes = bytes.value;
    at.sector_bytes = static_cast<double>(bytes.value);
    if (has_siblings(transfer.level)) cross(transfer, values, figures);
  }
  figures.operations.assign(work_.size(), 0);
  figures.masks = 0;
  for (const auto& [work, each, positions, of_masks] : operations_) {
    const double all = each * static_cast<double>(product(positions, figures, figures.overflow));
    figures.operations[work] += all;
    if (of_masks) figures.masks += all;
  }
  figures.steps = 0;
  bool unused = false;
  for (const auto& step : steps_) figures.steps += static_cast<double>(product(step, figures, unused));
}

void CostModel::memory(Figures& figures, bool everything) const {
  figures.holdings.resize(holdings_.size());
  for (std::size_t level = 1; level < ideal_.size(); ++level) memory(figures, everything, level);
}

// Values are weighed with their bytes, or with 1.
void CostModel::memory(Figures& figures, bool everything, std::size_t level) const {
  for (const auto i : held_[level]) figures.holdings[i] = product(holdings_[i].values, figures, figures.overflow);
  auto& at = figures.levels[level];
  const bool in_values = hardware_->levels[level].in_values;
  if (everything || !in_values) {
    const auto weight = [&](std::size_t i) { return holdings_[i].bytes; };
    at.memory_bytes = largest(level, figures, weight);
    at.ideal_memory_bytes = total(ideal_[level], figures, weight);
    at.fullest_bytes = fullest(level, {}, figures, weight);
    at.ideal_fullest_bytes = fullest(level, at.ideal_memory_bytes, figures, weight);
  }
  if (everything || in_values) {
    const auto weight = [](std::size_t) { return 1; };
    at.memory_values = largest(level, figures, weight);
    at.ideal_memory_values = total(ideal_[level], figures, weight);
    at.fullest_values = fullest(level, {}, figures, weight);
    at.ideal_fullest_values = fullest(level, at.ideal_memory_values, figures, weight);
  }
}

template <class Weight>
std::int64_t CostModel::total(const std::vector<std::size_t>& held, Figures& figures, const Weight& weight) const {
  Checked sum{0};
  for (const auto i : held) {
    Checked more{figures.holdings[i]};
    more.times(weight(i));
    sum.plus(more.value);
    sum.overflow = sum.overflow || more.overflow;
  }
  figures.overflow = figures.overflow || sum.overflow;
  return sum.value;
}

template <class Weight>
std::int64_t CostModel::of_column(const Column& column, const std::vector<std::size_t>& held, Figures& figures,
                                  const Weight& weight) const {
  Checked sum{total(held, figures, weight)};
  for (const auto& [a, b] : column.shared)
    sum.plus(-std::min(figures.holdings[a] * weight(a), figures.holdings[b] * weight(b)));
  return sum.value;
}

template <class Weight>
std::int64_t CostModel::largest(std::size_t level, Figures& figures, const Weight& weight) const {
  const auto common = total(common_[level], figures, weight);
  std::int64_t most = 0;
  for (const auto& column : columns_) {
    if (column.level != level) continue;
    Checked sum{of_column(column, column.own, figures, weight)};
    sum.plus(common);
    figures.overflow = figures.overflow || sum.overflow;
    most = std::max(most, sum.value);
  }
  return most;
}

// Of the groups of a parent, those that one of its children works on: one after another, or side by side in a memory
// that all children share.
std::int64_t CostModel::turns_of(std::size_t level, const Figures& figures) const {
  const auto children = hardware_->levels[level].count;
  return (figures.levels[level].groups_per_parent + children - 1) / children;
}

// The first level below whose groups take turns; 0 where none do.
std::size_t CostModel::turns_below(std::size_t level, const Figures& figures) const {
  for (auto below = level + 1; below < hardware_->levels.size(); ++below)
    if (!hardware_->levels[below].shared && turns_of(below, figures) > 1) return below;
  return 0;
}

// In one memory, how many groups are at work, and how many wait at each level: from the innermost level outwards,
// groups side by side are as many times what one of them is, and of groups in turn one works while the others wait.
void CostModel::instances(std::size_t level, Figures& figures) const {
  auto& all = figures.instances;
  all.assign(level + 1, 0);
  all[0] = 1;
  Checked below{1};
  for (auto outer = level; outer > 0; --outer) {
    const bool shared = hardware_->levels[outer].shared;
    const auto here = shared && outer == level ? figures.levels[outer].groups_per_parent : turns_of(outer, figures);
    if (shared)
      for (auto& count : all) count = saturating_multiply(count, here);
    else
      all[outer] = saturating_multiply(here - 1, below.value);
    below.times(here);
    if (below.overflow) below = Checked{INT64_MAX};
  }
}

// `at_work` instead of what the columns hold, where it is given.
template <class Weight>
std::int64_t CostModel::fullest(std::size_t level, std::optional<std::int64_t> at_work, Figures& figures,
                                const Weight& weight) const {
  instances(level, figures);
  if (instants_[level].empty())
    return saturating_multiply(figures.instances[0], at_work ? *at_work : largest(level, figures, weight));
  const auto below = turns_below(level, figures);
  std::int64_t most = 0;
  for (const auto& instant : instants_[level]) {
    if (instant.turns != below) continue;
    const auto here = at_work ? *at_work : of_column(instant.at_work, instant.at_work.held, figures, weight);
    most = std::max(most, of_all(instant, here, figures, weight));
  }
  return most;
}

template <class Weight>
std::int64_t CostModel::of_all(const Instant& instant, std::int64_t at_work, Figures& figures,
                               const Weight& weight) const {
  Checked all{saturating_multiply(figures.instances[0], at_work)};
  for (const auto& waiting : instant.waiting) {
    if (figures.instances[waiting.level] == 0) continue;
    const auto kept = std::max(total(waiting.before, figures, weight), total(waiting.after, figures, weight));
    all.plus(saturating_multiply(figures.instances[waiting.level], kept));
  }
  return all.overflow ? INT64_MAX : all.value;
}

double CostModel::room_of_all(std::size_t level) const {
  const auto& memory = hardware_->levels[level];
  if (!memory.shared) return own_rooms_[level];
  return memory.capacity ? memory.capacity->value : std::numeric_limits<double>::infinity();
}

}  // namespace napkin
