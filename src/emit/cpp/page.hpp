// The state of printing one kernel in C++: its text so far, and what names mean at the current place in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/cpu/layout.hpp"
#include "emit/shared/page.hpp"

namespace napkin {

// A wire's piece at the current place in the text. It begins at 0 if no loop has split the wire yet.
struct CppPiece {
  std::string begin = "0", count;
  std::int64_t extent = 1;  // positions of a whole piece
  bool is_whole() const { return begin == "0"; }
  std::string end() const { return sum(begin, count); }
};
using CppPieces = std::vector<CppPiece>;  // by WireId

// Where a buffer's values lie.
struct CppPlace {
  CppPieces scope;                   // the pieces that the buffer was made for
  std::vector<std::size_t> order;    // the dimensions with more than one value, slowest first
  std::vector<std::int64_t> extent;  // by dimension; the fastest one is rounded up to whole vectors
  std::vector<std::string> corner;   // by dimension, where the buffer begins
};

struct CppPage : CodePage {
  CppPage(const LoopNest&, const CodeNames&);

  CpuLayout layout;
  CppPieces own;
  std::map<BufferId, CppPlace> places;  // filled as buffers are met

  // Whether the wire's piece has one position, whatever the length of its axis.
  bool is_single(WireId) const;

  bool is_shared_out(WireId, std::size_t level) const;  // by groups at the level or above, unless no group splits it
  // Makes the place of a buffer for the current pieces.
  void place(BufferId);
  // "K_smem[i_d][i_x]"; `at` gives the place in the buffer by dimension.
  std::string element(BufferId, const std::vector<std::string>& at) const;
  // "const float K_smem[64][8] = {};", or separate storage if the buffer is large.
  std::string declaration(BufferId) const;
};

}  // namespace napkin
