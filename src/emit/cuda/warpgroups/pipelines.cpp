// Prints the barriers of pipelines and the counters of their stages.
#include "emit/cuda/warpgroups/pipelines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "emit/cuda/warps/buffers.hpp"

namespace napkin {
namespace {

// A barrier of the stage; `slot` is empty if there is only one stage.
std::string barrier_of_stage(const std::string& barriers, const std::string& slot) {
  return slot.empty() ? barriers : barriers + " + " + slot;
}

}  // namespace

void meet_blocks(FragmentPage& page) {
  page.out.line(page.warps.scheduler.cluster > 1 ? "napkin_cluster_meet();" : "__syncthreads();");
}

PipelinePrinter::PipelinePrinter(FragmentPage& page) : page_(page), barriers_(page.pool.fresh("barriers")) {
  for (const auto id : tiles()) {
    maps_[id] = page.pool.fresh(page.buffer(id) + "_map");
    full_[id] = page.pool.fresh(page.buffer(id) + "_full");
  }
  for (const auto& pipeline : page.warps.pipelines) {
    if (!is_reused(pipeline)) continue;
    const auto& stem =
        pipeline.loop ? page.wires[pipeline.loop->split.wire.index] : page.buffer(pipeline.tiles.front());
    names_[&pipeline] = {page.pool.fresh(stem + "_empty"), pipeline.loop ? page.pool.fresh(stem + "_slot") : "",
                         page.pool.fresh(stem + "_phase")};
  }
}

// Whether stages of the pipeline are filled more than once.
bool PipelinePrinter::is_reused(const TilePipeline& pipeline) const {
  return pipeline.loop || page_.warps.scheduler.persistent;
}
// Whether the blocks of a cluster share tiles of the pipeline.
bool PipelinePrinter::is_shared(const TilePipeline& pipeline) const {
  return std::ranges::any_of(pipeline.tiles, [&](BufferId id) { return page_.warps.tiles.at(id).shares > 1; });
}

// The kernel's head

std::vector<BufferId> PipelinePrinter::tiles() const {
  std::vector<BufferId> all;
  for (const auto& pipeline : page_.warps.pipelines)
    all.insert(all.end(), pipeline.tiles.begin(), pipeline.tiles.end());
  return all;
}
std::vector<std::string> PipelinePrinter::parameters() const {
  return texts_of(tiles(), [&](BufferId id) { return fmt::format("const __grid_constant__ CUtensorMap {}", map(id)); });
}

// Declares the full barriers of all tiles first, then the empty barriers of all pipelines.
void PipelinePrinter::declare_barriers() {
  const auto& warps = page_.warps;
  page_.declare_in_shared("napkin_barrier", barriers_, warps.barriers_begin);
  std::int64_t count = 0;
  const auto declare = [&](const std::string& name, std::int64_t copies) {
    page_.out.line("napkin_barrier* const {} = {} + {};  // [{}]", name, barriers_, count, copies);
    count += copies;
  };
  for (const auto id : tiles()) declare(full_.at(id), warps.tiles.at(id).copies);
  full_count_ = count;
  for (const auto& pipeline : warps.pipelines)
    if (is_reused(pipeline)) declare(names_.at(&pipeline).empty, pipeline.copies);
  page_.out.line();
}

// The producer thread arrives at the full barrier of a tile, and every computing warp at the empty barrier; for tiles
// that a cluster shares, these are the warps of all its blocks.
void PipelinePrinter::begin_barriers() const {
  const auto& warps = page_.warps;
  auto& out = page_.out;
  out.open("if (threadIdx.x == 0)");
  out.line("for (int i = 0; i < {}; ++i) napkin_barrier_begin({} + i, 1);", full_count_, barriers_);
  for (const auto& pipeline : warps.pipelines)
    if (is_reused(pipeline))
      out.line("for (int i = 0; i < {}; ++i) napkin_barrier_begin({} + i, {});", pipeline.copies,
               names_.at(&pipeline).empty, warps.warps * (is_shared(pipeline) ? warps.scheduler.cluster : 1));
  out.line("napkin_barrier_publish();");
  out.close();
  meet_blocks(page_);
  out.line();
}

void PipelinePrinter::declare_stages() const {
  for (const auto& [pipeline, names] : names_)
    page_.out.line(names.slot.empty() ? fmt::format("int {} = 0;", names.phase)
                                      : fmt::format("int {} = 0, {} = 0;", names.slot, names.phase));
}

// Stages

const TilePipeline* PipelinePrinter::of(const For& loop) const {
  const auto& all = page_.warps.pipelines;
  const auto found = std::ranges::find(all, &loop, &TilePipeline::loop);
  return found == all.end() ? nullptr : &*found;
}
const TilePipeline& PipelinePrinter::of_tile(BufferId id) const {
  return *std::ranges::find_if(page_.warps.pipelines,
                               [&](const TilePipeline& each) { return contains(each.tiles, id); });
}
std::string PipelinePrinter::slot(const TilePipeline& pipeline) const {
  return is_reused(pipeline) ? names_.at(&pipeline).slot : "";
}
void PipelinePrinter::advance(const TilePipeline& pipeline) {
  if (!is_reused(pipeline)) return;
  const auto& names = names_.at(&pipeline);
  page_.out.line(names.slot.empty()
                     ? fmt::format("{} ^= 1;", names.phase)
                     : fmt::format("if (++{0} == {1}) {0} = 0, {2} ^= 1;", names.slot, pipeline.copies, names.phase));
}

// The producer

void PipelinePrinter::wait_for_empty(const TilePipeline& pipeline) const {
  if (!is_reused(pipeline)) return;
  const auto& names = names_.at(&pipeline);
  page_.out.line("napkin_barrier_wait({}, {} ^ 1);", barrier_of_stage(names.empty, names.slot), names.phase);
}
std::string PipelinePrinter::full_barrier(const TilePipeline& pipeline, BufferId id) const {
  return barrier_of_stage(full_.at(id), slot(pipeline));
}

// The warpgroups that compute

void PipelinePrinter::loaded(BufferId id) {
  if (page_.warps.tiles.contains(id) && of_tile(id).loop) on_their_way_.insert(id);
}
void PipelinePrinter::wait_for(BufferId id) {
  if (on_their_way_.erase(id) == 0) return;
  const auto& pipeline = of_tile(id);
  page_.out.line("napkin_barrier_wait({}, {});", full_barrier(pipeline, id),
                 is_reused(pipeline) ? names_.at(&pipeline).phase : "0");
}
void PipelinePrinter::wait_for_tiles_of(const Compute& compute) {
  for (const auto id : tiles_read(page_, compute)) wait_for(id);
}
void PipelinePrinter::wait_for_all() {
  const auto all = on_their_way_;
  for (const auto id : all) wait_for(id);
}

std::string PipelinePrinter::release(const TilePipeline& pipeline) const {
  return is_shared(pipeline) ? fmt::format("napkin_release_cluster<{}>", page_.warps.scheduler.cluster)
                             : "napkin_release";
}
std::string PipelinePrinter::release(const For& loop, const std::string& slot) const {
  const auto& pipeline = *of(loop);
  return fmt::format("{}({} + {});", release(pipeline), names_.at(&pipeline).empty, slot);
}

void PipelinePrinter::begin_outside(const LoopStatement& statement) {
  for (const auto& pipeline : page_.warps.pipelines)
    if (!pipeline.loop && pipeline.first == &statement) on_their_way_.insert(pipeline.tiles.front());
}
void PipelinePrinter::end_outside(const LoopStatement& statement) {
  for (const auto& pipeline : page_.warps.pipelines) {
    if (pipeline.loop || pipeline.last != &statement || !is_reused(pipeline)) continue;
    page_.out.line("{}({});", release(pipeline), names_.at(&pipeline).empty);
    advance(pipeline);
  }
}

}  // namespace napkin
