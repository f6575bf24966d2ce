// Turns of warpgroups at the matrix units on the host: barriers by their number, at which one warpgroup waits and
// another arrives. Found are turns that nobody gives or takes, that two warpgroups take at once, and products of a
// warpgroup that has none.
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
extern std::array<Turn, turn_barriers * most_blocks> turns;
extern bool any_turns;
extern std::vector<char> has_turn;  // by thread

void begin_turns(unsigned threads);
void end_turns();

Turn& turn_at(int barrier);
Turn& arrive_at_turn(int barrier, bool waits);

}  // namespace emulation

// What emitted kernels call.

void napkin_turn_wait(int barrier);
void napkin_turn_give(int barrier);
