// Partitions of one kernel -> seconds of their launches, each told once. What decides is how the kernel is split down
// to the level at which cores share out their rows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "configure/deal.hpp"
#include "search/streamed.hpp"

namespace napkin {

// The launch of a partition, as far as its splits say it.
struct Launched {
  enum class State : std::uint8_t { open, timed, cannot_run } state = State::open;
  double seconds = 0;  // while open: at least
};

class Launches {
 public:
  // `level` is the core's, or the deepest that is written by hand.
  Launches(std::shared_ptr<const Derivation>, const Hardware&, std::size_t level);
  std::size_t level() const { return level_; }
  // Sizes of splits below the level do not matter.
  Launched time(const Partition&, const std::vector<std::int64_t>& sizes);
  // What no pieces of streams between these sizes go below.
  double least(const Partition&, const std::vector<std::int64_t>& smallest, const std::vector<std::int64_t>& largest);

 private:
  // One choice of wires and kinds: a kernel whose pieces may be resized.
  struct Shape {
    Partition partition;
    std::unique_ptr<Dealing> dealing;
    std::unique_ptr<CostModel> model;
    std::map<std::vector<std::int64_t>, Launched> known{};
  };
  Shape& shape_of(const Partition&, const std::vector<std::int64_t>& sizes);
  Shape& shape(const Partition&);
  void resize(Shape&, const std::vector<std::int64_t>& sizes);
  Launched reckon(Shape&, const std::vector<std::int64_t>& sizes);

  const Hardware& hardware_;
  std::size_t level_;
  Streamed streamed_;
  std::map<Partition, Shape> shapes_;  // by their splits, sizes 1
  Figures figures_, held_;
  Partition outer_;
  std::vector<std::int64_t> sizes_, smallest_, outer_sizes_;
};

// The slow twin: of this partition alone, nothing resized and nothing remembered.
Launched time_launch(std::shared_ptr<const Derivation>, const Partition&, const Hardware&, std::size_t level);

// Where the machine knows how its cores run the contractions of this kernel.
bool times_launches(const Derivation&, const Hardware&);

}  // namespace napkin
