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

// The operations of a column: in all pieces that run, only in those that test a mask, and only in the others.
struct PieceWork {
  std::vector<ColumnWork> run, masked, open;
};
PieceWork work_of_pieces(const Walked& walked, const Compute& compute) {
  const auto& diagram = walked.diagram();
  auto masked = work_on_units(walked, compute.column);
  if (compute.masks.empty()) return {std::move(masked), {}, {}};
  auto free = compute.column;
  free.value = compute.unmasked;
  auto open = work_on_units(walked, free);
  // A mask inside a product keeps the product from matrix units, even where it lets everything through.
  if (factors_of(diagram, free) && !factors_of(diagram, compute.column)) open = on_lanes(std::move(open));
  auto run = take_common(masked, open);
  return {std::move(run), std::move(masked), std::move(open)};
}

}  // namespace

void add_operations(Walked& walked, const Compute& compute) {
  const auto& column = compute.column;
  walked.contracts = walked.contracts || contracts(walked.diagram(), column);
  const auto& output = walked.diagram().at(column.output).wires;
  const Wires kept(output.begin(), output.end());
  auto wires = kept;
  wires.insert(column.over.begin(), column.over.end());
  const auto add_all = [&](const std::vector<ColumnWork>& list, Region::Part part) {
    for (const auto& work : list)
      add(walked.model, {work.unit, work.type, work.parts}, work.operations,
          positions(walked, work.folded ? wires : kept, {walked.leaf(), part, compute.masks}));
  };
  const auto [run, masked, open] = work_of_pieces(walked, compute);
  add_all(run, Region::Part::run);
  add_all(masked, Region::Part::masked);
  add_all(open, Region::Part::open);
}

}  // namespace napkin
