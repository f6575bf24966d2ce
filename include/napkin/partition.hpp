// A partition: how a kernel is split over the levels of a machine. The labels a person writes on the napkin.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "napkin/derive.hpp"
#include "napkin/hardware.hpp"

namespace napkin {

enum class SplitKind : std::uint8_t { group, stream };  // in space: side by side; in time: one after another

struct Split {
  SplitKind kind = SplitKind::group;
  WireId wire;
  std::int64_t size = 1;  // of one piece; ragged last pieces are legal
  std::size_t level = 1;  // index into Hardware::levels
  auto operator<=>(const Split&) const = default;
};

// Outermost level first; within a level groups in the order written, then streams with the outermost loop first.
struct Partition {
  std::vector<Split> splits;
  auto operator<=>(const Partition&) const = default;
};

// "group q 128, stream x 64 at smem; group q 16 at reg"
std::string to_text(const Partition&, const Diagram&, const Hardware&);

// Why a partition may not be used for these statements on this machine, in the words of the file; empty if it may.
// Capacity is not asked here: not fitting is a result, not an error (cost.hpp).
std::vector<Refused> illegal(const Derivation&, const Hardware&, const Partition&);

}  // namespace napkin
