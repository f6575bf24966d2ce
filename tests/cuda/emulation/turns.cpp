// Who has the turn at the matrix units.
#include "emulation.hpp"

namespace emulation {

void begin_turns(unsigned threads) {
  turns.fill({});
  any_turns = false;
  has_turn.assign(threads, 0);
}

void end_turns() {
  for (const auto& turn : turns)
    if (turn.arrived > 0) fail("a block ended with a turn that nobody took");
}

Turn& turn_at(int barrier) {
  if (barrier < 1 || barrier >= turn_barriers) fail("a turn at a barrier that is not there");
  return turns[static_cast<std::size_t>(barrier) +
               static_cast<std::size_t>(thread_number()) / threads_of_block * turn_barriers];
}

Turn& arrive_at_turn(int barrier, bool waits) {
  any_turns = true;
  auto& turn = turn_at(barrier);
  const auto warp = warp_of(thread_number());
  learn(turn.told, clocks[warp]);
  learn(turn.told_phases, arrived[warp]);
  ++clocks[warp][warp];
  turn.waiting += waits;
  if (++turn.arrived < static_cast<int>(2 * warpgroup_lanes)) return turn;
  if (turn.waiting != static_cast<int>(warpgroup_lanes)) fail("a turn that no warpgroup or two warpgroups wait for");
  turn.arrived = turn.waiting = 0;
  turn.complete = turn.told, turn.complete_phases = turn.told_phases;
  ++turn.phases;
  return turn;
}

}  // namespace emulation

void napkin_turn_wait(int barrier) {
  const auto before = emulation::turn_at(barrier).phases;
  auto& turn = emulation::arrive_at_turn(barrier, true);
  emulation::current->ready = [&turn, before] { return turn.phases > before; };
  emulation::current->waits = emulation::Waits::turn;
  emulation::leave();
  const auto warp = emulation::warp_of(emulation::thread_number());
  emulation::learn(emulation::clocks[warp], turn.complete);
  emulation::learn(emulation::arrived[warp], turn.complete_phases);
  emulation::has_turn[static_cast<std::size_t>(emulation::thread_number())] = 1;
}

void napkin_turn_give(int barrier) {
  emulation::arrive_at_turn(barrier, false);
  emulation::has_turn[static_cast<std::size_t>(emulation::thread_number())] = 0;
}
