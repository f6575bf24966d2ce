// Divides the products of an iteration into those that lead it and those that trail it.
#include "device/warpgroups/overlap.hpp"

#include <fmt/format.h>

#include "device/warps/shared_memory.hpp"
#include "loops/passing.hpp"

namespace napkin {
namespace {

// Returns the loop whose body has all products and no loop inside that loads tiles; null if there is none.
const For* loop_of_products(const Lowered& lowered, const WarpNest& found) {
  const auto* body = lowered.at(found.products.front().compute).block;
  const auto outside = [&](const Product& product) { return lowered.at(product.compute).block != body; };
  if (std::ranges::any_of(found.products, outside)) return nullptr;
  const auto loops = all_statements<For>(lowered.nest->body);
  const auto loop = std::ranges::find_if(loops, [&](const For* each) { return &each->body == body; });
  return loop != loops.end() && loads_innermost(found, *body) ? *loop : nullptr;
}
// A product that begins a sum anew from loaded tiles leads, and every other one trails.
void divide_products(OverlappedMainloop& step, const std::vector<Product>& products) {
  for (const auto& product : products) {
    const bool begins_anew = !product.compute->carried && !product.compute->column.repair;
    (begins_anew && !product.rows.computed ? step.leading : step.trailing).push_back(product.compute);
  }
}
// Returns why the iteration cannot be divided; empty if it can.
std::string cut(OverlappedMainloop& step, const Lowered& lowered, const WarpNest& found) {
  const auto& planned = lowered.planned;
  step.loop = loop_of_products(lowered, found);
  if (!step.loop) return "its products are not in one loop over tiles";
  divide_products(step, found.products);
  if (step.leading.empty()) return "no product that needs only loaded tiles begins its iteration";
  if (step.trailing.empty()) return "no product follows the other operations of its iteration";
  const auto warpgroups = lowered.warps / lowered.issuing_warps;
  const bool turns = in_turn(planned.overlap);
  step.warpgroups = turns ? std::max<std::int64_t>(ping_pong_groups(planned.overlap, warpgroups), 1) : 1;
  const auto needed = std::ranges::find_if_not(
      step.trailing, [&](const Compute* trailing) { return may_trail(step.loop->body, *trailing); });
  step.within = planned.within && needed == step.trailing.end();
  if (turns)
    return step.warpgroups > 1 ? ""
                               : fmt::format("its block has {} warpgroup{}", warpgroups, warpgroups == 1 ? "" : "s");
  return step.within || !planned.within
             ? ""
             : fmt::format("`{}` is needed in the iteration that computes it", lowered.name((*needed)->to));
}

}  // namespace

std::int64_t ping_pong_groups(Overlap overlap, std::int64_t warpgroups) {
  for (std::int64_t some = overlap == Overlap::ping_pong_of_three ? 3 : 2; some <= warpgroups; ++some)
    if (warpgroups % some == 0) return some;
  return 0;
}
void find_overlap(WarpNest& found, const Lowered& lowered) {
  if (lowered.planned.overlap != Overlap::intra_warpgroup && !in_turn(lowered.planned.overlap)) return;
  OverlappedMainloop step;
  found.not_as_planned = cut(step, lowered, found);
  if (found.not_as_planned.empty()) found.step = std::move(step);
}

}  // namespace napkin
