// Turns of teams at the matrix units on the host: barriers by their number, at which one team waits and another
// arrives. Found are turns that nobody gives or takes, that two teams take at once, and products of a team that has
// none.
#pragma once

#include "boxes.hpp"

namespace emulation {

constexpr int turn_barriers = 16;  // of each block; __syncthreads has the first
struct Turn {
  int arrived = 0, waiting = 0;  // lanes, of those
  int phases = 0;                // complete
  Clock told{}, complete{};
  std::map<int, int> told_phases, complete_phases;
};
inline std::array<Turn, turn_barriers * most_blocks> turns;
inline bool any_turns = false;
inline std::vector<char> has_turn;  // by thread

inline void begin_turns(unsigned threads) {
  turns.fill({});
  any_turns = false;
  has_turn.assign(threads, 0);
}
inline void end_turns() {
  for (const auto& turn : turns)
    if (turn.arrived > 0) fail("a block ended with a turn that nobody took");
}

inline Turn& turn_at(int barrier) {
  if (barrier < 1 || barrier >= turn_barriers) fail("a turn at a barrier that is not there");
  return turns[static_cast<std::size_t>(barrier) +
               static_cast<std::size_t>(thread_number()) / threads_of_block * turn_barriers];
}
inline Turn& arrive_at_turn(int barrier, bool waits) {
  any_turns = true;
  auto& turn = turn_at(barrier);
  const auto warp = warp_of(thread_number());
  learn(turn.told, clocks[warp]);
  learn(turn.told_phases, arrived[warp]);
  ++clocks[warp][warp];
  turn.waiting += waits;
  if (++turn.arrived < static_cast<int>(2 * team_lanes)) return turn;
  if (turn.waiting != static_cast<int>(team_lanes)) fail("a turn that no team or two teams wait for");
  turn.arrived = turn.waiting = 0;
  turn.complete = turn.told, turn.complete_phases = turn.told_phases;
  ++turn.phases;
  return turn;
}

}  // namespace emulation

// What emitted kernels call.

inline void napkin_turn_wait(int barrier) {
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
inline void napkin_turn_give(int barrier) {
  emulation::arrive_at_turn(barrier, false);
  emulation::has_turn[static_cast<std::size_t>(emulation::thread_number())] = 0;
}
