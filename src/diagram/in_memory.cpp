#include "diagram/in_memory.hpp"

#include <algorithm>

#include "diagram/assume.hpp"

namespace napkin {
namespace {

// The memory dimension that begins with dimension `at` of the array: one of blocks if the axis is divided into them.
MemoryDimension dimension(const Diagram& diagram, const std::vector<RaggedBlocks>& blocks,
                          const std::vector<WireId>& wires, std::size_t at) {
  const auto axis = diagram.at(wires[at]).axis;
  const auto is_next = [&](AxisId inside) { return at + 1 < wires.size() && diagram.at(wires[at + 1]).axis == inside; };
  for (const auto& one : blocks) {
    const auto length = *diagram.at(one.inside).size;
    if (axis == one.block && is_next(one.inside)) return {one.whole, {{at, length}, {at + 1, 1}}};
    if (axis == one.last) return {one.whole, {{at, 1}}, *diagram.at(one.block).size * length};
  }
  return {axis, {{at, 1}}};
}

}  // namespace

std::vector<MemoryDimension> in_memory(const Diagram& diagram, ArrayId array) {
  const auto& wires = diagram.at(array).wires;
  const auto blocks = diagram.at(array).part_of ? ragged_blocks(diagram) : std::vector<RaggedBlocks>();
  std::vector<MemoryDimension> all;
  for (std::size_t at = 0; at < wires.size(); at += all.back().terms.size())
    all.push_back(dimension(diagram, blocks, wires, at));
  return all;
}

// Computes the places dimension by dimension: each place so far is followed by those of the next dimension.
std::vector<std::int64_t> places_in_memory(const Diagram& diagram, ArrayId array) {
  const auto& wires = diagram.at(array).wires;
  std::vector<std::int64_t> places{0};
  for (const auto& dimension : in_memory(diagram, array)) {
    std::vector<std::int64_t> along{dimension.offset}, next;
    for (const auto& [at, factor] : dimension.terms) {
      next.clear();
      for (const auto place : along)
        for (std::int64_t i = 0; i < *diagram.size(wires[at]); ++i) next.push_back(place + factor * i);
      along = next;
    }
    next.clear();
    for (const auto place : places)
      for (const auto further : along) next.push_back(place * *diagram.at(dimension.axis).size + further);
    places = next;
  }
  return places;
}

Diagram with_whole_outputs(Diagram diagram) {
  std::erase_if(diagram.outputs, [&](ArrayId id) { return diagram.at(id).part_of.value_or(id) != id; });
  return diagram;
}

}  // namespace napkin
