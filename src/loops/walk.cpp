// Visits every statement of a nest, and finds the tiles from which others are loaded.
#include "loops/walk.hpp"

#include <algorithm>

namespace napkin {

std::int64_t Buffer::values() const { return product_of(extent); }
BufferId Compute::read_from(ExprId access) const {
  return std::ranges::find(reads, access, &std::pair<ExprId, BufferId>::first)->second;
}
bool LoopNest::is_input(ArrayId id) const { return std::ranges::find(inputs, id) != inputs.end(); }

Lengths whole_lengths(const Diagram& diagram) {
  Lengths all;
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w) all.push_back(diagram.size(WireId{w}).value_or(1));
  return all;
}
Lengths lengths_in_groups(const LoopNest& nest) {
  auto all = whole_lengths(nest.scratch);
  for (const auto& group : nest.groups) shorten(all, group);
  return all;
}
void shorten(Lengths& lengths, const Split& split) {
  auto& length = lengths[split.wire.index];
  length = std::min(length, split.size);
}

namespace {

bool carries_along(const LoopBody& block, WireId wire) {
  bool found = false;
  each_step(block, [&](const LoopStatement& step) {
    const auto* compute = std::get_if<Compute>(&step.node);
    found = found || (compute && compute->carried && std::ranges::count(compute->column.over, wire) > 0);
  });
  return found;
}

bool saves_anew(const LoopBody& block, const For* loop) {
  return std::ranges::any_of(block.steps, [&](const LoopStatement& step) {
    if (const auto* inner = std::get_if<For>(&step.node)) return saves_anew(inner->body, inner);
    return loop && std::holds_alternative<Save>(step.node) && !carries_along(block, loop->split.wire);
  });
}

}  // namespace

bool saves_anew(const LoopNest& nest) { return saves_anew(nest.body, nullptr); }

TileSources tile_sources(const LoopNest& nest) {
  TileSources all;
  each_step(nest.body, [&](const LoopStatement& step) {
    if (const auto* load = std::get_if<Load>(&step.node); load && load->from) all.emplace(load->to, *load->from);
  });
  return all;
}

BufferId tile_at(const LoopNest& nest, const TileSources& sources, BufferId id, std::size_t level) {
  while (nest.at(id).level > level) id = sources.at(id);
  return id;
}

BufferId outermost_tile(const TileSources& sources, BufferId id) {
  for (auto from = sources.find(id); from != sources.end(); from = sources.find(id)) id = from->second;
  return id;
}

}  // namespace napkin
