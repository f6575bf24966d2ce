// A circuit -> rows of columns: the order of the wires at each function.
#pragma once

#include <optional>
#include <vector>

#include "scene/circuit.hpp"

namespace napkin::scene {

// One wire in one column. A value without wires has one lane without a wire.
struct Lane {
  std::size_t value = 0;
  std::optional<WireId> wire;
  bool copy = false;  // whether it branches off, because the value is read again later
  double y = 0;
  bool same(const Lane& other) const { return value == other.value && wire == other.wire; }
};
using Lanes = std::vector<Lane>;  // from top to bottom, with the lanes of a value together

// A function between two columns: `in` are the lanes at it, gathered; `out` are the lanes after it.
struct Step {
  std::size_t function = 0, makes = 0;
  Lanes in, out;
  std::size_t begin = 0, end = 0;  // the lanes of `in` that it reads
  bool reads(std::size_t in_lane) const { return in_lane >= begin && in_lane < end; }
  // Whether the wire continues from one side to the other: past the function, or through it.
  bool continues(std::size_t in_lane, const Lane& to) const {
    const auto& lane = in[in_lane];
    return reads(in_lane) ? to.value == makes && lane.wire && lane.wire == to.wire : lane.same(to);
  }
};

struct Row {
  Lanes start;
  std::vector<Step> steps;
  const Lanes& before(std::size_t step) const { return step == 0 ? start : steps[step - 1].out; }
  const Lanes& last() const { return steps.empty() ? start : steps.back().out; }
};

// The rows, each with the functions from `breaks[i]` to `breaks[i + 1]`, in order, without heights.
std::vector<Row> rows(const Circuit&, const std::vector<std::size_t>& breaks);

// Sets the heights: wires keep their height if possible.
void place(std::vector<Row>&);

constexpr double pitch = 24;      // between the wires of an array
constexpr double array_gap = 48;  // between the wires of neighbouring arrays

}  // namespace napkin::scene
