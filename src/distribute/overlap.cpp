// A loop's step is cut where products that run by themselves meet columns that wait for them, so that it can overlap as
// its plan says; what it then holds besides.
#include "distribute/overlap.hpp"

#include <fmt/format.h>

#include <cmath>

#include "distribute/distributing.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {

Planned planned(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core) return {};
  const auto of_cores = down_to(kernel, *hardware.core);
  const auto configs = LaunchConfigs::of(of_cores, hardware, Model::machine);
  if (!configs) return {};
  const auto demand = demand_of(of_cores, hardware);
  const auto config = configs->in_full(configs->best(demand), demand);
  if (!config.runs()) return {};
  const auto there = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(demand.per_core)));
  return {config.chosen().overlap,
          std::min(config.chosen().occupancy.blocks, there),
          config.chosen().stages,
          config.keeps,
          configs->mainloop().row,
          config.warpgroup.rows,
          configs->mainloop().issues_together(),
          config.chosen().within};
}
bool in_turn(Overlap overlap) { return overlap == Overlap::ping_pong_of_two || overlap == Overlap::ping_pong_of_three; }
std::int64_t ping_pong_groups(Overlap overlap, std::int64_t warpgroups) {
  for (std::int64_t some = overlap == Overlap::ping_pong_of_three ? 3 : 2; some <= warpgroups; ++some)
    if (warpgroups % some == 0) return some;
  return 0;
}

void Distributing::find_step() {
  if (result_.planned != Overlap::intra_warpgroup && !in_turn(result_.planned)) return;
  OverlappedMainloop step;
  result_.not_as_planned = cut(step);
  if (result_.not_as_planned.empty()) result_.step = step;
}

// Why the step cannot be cut; empty where it can.
std::string Distributing::cut(OverlappedMainloop& step) const {
  step.loop = loop_of_products();
  if (!step.loop) return "its products are not in one loop over tiles";
  for (const auto& product : result_.products) {
    const bool begins_anew = !product.compute->carried && !product.compute->column.repair;
    (begins_anew && !product.rows.computed ? step.leading : step.trailing).push_back(product.compute);
  }
  if (step.leading.empty()) return "no product that needs only loaded tiles begins its iteration";
  if (step.trailing.empty()) return "no product follows the other operations of its iteration";
  const auto warpgroups = result_.warps / result_.warpgroup;
  step.warpgroups =
      in_turn(result_.planned) ? std::max<std::int64_t>(ping_pong_groups(result_.planned, warpgroups), 1) : 1;
  const auto needed = std::find_if_not(step.trailing.begin(), step.trailing.end(),
                                       [&](const Compute* trailing) { return may_trail(step, trailing); });
  step.within = planned_.within && needed == step.trailing.end();
  if (in_turn(result_.planned))
    return step.warpgroups > 1 ? ""
                               : fmt::format("its block has {} warpgroup{}", warpgroups, warpgroups == 1 ? "" : "s");
  return step.within || !planned_.within
             ? ""
             : fmt::format("`{}` is needed in the iteration that computes it", name((*needed)->to));
}

// The loop whose body has all products, and no loop inside.
const For* Distributing::loop_of_products() const {
  const auto* body = std::find_if(computes_.begin(), computes_.end(), [&](const auto& place) {
                       return place.compute == result_.products.front().compute;
                     })->block;
  for (const auto& place : computes_)
    if (result_.product(place.compute) && place.block != body) return nullptr;
  const For* found = nullptr;
  const auto search = [&](const auto& self, const LoopBody& block) -> void {
    for (const auto& step : block.steps)
      if (const auto* loop = std::get_if<For>(&step.node)) {
        if (&loop->body == body) found = loop;
        self(self, loop->body);
      }
  };
  search(search, nest().body);
  return found && loads_tiles(found->body) && !loads_deeper(found->body) ? found : nullptr;
}

// A sum that goes on where it is, and that nothing else in its step touches.
bool Distributing::may_trail(const OverlappedMainloop& step, const Compute* trailing) const {
  if (trailing->carried != trailing->to) return false;
  const auto touches = [&](const LoopStatement& other) {
    if (const auto* save = std::get_if<Save>(&other.node)) return save->from == trailing->to;
    const auto* compute = std::get_if<Compute>(&other.node);
    return compute && compute != trailing && (compute->to == trailing->to || reads(*compute, trailing->to));
  };
  const auto& steps = step.loop->body.steps;
  return std::none_of(steps.begin(), steps.end(), touches);
}

bool Distributing::is_in_step(const Compute* compute) const {
  const auto& steps = result_.step->loop->body.steps;
  return std::any_of(steps.begin(), steps.end(),
                     [&](const LoopStatement& each) { return std::get_if<Compute>(&each.node) == compute; });
}
// What a column of the step, whose columns stand in memory one after another, has beside it in another order: leading
// sums from the beginning of the step on, and within a warpgroup the operands of trailing products of the step before.
std::int64_t Distributing::step_registers(const Compute* compute, const std::vector<BufferId>& held) const {
  if (!result_.step || !is_in_step(compute)) return 0;
  std::int64_t all = 0;
  for (const auto* leading : result_.step->leading)
    if (compute < leading && !contains(held, leading->to)) all += values(leading->to);
  if (!result_.step->within) return all;
  for (const auto* trailing : result_.step->trailing)
    if (trailing != compute) all += operand_registers(*result_.product(trailing));
  return all;
}

}  // namespace napkin
