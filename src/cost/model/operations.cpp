// Counts the operations of a column: in pieces that run, and in those of them that a mask cuts or leaves open.
#include "cost/model/operations.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cost/model/exclusions.hpp"

namespace napkin {
namespace {

using Wires = std::set<WireId>;

std::vector<ColumnWork> work_on_units(const Walked& walked, const Column& column) {
  auto all = work_of(walked.diagram(), column, walked.hardware);
  return walked.multiplies ? all : on_lanes(std::move(all));
}

CostModel::Product positions(Walked& walked, const Wires& wires, const Excluding& excluding) {
  CostModel::Product all;
  all.whole.assign(wires.begin(), wires.end());
  walked.places.repeat(all, wires, excluding.level, walked.loops);
  exclude(walked, all, excluding);
  return all;
}

void add(CostModel& model, Work work, double each, const CostModel::Product& positions) {
  auto at = std::find(model.work.begin(), model.work.end(), work);
  if (at == model.work.end()) at = model.work.insert(at, work);
  const bool masked =
      positions.region && model.regions[*positions.region].part == Region::Part::masked && work.unit == Unit::fma;
  model.operations.push_back({static_cast<std::size_t>(at - model.work.begin()), each, positions, masked});
}

}  // namespace

void add_operations(Walked& walked, const Compute& compute) {
  const auto& diagram = walked.diagram();
  const auto& column = compute.column;
  walked.contracts = walked.contracts || contracts(diagram, column);
  const auto& output = diagram.at(column.output).wires;
  const Wires kept(output.begin(), output.end());
  auto wires = kept;
  wires.insert(column.over.begin(), column.over.end());
  const auto add_all = [&](const std::vector<ColumnWork>& list, Region::Part part) {
    for (const auto& work : list)
      add(walked.model, {work.unit, work.type, work.parts}, work.operations,
          positions(walked, work.folded ? wires : kept, {walked.leaf(), part, compute.masks}));
  };
  auto masked = work_on_units(walked, column);
  if (compute.masks.empty()) return add_all(masked, Region::Part::run);
  auto free = column;
  free.value = compute.unmasked;
  auto open = work_on_units(walked, free);
  // A mask inside a product keeps the product from matrix units, even where it lets everything through.
  if (factors_of(diagram, free) && !factors_of(diagram, column)) open = on_lanes(std::move(open));
  add_all(take_common(masked, open), Region::Part::run);
  add_all(masked, Region::Part::masked);
  add_all(open, Region::Part::open);
}

}  // namespace napkin
