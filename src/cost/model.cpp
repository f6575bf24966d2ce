// Evaluates the products of a cost model for one choice of sizes.
#include "cost/model.hpp"

#include <algorithm>
#include <cmath>

#include "cost/reach.hpp"

namespace napkin {
void CostModel::figures(std::span<const std::int64_t> sizes, Figures& figures) const {
  lengths(sizes, figures);
  groups(figures);
  counts(sizes, figures);
  sum_regions(sizes, figures);
  shares(figures, figures);
  levels(figures);
  sectors(sizes, figures);
  memory(figures, true, 1, most_levels);
}

void CostModel::compared(std::span<const std::int64_t> sizes, Figures& figures) const {
  lengths(sizes, figures);
  groups(figures);
  counts(sizes, figures);
  sum_regions(sizes, figures);
  shares(figures, figures);
  levels(figures);
  sectors(sizes, figures);
  memory(figures, false, 1, most_levels);
}

void CostModel::least_held(std::span<const std::int64_t> sizes, std::span<const std::int64_t> most, Figures& figures,
                           std::size_t last) const {
  lengths(sizes, figures, Reach::least);
  groups(most, figures);
  memory(figures, false, 1, last);
}

void CostModel::least_held(std::span<const std::int64_t> sizes, std::size_t level, Figures& figures) const {
  lengths(sizes, figures, Reach::least);
  groups(figures);
  memory(figures, false, level, level);
}

void CostModel::least_moved(std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                            std::span<const std::int64_t> grains) const {
  lengths(sizes, figures, Reach::least);
  groups(figures);
  counts(sizes, figures, Reach::least);
  bound_regions(sizes, grains, figures);
  shares(held, figures);
  levels(figures);
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
          kind == Reach::least ? least_reach(footprints_[i], sizes, figures) : reach(footprints_[i], sizes, figures);
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

void CostModel::groups(Figures& figures) const {
  for (auto& level : figures.levels) level.groups_per_parent = 1;
  for (const auto& [level, cut, above] : groupings_) {
    const auto outer = std::max<std::int64_t>(1, figures.lengths[above]), inner = figures.lengths[cut];
    if (inner == outer) continue;
    Checked all{figures.levels[level].groups_per_parent};
    all.times((outer + inner - 1) / inner);
    figures.overflow = figures.overflow || all.overflow;
    figures.levels[level].groups_per_parent = all.value;
  }
}

void CostModel::counts(std::span<const std::int64_t> sizes, Figures& figures, Reach kind) const {
  figures.counts.resize(cuts_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i)
    figures.counts[i] = count_pieces(wire_sizes_[cuts_[i].wire.index], cuts_[i].splits, sizes);
  for (std::size_t i = 0; i < footprints_.size(); ++i)
    if (footprints_[i].all_pieces)
      figures.reaches[i] =
          kind == Reach::least ? least_reach(footprints_[i], sizes, figures) : reach(footprints_[i], sizes, figures);
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

// Returns the values that cross between children. Results stay with the child that computes them. An input of the
// diagram lies with a child that reads it. A result of another kernel may lie with any child.
std::int64_t CostModel::crossing(const Transfer& transfer, std::int64_t values, const Figures& figures) const {
  if (transfer.saved) return 0;
  const auto children = std::min(figures.levels[transfer.level].groups, hardware_->total(transfer.level));
  const auto at_home = values / children;
  return std::max<std::int64_t>(0, values - (transfer.from_file ? std::max(transfer.array_values, at_home) : at_home));
}

void CostModel::cross(const Transfer& transfer, std::int64_t values, Figures& figures) const {
  auto& at = figures.levels[transfer.level];
  const auto bytes = transfer.bytes_of(crossing(transfer, values, figures));
  const auto loads =
      static_cast<double>(product(transfer.loads, figures, figures.overflow)) / static_cast<double>(at.groups);
  at.crossing_bytes += bytes;
  if (loads <= 1)
    at.crossing_once_bytes += bytes;
  else
    at.crossing_steps = std::max(at.crossing_steps, loads);
}

// Returns the bytes moved in whole sectors. Contiguous parts of an array are pieces of its last dimension that is cut,
// with all dimensions behind it. If an index is not a single wire, or masks skip pieces, only the bytes themselves are
// counted. If values share a byte, these values are counted instead of bytes.
double CostModel::sector_bytes(const Transfer& transfer, std::span<const std::int64_t> sizes, double sector,
                               const Figures& figures) const {
  bool unused = false;
  const auto parts = static_cast<double>(product(transfer.values, figures, unused)) * transfer.bytes;
  const auto parts_of_sector = sector * transfer.share;
  std::int64_t together = transfer.bytes;
  for (const auto i : transfer.rows) {
    const auto& cut = cuts_[i];
    const auto size = wire_sizes_[cut.wire.index];
    if (figures.counts[i] > 1) {
      const Sectors memory(static_cast<std::int64_t>(parts_of_sector));
      const auto row = size * together, rows = std::max<std::int64_t>(1, transfer.array_values * transfer.bytes / row);
      const auto all_rows = memory.of_pieces(rows, size, cut.splits, sizes, together);
      return parts / static_cast<double>(row) / static_cast<double>(rows) * sector * static_cast<double>(all_rows);
    }
    if (__builtin_mul_overflow(together, size, &together)) return parts / transfer.share;
  }
  const auto all = static_cast<double>(together);
  return transfer.rows_alone ? parts / all * std::ceil(all / parts_of_sector) * sector : parts / transfer.share;
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
    if (transfer.share > 1) bytes.value = (values + transfer.share - 1) / transfer.share;
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

}  // namespace napkin
