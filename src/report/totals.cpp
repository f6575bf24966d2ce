// The kernels of a plan, added up.
#include <algorithm>

#include "report/analysis.hpp"

namespace napkin::report {
namespace {

void add(Totals& sum, const Hardware& hardware, const KernelCost& cost) {
  for (const auto& unit : cost.units) sum.operations += unit.operations;
  for (const auto& level : cost.levels) {
    const auto& from = hardware.levels[level.level - 1].name;
    const auto at = std::find_if(sum.transfer_bytes.begin(), sum.transfer_bytes.end(),
                                 [&](const auto& entry) { return entry.first == from; });
    if (at == sum.transfer_bytes.end()) {
      sum.transfer_bytes.emplace_back(from, level.transfer_bytes);
    } else {
      at->second += level.transfer_bytes;
    }
  }
}

std::optional<double> sum_of(const Analysis& analysis, std::optional<double> KernelCost::*part) {
  double total = 0;
  for (const auto& found : analysis.kernels) {
    const auto* shown = reported(found);
    if (!shown || !(shown->cost.*part)) return std::nullopt;
    total += *(shown->cost.*part);
  }
  return total;
}

}  // namespace

Totals totals(const Analysis& analysis) {
  Totals sum;
  for (const auto& found : analysis.kernels) {
    if (const auto* shown = reported(found)) add(sum, analysis.hardware, shown->cost);
  }
  sum.ideal_time_s = sum_of(analysis, &KernelCost::ideal_time_s);
  sum.time_s = sum_of(analysis, &KernelCost::time_s);
  sum.energy_j = sum_of(analysis, &KernelCost::energy_j);
  return sum;
}

}  // namespace napkin::report
