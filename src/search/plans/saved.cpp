// Compares the costs of a plan's kernels with those of their statements in separate kernels.
#include "search/plans/saved.hpp"

#include <algorithm>
#include <set>

namespace napkin {
namespace {

std::int64_t moved(const KernelCost& cost) { return cost.levels.empty() ? 0 : cost.levels.front().transfer_bytes; }

// Returns the bytes of an array that are moved between the outermost memory and the next level.
std::int64_t moved(const KernelCost& cost, const std::string& array) {
  std::int64_t bytes = 0;
  if (cost.levels.empty()) return bytes;
  for (const auto& entry : cost.levels.front().arrays)
    if (entry.array == array) bytes += entry.transfer_bytes;
  return bytes;
}

class Comparison {
 public:
  Comparison(const Diagram& diagram, const std::vector<Alone>& alone) : diagram_(diagram), alone_(alone) {}

  Saved compare(std::size_t index, const Derivation& kernel, const KernelCost& cost) {
    Saved result{.kernel = index, .arrays = {}, .bytes = moved(cost), .time_apart_s = 0.0, .time_s = cost.time_s};
    for (const auto& one : alone_)
      if (std::ranges::find(kernel.statements, one.statement) != kernel.statements.end()) add(one, result);
    for (const auto id : kernel.statements) add_array(id, kernel, cost, result);
    for (const auto id : kernel.statements) counted_.insert(id);
    return result;
  }

 private:
  void add(const Alone& one, Saved& result) const {
    if (counted_.contains(one.statement)) return;
    result.bytes_apart += moved(one.cost);
    if (result.time_apart_s && one.cost.time_s)
      *result.time_apart_s += *one.cost.time_s;
    else
      result.time_apart_s.reset();
  }
  // Alone, the statement's result is saved once and loaded by every statement of the kernel that reads it.
  void add_array(StatementId id, const Derivation& kernel, const KernelCost& cost, Saved& result) const {
    const auto& name = diagram_.at(diagram_.at(id).output).name;
    std::int64_t bytes = 0;
    for (const auto& one : alone_) {
      const bool here = std::ranges::find(kernel.statements, one.statement) != kernel.statements.end();
      if (here && !counted_.contains(one.statement)) bytes += moved(one.cost, name);
    }
    if (bytes > moved(cost, name)) result.arrays.push_back({name, bytes - moved(cost, name)});
  }

  const Diagram& diagram_;
  const std::vector<Alone>& alone_;
  std::set<StatementId> counted_;  // by a kernel before
};

}  // namespace

std::vector<Saved> saved(const Diagram& diagram, const Plan& plan, const std::vector<KernelCost>& costs,
                         const std::vector<Alone>& alone) {
  Comparison comparison(diagram, alone);
  std::vector<Saved> all;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    auto one = comparison.compare(i, *plan.kernels[i].derivation, costs[i]);
    if (plan.kernels[i].derivation->statements.size() > 1) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace napkin
