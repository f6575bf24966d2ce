// The tiles that one loop loads form one pipeline, and so does every tile that is loaded outside of all loops.
#include "device/warpgroups/pipelines.hpp"

#include "device/warps/shared_memory.hpp"
#include "loops/passing.hpp"
#include "timing/pipelining.hpp"

namespace napkin {
namespace {

constexpr std::int64_t least_stages_to_keep = 2;  // outputs are not staged if fewer would be left

// Which tiles

// True if a buffer is loaded from the tile, or an inlined column computes it from the tile.
bool comes_from(const Lowered& lowered, const WarpNest& found, BufferId id, BufferId tile) {
  if (lowered.nest->is_input(id)) return lowered.staged(id) == tile;
  const auto inlined = found.inlined.find(id);
  return inlined != found.inlined.end() && std::ranges::any_of(inlined->second->reads, [&](const auto& read) {
           return comes_from(lowered, found, read.second, tile);
         });
}
bool uses_tile(const Lowered& lowered, const WarpNest& found, const LoopStatement& step, BufferId tile) {
  const auto reads = [&](const auto& read) { return comes_from(lowered, found, read.second, tile); };
  const auto uses = [&](const LoopStatement& each) { return uses_tile(lowered, found, each, tile); };
  if (const auto* loop = std::get_if<For>(&step.node)) return std::ranges::any_of(loop->body.steps, uses);
  if (const auto* save = std::get_if<Save>(&step.node)) return comes_from(lowered, found, save->from, tile);
  const auto* compute = std::get_if<Compute>(&step.node);
  return compute && std::ranges::any_of(compute->reads, reads);
}
// Finds the first and the last statement that use the tile. A persistent block has to know them, so that it can load
// the tile of its next output tile in time.
TilePipeline pipeline_outside(const Lowered& lowered, const WarpNest& found, BufferId tile) {
  TilePipeline pipeline{nullptr, {tile}};
  for (const auto& step : lowered.nest->body.steps) {
    if (!uses_tile(lowered, found, step, tile)) continue;
    if (!pipeline.first) pipeline.first = &step;
    pipeline.last = &step;
  }
  return pipeline;
}
// An iteration may end with a product that still runs while the next one begins.
const Compute* lasting(const LoopBody& block, const WarpNest& found) {
  const auto* last = block.steps.empty() ? nullptr : std::get_if<Compute>(&block.steps.back().node);
  const auto* product = last ? found.product(last) : nullptr;
  if (!product || product->rows.computed || product->promoted > 0 || last->column.repair) return nullptr;
  return may_trail(block, *last) ? last : nullptr;
}
// Adds the pipelines of a loop, those of the loops inside it first.
void add_pipelines(std::vector<TilePipeline>& all, const Lowered& lowered, const WarpNest& found, const For& loop) {
  const auto inner = own_statements<For>(loop.body);
  for (const auto* inside : inner) add_pipelines(all, lowered, found, *inside);
  TilePipeline pipeline{&loop, found.tiles_loaded(loop.body)};
  if (inner.empty()) pipeline.copies = lowered.planned.stages, pipeline.lasting = lasting(loop.body, found);
  if (!pipeline.tiles.empty()) all.push_back(pipeline);
}
std::vector<TilePipeline> find_pipelines(const Lowered& lowered, const WarpNest& found) {
  std::vector<TilePipeline> all;
  const auto& body = lowered.nest->body;
  for (const auto tile : found.tiles_loaded(body)) all.push_back(pipeline_outside(lowered, found, tile));
  for (const auto* loop : own_statements<For>(body)) add_pipelines(all, lowered, found, *loop);
  return all;
}

// How many stages, and where

// An overlapped iteration begins before the one before it has ended, so that a single stage would never become empty.
bool is_overlapped(const WarpNest& found, const TilePipeline& pipeline) {
  return found.step && found.step->loop == pipeline.loop;
}
std::int64_t spare_stages(const WarpNest& found, const TilePipeline& pipeline) {
  return pipeline.copies - (is_overlapped(found, pipeline) ? 2 : 1);
}
std::int64_t total_bytes(const WarpNest& found, std::int64_t most_stages = INT64_MAX) {
  std::int64_t all = 0;
  for (const auto& [id, tile] : found.stores) all += bytes_of(tile, swizzle_pattern);
  for (const auto& pipeline : found.pipelines) {
    auto stage = barrier_bytes * (std::ssize(pipeline.tiles) + 1);
    for (const auto id : pipeline.tiles) stage += bytes_of(found.tiles.at(id), swizzle_pattern);
    all += stage * std::min(pipeline.copies, most_stages);
  }
  return all;
}
// Outputs leave from registers if pipelines would otherwise get fewer stages than planned.
void drop_stores(WarpNest& found, std::int64_t planned_stages, std::int64_t room) {
  if (found.stores.empty() || total_bytes(found, std::max(least_stages_to_keep, planned_stages)) <= room) return;
  found.stores.clear();
  found.no_stores = "shared memory has no space for them beside the stages of other tiles";
}
// The pipeline with the most stages to spare gives one up, until all fit.
void fit_stages(WarpNest& found, const Lowered& lowered, std::int64_t room) {
  const auto spare = [&](const TilePipeline& pipeline) { return spare_stages(found, pipeline); };
  while (total_bytes(found) > room) {
    const auto most = std::ranges::max_element(found.pipelines, {}, spare);
    if (spare(*most) <= 0) throw too_large(lowered, total_bytes(found), room);
    --most->copies;
  }
}
void place(StagedTile& tile, std::int64_t& end) {
  tile.begin = end;
  end += bytes_of(tile, swizzle_pattern);
}

}  // namespace

void place_pipelines(WarpNest& found, const Lowered& lowered) {
  found.pipelines = find_pipelines(lowered, found);
  const auto room = block_room(lowered);
  drop_stores(found, lowered.planned.stages, room);
  fit_stages(found, lowered, room);
  found.shared_bytes = total_bytes(found);
  for (auto& pipeline : found.pipelines) {
    if (pipeline.copies == 1 || is_overlapped(found, pipeline)) pipeline.lasting = nullptr;
    for (const auto id : pipeline.tiles) {
      found.tiles.at(id).copies = pipeline.copies;
      place(found.tiles.at(id), found.barriers_begin);
    }
  }
  for (auto& [id, tile] : found.stores) place(tile, found.barriers_begin);
}

}  // namespace napkin
