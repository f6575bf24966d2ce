// Finds the arrays at the fullest instant of a memory, and adds up the transfers of each array.
#include "cost/held_arrays.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cost/figures/memory.hpp"
#include "cost/figures/products.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

// Compares instants of one level. The instances of the figures are those of one group.
class Fullest {
 public:
  Fullest(const CostModel& model, const Figures& figures) : model_(model), figures_(figures) {}

  void consider(const CostModel::Instant& instant) {
    std::vector<HeldArray> held;
    std::int64_t bytes = 0;
    for (const auto& [i, count] : times_held(instant)) {
      const auto& one = model_.holdings[i];
      held.push_back({one.name, figures_.holdings[i] * count, bytes_of(i) * count, one.type, one.stored});
      bytes += held.back().bytes;
    }
    for (const auto& [a, b] : instant.at_work.shared) bytes -= std::min(bytes_of(a), bytes_of(b));
    if (bytes > most_) most_ = bytes, best_ = std::move(held);
  }
  std::vector<HeldArray> largest_first() && {
    std::ranges::stable_sort(best_, [](const HeldArray& a, const HeldArray& b) { return a.bytes > b.bytes; });
    return std::move(best_);
  }

 private:
  std::int64_t bytes_of(std::size_t i) const { return figures_.holdings[i] * model_.holdings[i].bytes; }
  std::int64_t bytes_of(const std::vector<std::size_t>& held) const {
    std::int64_t all = 0;
    for (const auto i : held) all += bytes_of(i);
    return all;
  }
  std::map<std::size_t, std::int64_t> times_held(const CostModel::Instant& instant) const {
    std::map<std::size_t, std::int64_t> times;
    for (const auto i : instant.at_work.held) times[i] += figures_.instances[0];
    for (const auto& [outer, before, after] : instant.waiting)
      for (const auto i : bytes_of(before) > bytes_of(after) ? before : after) times[i] += figures_.instances[outer];
    return times;
  }

  const CostModel& model_;
  const Figures& figures_;
  std::vector<HeldArray> best_;
  std::int64_t most_ = -1;
};

}  // namespace

std::int64_t parts_of(const CostModel& model, std::size_t level, const Figures& figures) {
  return model.hardware->levels[level].shared ? figures.levels[level].groups_per_parent : 1;
}

std::vector<HeldArray> held_arrays(const CostModel& model, Figures figures, std::size_t level) {
  find_instances(model, level, figures);
  const auto parts = parts_of(model, level, figures);
  for (auto& count : figures.instances) count /= parts;
  Fullest fullest(model, figures);
  const auto below = turns_below(model, level, figures);
  for (const auto& instant : model.instants[level])
    if (instant.turns == below) fullest.consider(instant);
  if (model.instants[level].empty())
    for (const auto& column : model.columns)
      if (column.level == level) fullest.consider({column, 0, {}});
  return std::move(fullest).largest_first();
}

std::vector<ArrayCost> moved_arrays(const CostModel& model, const Diagram& diagram, const Figures& figures,
                                    std::size_t level) {
  bool unused = false;
  std::vector<ArrayCost> all;
  std::map<std::pair<ArrayId, bool>, std::size_t> index;
  for (const auto& transfer : model.transfers) {
    if (transfer.level != level) continue;
    const auto [at, fresh] = index.try_emplace({transfer.array, transfer.saved}, all.size());
    if (fresh) all.push_back({diagram.at(transfer.array).name, 0, 0, 0, transfer.saved, transfer.type});
    const auto values = value_of(transfer.values, figures, unused);
    all[at->second].transfer_values += values;
    all[at->second].transfer_bytes += transfer.bytes_of(values);
  }
  for (const auto& [key, at] : index) {
    std::vector<std::int64_t> sizes;
    for (const auto wire : diagram.at(key.first).wires) sizes.push_back(model.wire_sizes[wire.index]);
    all[at].times = static_cast<double>(all[at].transfer_values) / static_cast<double>(product_of(sizes));
  }
  return all;
}

}  // namespace napkin
