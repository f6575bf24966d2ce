// Partitions of one kernel -> seconds of their launches, each told once. What decides is how the kernel is split down
// to the level at which cores share out their rows.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "search/streamed.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {

// The launch of a partition, as far as its splits say it.
struct Launched {
  enum class State : std::uint8_t { open, timed, cannot_run } state = State::open;
  double seconds = 0;      // while open: at least
  double inner_bytes = 0;  // between the cores' memories and registers; while open, none
};

class Launches {
 public:
  // One choice of wires and kinds down to the level: a kernel whose pieces may be resized.
  class Shape;
  // `level` is the core's, or the deepest that is written by hand.
  Launches(std::shared_ptr<Streamed>, const Hardware&, std::size_t level);
  ~Launches();
  std::size_t level() const { return level_; }
  // Of a partition whose splits stand in the order of their levels down to this one; those deeper do not matter.
  Shape& shape(const Partition&);
  // Whether any sizes let cores run it, or these.
  bool may_run(Shape&) const;
  bool may_run(Shape&, std::span<const std::int64_t> sizes);
  // Of its sizes by split, those of splits deeper than the level do not matter.
  Launched time(Shape&, std::span<const std::int64_t> sizes);
  // Sizes, and what a model of theirs says that the largest move at least.
  struct Between {
    std::span<const std::int64_t> smallest, largest;
    const CostModel& model;
    const Figures& moved;
  };
  // What no pieces of streams between these sizes go below.
  double least(Shape&, const Between&);

 private:
  Launched reckon(Shape&, std::span<const std::int64_t> sizes);
  const Figures& least_moved(const Shape&, const Between&);

  const Hardware& hardware_;
  std::size_t level_;
  std::shared_ptr<Streamed> streamed_;
  std::map<Partition, std::unique_ptr<Shape>> shapes_;  // by their splits, sizes 1
  Figures figures_, held_;
};

// The slow twin: of this partition alone, nothing resized and nothing remembered.
Launched time_launch(std::shared_ptr<const Derivation>, const Partition&, const Hardware&, std::size_t level);

}  // namespace napkin
