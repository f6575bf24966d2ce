// Partitions of one kernel -> seconds of their launches, each computed once. Only the splits down to the level at which
// cores divide their rows among warps matter.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "search/streamed.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {

// The launch of a partition, as far as its splits determine it.
struct Launched {
  enum class State : std::uint8_t { open, timed, cannot_run } state = State::open;
  double seconds = 0;      // while open: a lower bound
  double inner_bytes = 0;  // between the cores' memories and registers; 0 while open
};

class Launches {
 public:
  // The wires and kinds of all splits down to the level: a kernel whose pieces can be resized.
  class Shape;
  // `level` is that of the core, or the deepest level that is written by hand.
  Launches(std::shared_ptr<Streamed>, const Hardware&, std::size_t level);
  ~Launches();
  std::size_t level() const { return level_; }
  // The shape of a partition whose splits down to this level are in the order of their levels. Deeper ones do not
  // matter.
  Shape& shape(const Partition&);
  // Whether cores can run the shape with any sizes, or with these.
  bool may_run(Shape&) const;
  bool may_run(Shape&, std::span<const std::int64_t> sizes);
  // `sizes` are by split; those of splits deeper than the level do not matter.
  Launched time(Shape&, std::span<const std::int64_t> sizes);
  // A range of sizes, and the figures of the bytes that the largest move at least.
  struct Between {
    std::span<const std::int64_t> smallest, largest;
    const CostModel& model;
    const Figures& moved;
  };
  // A lower bound of the seconds for all pieces of streams between these sizes.
  double least(Shape&, const Between&);

 private:
  Launched reckon(Shape&, std::span<const std::int64_t> sizes);
  const Figures& least_moved(const Shape&, const Between&);

  const Hardware& hardware_;
  std::size_t level_;
  std::shared_ptr<Streamed> streamed_;
  std::map<Partition, std::unique_ptr<Shape>> shapes_;  // by their splits with sizes 1
  Figures figures_, held_;
};

// The slow twin: times this partition alone, without resizing or remembering anything.
Launched time_launch(std::shared_ptr<const Derivation>, const Partition&, const Hardware&, std::size_t level);

}  // namespace napkin
