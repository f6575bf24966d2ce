// Computes lengths, counts and groups of the cuts of a model.
#include "cost/figures/lengths.hpp"

#include <algorithm>

#include "cost/figures/pieces.hpp"
#include "cost/model/checked.hpp"

namespace napkin {
namespace {

void find_reaches(const CostModel& model, bool all_pieces, std::span<const std::int64_t> sizes, Figures& figures,
                  Reach kind) {
  for (std::size_t i = 0; i < model.footprints.size(); ++i)
    if (model.footprints[i].all_pieces == all_pieces)
      figures.reaches[i] = reach_of(model, model.footprints[i], sizes, figures, kind);
}

void multiply_groups(std::int64_t& groups, std::int64_t factor, bool& overflow) {
  Checked all{groups};
  all.times(factor);
  overflow = overflow || all.overflow;
  groups = all.value;
}

}  // namespace

void find_lengths(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures, Reach kind) {
  figures.overflow = false;
  figures.levels.assign(model.hardware->levels.size(), {});
  figures.lengths.resize(model.cuts.size());
  figures.reaches.resize(model.footprints.size());
  for (std::size_t i = 0; i < model.cuts.size(); ++i) {
    figures.lengths[i] = model.wire_sizes[model.cuts[i].wire.index];
    for (const auto split : model.cuts[i].splits) figures.lengths[i] = std::min(figures.lengths[i], sizes[split]);
  }
  find_reaches(model, false, sizes, figures, kind);
}

void find_counts(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures, Reach kind) {
  figures.counts.resize(model.cuts.size());
  for (std::size_t i = 0; i < model.cuts.size(); ++i)
    figures.counts[i] = count_pieces(model.wire_sizes[model.cuts[i].wire.index], model.cuts[i].splits, sizes);
  find_reaches(model, true, sizes, figures, kind);
  for (const auto& grouping : model.groupings)
    multiply_groups(figures.levels[grouping.level].groups, figures.counts[grouping.cut], figures.overflow);
}

void find_groups_of(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures) {
  for (auto& level : figures.levels) level.groups_per_parent = 1;
  for (const auto& [level, cut, above] : model.groupings) {
    const auto outer = length_of(model, model.cuts[above], sizes), inner = length_of(model, model.cuts[cut], sizes);
    multiply_groups(figures.levels[level].groups_per_parent, (outer + inner - 1) / inner, figures.overflow);
  }
}

void find_groups(const CostModel& model, Figures& figures) {
  for (auto& level : figures.levels) level.groups_per_parent = 1;
  for (const auto& [level, cut, above] : model.groupings) {
    const auto outer = std::max<std::int64_t>(1, figures.lengths[above]), inner = figures.lengths[cut];
    if (inner != outer)
      multiply_groups(figures.levels[level].groups_per_parent, (outer + inner - 1) / inner, figures.overflow);
  }
}

}  // namespace napkin
