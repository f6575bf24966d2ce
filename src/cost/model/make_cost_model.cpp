// Makes the products of a cost model from a loop nest, in one walk over its text that executes no iteration.
#include "cost/model/make_cost_model.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "cost/model/holdings.hpp"
#include "cost/model/settle.hpp"
#include "cost/model/walk.hpp"

namespace napkin {
namespace {

// Shapes do not depend on sizes, so that any size may replace an unknown one.
std::optional<Kernel> sized(const Kernel& shape) {
  const auto& axes = shape.program.scratch.axes;
  if (std::ranges::all_of(axes, [](const Axis& axis) { return axis.size.has_value(); })) return std::nullopt;
  auto copy = shape;
  for (auto& axis : copy.program.scratch.axes) axis.size = axis.size.value_or(1);
  return copy;
}

void add_wires(CostModel& model, const Kernel& shape, const Diagram& diagram) {
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w) {
    model.wire_sizes.push_back(diagram.size(WireId{w}).value_or(1));
    model.sized.push_back(shape.derivation->scratch.size(WireId{w}).has_value());
  }
}

double room_of_all(const Level& memory) {
  if (!memory.shared) return memory.room();
  return memory.capacity ? memory.capacity->value : std::numeric_limits<double>::infinity();
}

void find_rooms(const Walked& walked) {
  auto& rooms = walked.model.rooms;
  const auto& levels = walked.hardware.levels;
  for (const auto& level : levels) rooms.own.push_back(level.room()), rooms.of_all.push_back(room_of_all(level));
  rooms.together = rooms.own;
  const auto& leaf = levels.back();
  const auto streams = [&](const Split& s) { return s.level == walked.leaf() && s.kind == SplitKind::stream; };
  if (walked.contracts || std::ranges::any_of(walked.shape.partition.splits, streams)) return;
  if (leaf.shared && leaf.max_groups && leaf.capacity)
    rooms.together.back() = std::min(leaf.capacity->value, leaf.room() * static_cast<double>(*leaf.max_groups));
}

void add_groupings(Walked& walked) {
  auto& places = walked.places;
  for (std::size_t level = 1; level <= walked.leaf(); ++level) {
    std::set<WireId> wires;
    for (const auto& g : walked.nest.groups)
      if (g.level <= level) wires.insert(g.wire);
    for (const auto wire : wires) {
      const auto cut = places.cut(wire, places.splits(wire, level, {}));
      const auto above = places.cut(wire, places.splits(wire, level - 1, {}));
      walked.model.groupings.push_back({level, cut, above});
    }
  }
}

}  // namespace

CostModel make_cost_model(const Kernel& shape, const Hardware& hardware) {
  const auto copy = sized(shape);
  const LoopNest nest = lower(copy ? *copy : shape, hardware);
  CostModel model;
  model.hardware = &hardware;
  add_wires(model, shape, nest.scratch);
  Walked walked{model, shape, nest, hardware};
  walk(walked);
  find_rooms(walked);
  add_holdings(walked);
  add_groupings(walked);
  settle(model, nest);
  return model;
}

}  // namespace napkin
