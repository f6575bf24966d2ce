// Computes what does not depend on sizes: totals, rates, and what columns hold in common.
#include "cost/model/settle.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cost/model/checked.hpp"
#include "cost/model/columns.hpp"
#include "cost/model/parts.hpp"
#include "cost/model/places.hpp"
#include "cost/model/positions.hpp"

namespace napkin {
namespace {

// Returns the bytes of all inputs and outputs of the diagram, and of the other arrays that the kernel reads and writes.
double outermost_bytes(const LoopNest& nest, const Hardware& hardware) {
  const auto& diagram = nest.scratch;
  std::set<ArrayId> there;
  for (const auto* arrays : {&diagram.inputs, &diagram.outputs, &nest.inputs, &nest.outputs})
    there.insert(arrays->begin(), arrays->end());
  double all = 0;
  for (const auto id : there) {
    double size = hardware.levels[0].in_values ? 1 : diagram.at(id).width();
    for (const auto wire : diagram.at(id).wires) size *= static_cast<double>(diagram.size(wire).value_or(1));
    all += size;
  }
  return all;
}

const Rate* rate_of(const Hardware& hardware, const Work& work) {
  const auto* unit = hardware.find(work.unit);
  if (!unit) return nullptr;
  for (const auto type : {work.type, Datatype::f32})
    if (const auto found = unit->rates.find(type); found != unit->rates.end()) return &found->second;
  return nullptr;
}

// Adds up once what all columns of a level hold, so that only what single columns hold is compared.
void share_columns(CostModel& model) {
  const auto leaf = model.hardware->levels.size() - 1;
  model.common.resize(leaf + 1);
  model.held = model.ideal;
  for (std::size_t level = 1; level <= leaf; ++level) {
    model.common[level] = share_common(model.columns, level);
    auto& held = model.held[level];
    const auto add = [&](const std::vector<std::size_t>& more) { held.insert(held.end(), more.begin(), more.end()); };
    for (const auto& column : model.columns)
      if (column.level == level) add(column.held);
    for (const auto& instant : model.instants[level]) {
      add(instant.at_work.held);
      for (const auto& waiting : instant.waiting) add(waiting.before), add(waiting.after);
    }
    std::ranges::sort(held);
    held.erase(std::unique(held.begin(), held.end()), held.end());
  }
}

void find_finest(CostModel& model) {
  std::map<WireId, std::size_t> finest;
  for (std::size_t i = 0; i < model.cuts.size(); ++i) {
    auto& best = finest.try_emplace(model.cuts[i].wire, i).first->second;
    if (model.cuts[i].splits.size() > model.cuts[best].splits.size()) best = i;
  }
  for (const auto& [wire, cut] : finest) model.finest.push_back(cut);
}

void fix_products(CostModel& model) {
  const auto fix = [&](CostModel::Product& product) {
    Checked fixed{1};
    for (const auto wire : product.whole) fixed.times(model.wire_sizes[wire.index]);
    product.fixed = fixed.overflow ? INT64_MAX : fixed.value;
  };
  for (auto& transfer : model.transfers) fix(transfer.values), fix(transfer.loads);
  for (auto& holding : model.holdings) fix(holding.values);
  for (auto& operations : model.operations) fix(operations.positions);
  for (auto& step : model.steps) fix(step);
  for (auto& share : model.shares) fix(share.entries);
  for (auto& mask : model.masks) fix(mask.run), fix(mask.all);
}

void find_rates(CostModel& model) {
  for (const auto& work : model.work) model.rates.push_back(rate_of(*model.hardware, work));
  const auto leaf = model.hardware->levels.size() - 1;
  model.caches.resize(leaf + 1);
  for (std::size_t level = 1; level <= leaf; ++level)
    for (const auto& cache : model.hardware->caches)
      if (cache.below == model.hardware->levels[level - 1].name && !model.caches[level]) model.caches[level] = &cache;
}

}  // namespace

void settle(CostModel& model, const LoopNest& nest) {
  share_columns(model);
  fix_products(model);
  find_finest(model);
  find_rates(model);
  find_parts(model);
  for (const auto* arrays : {&nest.inputs, &nest.outputs})
    for (const auto array : *arrays) model.compulsory_bytes += bytes_of(nest.scratch, array);
  model.outermost = outermost_bytes(nest, *model.hardware);
  for (const auto& region : model.regions)
    model.least_positions.push_back(region.part == Region::Part::run ? least_positions(model, region) : 0);
}

}  // namespace napkin
