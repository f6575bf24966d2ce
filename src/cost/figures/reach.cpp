// Computes the reach of affine indices.
//
// The reach of one index that stays inside its dimension is a sum over its wires, and so is the total over all pieces:
// it is the number of combinations of pieces plus, for each wire, the span of its pieces less one each. With a divisor,
// pieces that begin at the same offset within a step are alike. All other indices are walked piece by piece.
#include "cost/figures/reach.hpp"

#include <algorithm>
#include <cmath>

#include "cost/figures/steps.hpp"
#include "cost/model/checked.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

using Footprint = CostModel::Footprint;

// Calls `visit` with every interval into which nested sizes cut a wire.
template <class Visit>
void each_piece(Interval extent, const std::vector<std::size_t>& splits, std::size_t at,
                std::span<const std::int64_t> sizes, const Visit& visit) {
  if (at == splits.size()) return visit(extent);
  const auto piece = std::min(extent.length(), sizes[splits[at]]);
  for (auto begin = extent.begin; begin < extent.end; begin += piece)
    each_piece({begin, std::min(extent.end, begin + piece)}, splits, at + 1, sizes, visit);
}

// Every combination of pieces reaches at least one value, and a piece of length n adds |c| (n - 1) values.
std::int64_t reach_of_sum(const CostModel& model, const Footprint& footprint, const Figures& figures) {
  Checked combinations{1}, reached{1};
  for (std::size_t i = 0; i < footprint.cuts.size(); ++i) {
    const auto cut = footprint.cuts[i];
    const auto count = footprint.all_pieces ? figures.counts[cut] : 1;
    Checked more{std::abs(footprint.indices[0].first.terms[i].second)};
    more.times(footprint.all_pieces ? model.wire_sizes[model.cuts[cut].wire.index] - count : figures.lengths[cut] - 1);
    more.times(combinations.value);
    reached.times(count);
    reached.plus(more.value);
    combinations.times(count);
    reached.overflow = reached.overflow || more.overflow || combinations.overflow;
  }
  return reached.overflow ? INT64_MAX : reached.value;
}

// A piece reaches at least as many positions as if it began at the beginning of a step. Every piece reaches some
// position, and every position is reached.
std::int64_t least_reach_of_steps(const CostModel& model, const Footprint& footprint, const Figures& figures) {
  const auto cut = footprint.cuts[0];
  const auto& index = footprint.indices[0].first;
  const auto places = [&](std::int64_t length) { return index.terms[0].second * (length - 1) / index.divisor + 1; };
  if (!footprint.all_pieces) return places(figures.lengths[cut]);
  return std::max(places(model.wire_sizes[model.cuts[cut].wire.index]), figures.counts[cut]);
}

}  // namespace

std::int64_t reach_of(const CostModel& model, const Footprint& footprint, std::span<const std::int64_t> sizes,
                      const Figures& figures, Reach kind) {
  if (kind == Reach::least && footprint.steps) return least_reach_of_steps(model, footprint, figures);
  if (!footprint.inside) return reach_by_pieces(model, footprint, sizes);
  const auto& index = footprint.indices[0].first;
  if (index.divisor == 1) return reach_of_sum(model, footprint, figures);
  std::vector<SteppedWire> wires;
  for (const auto cut : footprint.cuts)
    wires.push_back({model.wire_sizes[model.cuts[cut].wire.index], model.cuts[cut].splits});
  const auto all = reach_of_steps(index, wires, sizes);
  return footprint.all_pieces ? all.sum : all.largest;
}

// For all pieces together, adds up the product of the clipped footprints over the combinations of pieces.
std::int64_t reach_by_pieces(const CostModel& model, const Footprint& footprint, std::span<const std::int64_t> sizes) {
  Intervals at(model.wire_sizes.size());
  for (std::size_t w = 0; w < at.size(); ++w) at[w] = {0, model.wire_sizes[w]};
  Checked all{0};
  std::int64_t largest = 0;
  const auto visit = [&](const auto& self, std::size_t depth) -> void {
    if (depth < footprint.cuts.size()) {
      const auto& cut = model.cuts[footprint.cuts[depth]];
      each_piece({0, model.wire_sizes[cut.wire.index]}, cut.splits, 0, sizes, [&](Interval piece) {
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

}  // namespace napkin
