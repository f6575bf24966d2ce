// Prints the barriers at which warpgroups in ping-pong wait for each other.
#include "emit/cuda/warpgroups/turns.hpp"

#include <fmt/format.h>

namespace napkin {

// The last warpgroup of those in ping-pong gives the first one its first turn.
void TurnPrinter::begin() {
  const auto& warps = page_.warps;
  if (!warps.is_ping_pong()) return;
  const auto warpgroups = warps.step->warpgroups;
  const bool all = warpgroups == warps.warps / warps.issuing_warps;
  warpgroup_ = page_.pool.fresh("warpgroup");
  turn_ = page_.pool.fresh("turn");
  next_turn_ = page_.pool.fresh("next_turn");
  auto& out = page_.out;
  out.line("const int {} = threadIdx.x / {};", warpgroup_, warps.issuing_warps * lanes_of_warp);
  out.line("const int {} = {} + 1;  // the named barrier where it waits for its turn", turn_, warpgroup_);
  out.line("const int {} = {}({} + 1) % {} + 1;", next_turn_,
           all ? "" : fmt::format("{0} / {1} * {1} + ", warpgroup_, warpgroups), warpgroup_, warpgroups);
  out.line("if ({} % {} == {}) napkin_turn_give({});", warpgroup_, warpgroups, warpgroups - 1, next_turn_);
}

// The first warpgroup takes the last turn, so that none is left over.
void TurnPrinter::end() {
  if (!page_.warps.is_ping_pong()) return;
  page_.out.line("if ({} % {} == 0) napkin_turn_wait({});", warpgroup_, page_.warps.step->warpgroups, turn_);
}

void TurnPrinter::take() {
  if (page_.warps.is_ping_pong()) page_.out.line("napkin_turn_wait({});", turn_);
}
void TurnPrinter::give() {
  if (page_.warps.is_ping_pong()) page_.out.line("napkin_turn_give({});", next_turn_);
}

}  // namespace napkin
