// Prints the barriers at which warpgroups in ping-pong wait for each other.
#include "emit/cuda/warpgroups/turns.hpp"

#include <fmt/format.h>

namespace napkin {

// The last warpgroup of those in ping-pong gives the first one its first turn.
void begin_turns(FragmentPage& page) {
  const auto& warps = page.warps;
  if (!warps.is_ping_pong()) return;
  const auto warpgroups = warps.step->warpgroups;
  const bool all = warpgroups == warps.warps / warps.issuing_warps;
  page.turns = {page.pool.fresh("warpgroup"), page.pool.fresh("turn"), page.pool.fresh("next_turn")};
  const auto& [warpgroup, own, next] = page.turns;
  auto& out = page.out;
  out.line("const int {} = threadIdx.x / {};", warpgroup, warps.issuing_warps * lanes_of_warp);
  out.line("const int {} = {} + 1;  // the named barrier where it waits for its turn", own, warpgroup);
  out.line("const int {} = {}({} + 1) % {} + 1;", next,
           all ? "" : fmt::format("{0} / {1} * {1} + ", warpgroup, warpgroups), warpgroup, warpgroups);
  out.line("if ({} % {} == {}) napkin_turn_give({});", warpgroup, warpgroups, warpgroups - 1, next);
}

// The first warpgroup takes the last turn, so that none is left over.
void end_turns(FragmentPage& page) {
  if (!page.warps.is_ping_pong()) return;
  page.out.line("if ({} % {} == 0) napkin_turn_wait({});", page.turns.warpgroup, page.warps.step->warpgroups,
                page.turns.own);
}

void take_turn(FragmentPage& page) {
  if (page.warps.is_ping_pong()) page.out.line("napkin_turn_wait({});", page.turns.own);
}
void give_turn(FragmentPage& page) {
  if (page.warps.is_ping_pong()) page.out.line("napkin_turn_give({});", page.turns.next);
}

}  // namespace napkin
