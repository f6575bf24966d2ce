// The page that the text of one kernel in C++ is written on, and what names mean where it stands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/cpu/layout.hpp"
#include "emit/shared/page.hpp"

namespace napkin {

// A wire's piece where the text stands: it begins at 0 where nothing has split the wire yet.
struct CppPiece {
  std::string begin = "0", count;
  std::int64_t extent = 1;  // positions of a whole piece
  bool is_whole() const { return begin == "0"; }
};
using CppPieces = std::vector<CppPiece>;  // by WireId

// Where a buffer's values stand.
struct CppPlace {
  CppPieces scope;                   // the pieces that it was made for
  std::vector<std::size_t> order;    // its dimensions of more than one value, slowest first
  std::vector<std::int64_t> extent;  // by dimension; the fastest one in whole vectors
  std::vector<std::string> corner;   // by dimension, where the buffer begins; of tiles at more than a wire
};

struct CppPage : CodePage {
  CppPage(const LoopNest&, const CodeNames&);

  CpuLayout layout;
  CppPieces own;
  std::map<BufferId, CppPlace> places;  // filled as buffers are met

  // Whether the wire's piece has one position, however long its axis is.
  bool is_single(WireId) const;
  std::string_view storage(ArrayId) const;  // of the array in memory: "napkin_f16"
  // The type that its values are computed with: "float".
  std::string_view own_type(BufferId) const;

  bool is_shared_out(WireId, std::size_t level) const;  // by groups no deeper than the level, if by any
  // Makes the place of a buffer for the pieces at hand.
  void place(BufferId);
  // "K_smem[i_d][i_x]", of the values' places in the buffer by dimension.
  std::string element(BufferId, const std::vector<std::string>& at) const;
  // "const float K_smem[64][8] = {};", or a space of its own where it is large.
  std::string declaration(BufferId) const;
};

}  // namespace napkin
