// The turns of warpgroups at the matrix units. In ping-pong a warpgroup's turn is a named barrier: all lanes of the
// warpgroup wait there, and the warpgroup before it arrives there.
#pragma once

#include <string>

#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// All functions print nothing for a kernel without ping-pong.
class TurnPrinter {
 public:
  explicit TurnPrinter(FragmentPage& page) : page_(page) {}

  // Code where the computing warpgroups begin and end.
  void begin();
  void end();
  // Waits for the warpgroup's turn, and gives it to the next warpgroup.
  void take();
  void give();

 private:
  FragmentPage& page_;
  std::string warpgroup_, turn_, next_turn_;  // the warpgroup's number, and its and the next one's named barrier
};

}  // namespace napkin
