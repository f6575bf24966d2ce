// The space of partitions: which wires may be split at which level, in which order, into pieces of which sizes. The
// search and its slow twin use the same space.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "napkin/search.hpp"
#include "search/launches.hpp"

namespace napkin {

// The sizes that pieces may have: multiples of `divisor`; beyond one fragment only whole fragments, if registers hold
// them as fragments; if `single`, also one position; if `in_order`, only one position.
struct Grain {
  std::int64_t divisor = 1, fragment = 1;
  bool single = false, in_order = false;
  auto operator<=>(const Grain&) const = default;
};

struct Space {
  std::shared_ptr<const Derivation> derivation;
  const Hardware* hardware = nullptr;
  std::shared_ptr<const Hardware> single_warps;  // the machine for single warps, if TMA cannot copy the operands
  std::shared_ptr<Streamed> kernels;             // of this derivation on this machine
  Partition fixed;                               // the part written by hand, which does not change
  std::size_t first = 1;                         // the outermost level that is free
  std::size_t end = 0;           // levels from here on are not searched; the division of rows among warps splits them
  std::size_t held = 0;          // the memory of levels from here on is counted by the launch
  std::vector<WireId> grouped;   // at every free level, unless a level above streams the wire
  std::vector<WireId> streamed;  // at every free level, in any order
  std::size_t most_streams = 3;  // per level
  std::vector<std::int64_t> divisors;       // of pieces, by wire
  std::shared_ptr<Launches> launches;       // null if launches are not timed
  std::vector<std::vector<WireId>> summed;  // if they are: by contraction that sums along several wires
  std::size_t core_level = 0;               // down to it core_divisors replace `divisors`
  std::vector<std::int64_t> core_divisors;
  std::vector<std::vector<std::int64_t>> coarser;  // tried before, coarsest first; levels above the core use the first
  std::set<WireId> single;  // an operand has several of them: one fills fragments, one position of each other is enough
  std::set<WireId> in_order;  // streams take one position after another
  std::int64_t divisor(const Split& split) const {
    if (in_order.contains(split.wire)) return 1;
    const auto& to_core = split.level < core_level && !coarser.empty() ? coarser.front() : core_divisors;
    return (split.level <= core_level ? to_core : divisors)[split.wire.index];
  }
  std::int64_t least(const Split& split) const { return single.contains(split.wire) ? 1 : divisor(split); }
  Grain grain(const Split& split) const {
    constexpr std::int64_t fragment = 16;
    const bool one = single.contains(split.wire);
    if (in_order.contains(split.wire)) return {1, 1, false, true};
    if (!launches || split.level > core_level) return {divisor(split), 1, one};
    return {divisor(split), fragment, one};
  }
};
Space make_space(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);
// The part of a space with the next coarser pieces: of whole lines and warpgroups, or of sectors. None without one.
std::optional<Space> coarser_part(const Space&);
std::string to_text(const Space&);

// The sizes of pieces of `extent`, largest first: the whole, and for every number of pieces the least multiple of the
// divisor that gives this number. Other sizes give the same number of pieces and hold more. On axes of more
// than two million positions, numbers of pieces grow in steps of 1 / finest_pieces, and sizes between are left out.
constexpr std::int64_t finest_pieces = 1024;
std::vector<std::int64_t> piece_sizes(std::int64_t extent, Grain);

// The same, remembered.
class PieceSizes {
 public:
  const std::vector<std::int64_t>& of(std::int64_t extent, Grain);

 private:
  std::map<std::pair<std::int64_t, Grain>, std::vector<std::int64_t>> known_;
};

// Visits every continuation of a shape at one level: all groups, with every choice and order of streams that the
// derivation allows. Sizes of free splits are 1. A partition belongs to exactly one shape, in which its streams have
// more than one piece; its groups may have one.
void each_continuation(const Space&, const Partition& shape, std::size_t level,
                       const std::function<void(const Kernel&)>& visit);

// The number of partitions, including those whose order of streams the derivation refuses; the greatest integer if it
// overflows.
std::int64_t count_partitions(const Space&);

}  // namespace napkin
