// Estimates kernels and plans with the cost models of their shapes.
#include "cost/kernel_cost.hpp"
#include "cost/model/make_cost_model.hpp"

namespace napkin {

KernelCost estimate(const Kernel& kernel, const Hardware& hardware, Model model) {
  std::vector<std::int64_t> sizes;
  for (const auto& split : kernel.partition.splits) sizes.push_back(split.size);
  return cost_of(make_cost_model(kernel, hardware), kernel, sizes, model);
}

Cost estimate(const Plan& plan, const Hardware& hardware, Model model) {
  std::vector<KernelCost> kernels;
  for (const auto& kernel : plan.kernels) kernels.push_back(estimate(kernel, hardware, model));
  return total(std::move(kernels));
}

Cost total(std::vector<KernelCost> kernels) {
  Cost all;
  const auto add = [](std::optional<double>& sum, const std::optional<double>& more, bool first) {
    sum = (first || sum) && more ? std::optional(sum.value_or(0) + *more) : std::nullopt;
  };
  bool first = true;
  for (const auto& cost : kernels) {
    for (const auto& unit : cost.units) all.operations += unit.operations;
    add(all.ideal_time_s, cost.ideal_time_s, first);
    add(all.time_s, cost.time_s, first);
    add(all.energy_j, cost.energy_j, first);
    first = false;
  }
  all.kernels = std::move(kernels);
  return all;
}

}  // namespace napkin
