// The turns of warpgroups at the matrix units. In ping-pong a warpgroup's turn is a named barrier: all lanes of the
// warpgroup wait there, and the warpgroup before it arrives there. All functions print nothing for a kernel without
// ping-pong.
#pragma once

#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// Code where the computing warpgroups begin and end.
void begin_turns(FragmentPage&);
void end_turns(FragmentPage&);
// Waits for the warpgroup's turn, and gives it to the next warpgroup.
void take_turn(FragmentPage&);
void give_turn(FragmentPage&);

}  // namespace napkin
