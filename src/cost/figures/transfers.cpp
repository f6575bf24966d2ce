// Adds up what a partition moves, computes and repeats.
#include "cost/figures/transfers.hpp"

#include <algorithm>
#include <cmath>

#include "cost/figures/products.hpp"
#include "cost/figures/sectors.hpp"
#include "cost/model/checked.hpp"

namespace napkin {
namespace {

using Transfer = CostModel::Transfer;

// Returns the values that cross between children. Results stay with the child that computes them. An input of the
// diagram lies with a child that reads it. A result of another kernel may lie with any child.
std::int64_t crossing(const CostModel& model, const Transfer& transfer, std::int64_t values, const Figures& figures) {
  if (transfer.saved) return 0;
  const auto children = std::min(figures.levels[transfer.level].groups, model.hardware->total(transfer.level));
  const auto at_home = values / children;
  return std::max<std::int64_t>(0, values - (transfer.from_file ? std::max(transfer.array_values, at_home) : at_home));
}

void cross(const CostModel& model, const Transfer& transfer, std::int64_t values, Figures& figures) {
  auto& at = figures.levels[transfer.level];
  const auto bytes = transfer.bytes_of(crossing(model, transfer, values, figures));
  const auto loads =
      static_cast<double>(value_of(transfer.loads, figures, figures.overflow)) / static_cast<double>(at.groups);
  at.crossing_bytes += bytes;
  if (loads <= 1)
    at.crossing_once_bytes += bytes;
  else
    at.crossing_steps = std::max(at.crossing_steps, loads);
}

void add_transfer(const Transfer& transfer, std::int64_t values, Figures& figures) {
  auto& at = figures.levels[transfer.level];
  Checked total{at.transfer_values}, bytes{values};
  total.plus(values);
  if (transfer.share > 1) bytes.value = (values + transfer.share - 1) / transfer.share;
  bytes.times(transfer.bytes);
  bytes.plus(at.transfer_bytes);
  figures.overflow = figures.overflow || total.overflow || bytes.overflow;
  at.transfer_values = total.value;
  at.transfer_bytes = bytes.value;
  at.sector_bytes = static_cast<double>(bytes.value);
}

// Returns the bytes moved in whole sectors. Contiguous parts of an array are pieces of its last dimension that is cut,
// with all dimensions behind it. If an index is not a single wire, or masks skip pieces, only the bytes themselves are
// counted. If values share a byte, these values are counted instead of bytes.
double sector_bytes(const CostModel& model, const Transfer& transfer, std::span<const std::int64_t> sizes,
                    double sector, const Figures& figures) {
  bool unused = false;
  const auto parts = static_cast<double>(value_of(transfer.values, figures, unused)) * transfer.bytes;
  const auto parts_of_sector = sector * transfer.share;
  std::int64_t together = transfer.bytes;
  for (const auto i : transfer.rows) {
    const auto& cut = model.cuts[i];
    const auto size = model.wire_sizes[cut.wire.index];
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

}  // namespace

void add_transfers(const CostModel& model, Figures& figures) {
  for (const auto& transfer : model.transfers) {
    const auto values = value_of(transfer.values, figures, figures.overflow);
    add_transfer(transfer, values, figures);
    if (has_siblings(model, transfer.level)) cross(model, transfer, values, figures);
  }
}

void add_operations(const CostModel& model, Figures& figures) {
  figures.operations.assign(model.work.size(), 0);
  figures.masks = 0;
  for (const auto& [work, each, positions, of_masks] : model.operations) {
    const double all = each * static_cast<double>(value_of(positions, figures, figures.overflow));
    figures.operations[work] += all;
    if (of_masks) figures.masks += all;
  }
  figures.steps = 0;
  bool unused = false;
  for (const auto& step : model.steps) figures.steps += static_cast<double>(value_of(step, figures, unused));
}

void add_sectors(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures) {
  const auto& levels = model.hardware->levels;
  for (std::size_t level = 1; level < levels.size(); ++level)
    if (levels[level].sector) figures.levels[level].sector_bytes = 0;
  for (const auto& transfer : model.transfers)
    if (const auto& sector = levels[transfer.level].sector)
      figures.levels[transfer.level].sector_bytes += sector_bytes(model, transfer, sizes, sector->value, figures);
}

}  // namespace napkin
