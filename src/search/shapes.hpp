// Shapes level by level: which wires are streamed, in which order, with all groups. A shape that stops above the
// innermost level represents all shapes that continue it.
#pragma once

#include <deque>
#include <vector>

#include "cost/model/model.hpp"
#include "search/space.hpp"

namespace napkin {

struct Shape {
  Partition partition;  // sizes of free splits are 1
  std::size_t level;    // the innermost level that it splits
  std::size_t root;     // the shape of the outermost level that it continues, or itself
  const CostModel& model;
  bool whole = false;       // it goes down to the innermost level
  bool operations = false;  // no continuation computes less
  bool continued = false;
  // For each edge of a stream, the state that is kept across it at the innermost level, however that level is split:
  // indices into the model's holdings.
  std::vector<std::vector<std::size_t>> kept{};
  Launches::Shape* launches = nullptr;  // null if it is not known how a core runs it
  std::vector<std::size_t> next{};      // shapes that continue it by one level
};

// The share of all memories of the innermost level below one group of the shape that must hold state from piece to
// piece of a stream. `held` are the figures with the smallest sizes.
double kept_share(const Shape&, const Figures& held, const Hardware&);

// Shapes are built when they are needed.
class Shapes {
 public:
  explicit Shapes(const Space& space) : space_(space) {}
  const std::vector<std::size_t>& roots();
  const std::vector<std::size_t>& next(std::size_t shape);
  const Shape& at(std::size_t shape) const { return all_[shape]; }

 private:
  void add(const Kernel&, std::size_t level, std::vector<std::size_t>& to);
  std::vector<std::size_t> continued(const Partition&, std::size_t level);

  const Space& space_;
  std::deque<Shape> all_;
  std::vector<std::size_t> roots_;
};

}  // namespace napkin
