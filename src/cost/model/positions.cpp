// Counts positions that masks let through in pieces of a grid. Only pieces that pass as a whole count.
#include "cost/model/positions.hpp"

#include <algorithm>

namespace napkin {
namespace {

// The region with all of its conditions, each of which must hold everywhere on a piece.
Region of_open_pieces(const Region& region) {
  Region open = region;
  open.part = Region::Part::open;
  open.footprints.clear();
  open.measured.assign(region.wires.size(), true);
  open.open = {{}, std::vector<std::size_t>(region.wires.size(), 1)};
  for (const auto& test : region.needs)
    open.open.conditions.insert(open.open.conditions.end(), test.conditions.begin(), test.conditions.end());
  open.needs.clear();
  return open;
}

// Pieces have about the length of the wire divided by `grid`.
std::int64_t positions_by(const CostModel& model, const Region& region, std::int64_t grid) {
  std::vector<Cutting> cuttings;
  for (const auto wire : region.wires) {
    const auto extent = model.wire_sizes[wire.index];
    cuttings.push_back({extent, {std::max<std::int64_t>(1, extent / grid)}});
  }
  return sum(of_open_pieces(region), cuttings, model.wire_sizes.size(), {});
}

}  // namespace

// With more than two wires, fewer pieces per wire are used, because all combinations of pieces are visited.
std::int64_t least_positions(const CostModel& model, const Region& region) {
  return positions_by(model, region, region.wires.size() <= 2 ? 256 : 16);
}

double share_of(const CostModel& model, const Region& region) {
  double all = 1;
  for (const auto wire : region.wires) {
    if (!model.sized[wire.index]) return 1;
    all *= static_cast<double>(model.wire_sizes[wire.index]);
  }
  // Position by position along two wires; along more, in pieces, which leaves out some at the edge of a mask.
  constexpr std::int64_t grid_of_many = 32;
  return static_cast<double>(positions_by(model, region, region.wires.size() <= 2 ? INT64_MAX : grid_of_many)) / all;
}

}  // namespace napkin
