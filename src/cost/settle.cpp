// Completes a model whose nest has been walked with what does not depend on sizes: totals, rates, and what columns hold
// in common.
#include <algorithm>
#include <map>
#include <set>

#include "cost/columns.hpp"
#include "cost/model.hpp"
#include "cost/places.hpp"
#include "cost/reach.hpp"

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

}  // namespace

void CostModel::settle(const LoopNest& nest) {
  share_columns();
  fix_products();
  find_finest();
  find_rates();
  find_parts();
  for (const auto* arrays : {&nest.inputs, &nest.outputs})
    for (const auto array : *arrays) compulsory_bytes_ += bytes_of(nest.scratch, array);
  outermost_ = outermost_bytes(nest, *hardware_);
  // With more than two wires, fewer pieces per wire are used, because all combinations of pieces are visited.
  const auto grid = [](const Region& region) -> std::int64_t { return region.wires.size() <= 2 ? 256 : 16; };
  for (const auto& region : regions_)
    least_positions_.push_back(region.part == Region::Part::run ? positions(region, grid(region)) : 0);
}

// Adds up once what all columns of a level hold, so that only what single columns hold is compared.
void CostModel::share_columns() {
  const auto leaf = hardware_->levels.size() - 1;
  common_.resize(leaf + 1);
  held_ = ideal_;
  for (std::size_t level = 1; level <= leaf; ++level) {
    common_[level] = share_common(columns_, level);
    auto& held = held_[level];
    const auto add = [&](const std::vector<std::size_t>& more) { held.insert(held.end(), more.begin(), more.end()); };
    for (const auto& column : columns_)
      if (column.level == level) add(column.held);
    for (const auto& instant : instants_[level]) {
      add(instant.at_work.held);
      for (const auto& waiting : instant.waiting) add(waiting.before), add(waiting.after);
    }
    std::ranges::sort(held);
    held.erase(std::unique(held.begin(), held.end()), held.end());
  }
}

void CostModel::find_finest() {
  std::map<WireId, std::size_t> finest;
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    auto& best = finest.try_emplace(cuts_[i].wire, i).first->second;
    if (cuts_[i].splits.size() > cuts_[best].splits.size()) best = i;
  }
  for (const auto& [wire, cut] : finest) finest_.push_back(cut);
}

void CostModel::fix_products() {
  const auto fix = [&](Product& product) {
    Checked fixed{1};
    for (const auto wire : product.whole) fixed.times(wire_sizes_[wire.index]);
    product.fixed = fixed.overflow ? INT64_MAX : fixed.value;
  };
  for (auto& transfer : transfers_) fix(transfer.values), fix(transfer.loads);
  for (auto& holding : holdings_) fix(holding.values);
  for (auto& operations : operations_) fix(operations.positions);
  for (auto& step : steps_) fix(step);
  for (auto& share : shares_) fix(share.entries);
  for (auto& mask : masks_) fix(mask.run), fix(mask.all);
}

void CostModel::find_rates() {
  for (const auto& work : work_) rates_.push_back(rate_of(*hardware_, work));
  const auto leaf = hardware_->levels.size() - 1;
  caches_.resize(leaf + 1);
  for (std::size_t level = 1; level <= leaf; ++level)
    for (const auto& cache : hardware_->caches)
      if (cache.below == hardware_->levels[level - 1].name && !caches_[level]) caches_[level] = &cache;
}

}  // namespace napkin
