// A nest of warpgroups printed as a __global__ function, with one part for the producer warpgroup, which copies tiles,
// and one for the warpgroups that compute. Both parts run the same loops over the same pieces; barriers in shared
// memory tell which stages of a pipeline are full and which are empty.
#include "emit/cuda/warpgroups/warpgroups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/match.hpp"
#include "emit/cuda/grid.hpp"
#include "emit/cuda/warpgroups/overlap.hpp"
#include "emit/cuda/warps/tiles.hpp"

namespace napkin {
namespace {

class WarpgroupPrinter : OverlapPrinter {
 public:
  WarpgroupPrinter(const ThreadedKernel& kernel, const WarpNest& warps, const CodeNames& names)
      : OverlapPrinter(kernel, warps, names),
        grid_(page_, groups_, warps.scheduler),
        barriers_(page_.pool.fresh("barriers")) {
    for (const auto id : tiles()) {
      maps_[id] = page_.pool.fresh(page_.buffer(id) + "_map");
      full_[id] = page_.pool.fresh(page_.buffer(id) + "_full");
    }
    for (const auto& pipeline : warps_.pipelines)
      if (is_reused(pipeline)) name_pipeline(pipeline);
    for (const auto& [id, tile] : warps_.stores) {
      const auto& name = page_.array(nest_.at(id).array);
      columns_.stores[id] = {page_.pool.fresh(name + "_map"), page_.pool.fresh(name + "_mapped"),
                             page_.pool.fresh(name + "_leaves")};
    }
  }

  PrintedKernel run(const std::string& name) {
    const auto instruction = fmt::format(fmt::runtime(warps_.products.front().instruction->name), "N");
    words("wgmma " + instruction, " that a producer warpgroup fills");
    grid_.words();
    store_words();
    turn_words();
    out_.verbatim("#ifdef NAPKIN_TEAMS\n");
    out_.line(fmt::format("__global__ void __launch_bounds__({}, {})", page_.kernel.threads, warps_.blocks));
    page_.open_function(name, read_in_place(warps_), map_parameters());
    declare_tiles();
    declare_stores();
    declare_barriers();
    grid_.begin();
    begin_barriers();
    copying_warpgroup();
    if (warps_.loader_lane_registers > 0)
      out_.line(fmt::format("napkin_take_registers<{}, {}>();", warps_.lane_registers, warps_.first_registers));
    begin_turns();
    lanes();
    declare_places();
    grid_.open();
    warps();
    print(nest_.body, true);
    grid_.close();
    end_turns();
    if (!warps_.stores.empty()) out_.line("napkin_store_end();");
    end_blocks();
    out_.close();
    without_warpgroups(name);
    return page_.printed(name);
  }

 private:
  struct PipelineNames {
    std::string empty, slot, phase;  // no slot for a single copy outside of all loops
    std::string at(const std::string& barriers) const { return slot.empty() ? barriers : barriers + " + " + slot; }
  };

  std::vector<BufferId> tiles() const {
    std::vector<BufferId> all;
    for (const auto& pipeline : warps_.pipelines) all.insert(all.end(), pipeline.tiles.begin(), pipeline.tiles.end());
    return all;
  }
  // Whether stages of the pipeline are filled more than once.
  bool is_reused(const TilePipeline& pipeline) const { return pipeline.loop || warps_.scheduler.persistent; }
  void name_pipeline(const TilePipeline& pipeline) {
    const auto& stem =
        pipeline.loop ? page_.wires[pipeline.loop->split.wire.index] : page_.buffer(pipeline.tiles.front());
    pipelines_[&pipeline] = {page_.pool.fresh(stem + "_empty"), pipeline.loop ? page_.pool.fresh(stem + "_slot") : "",
                             page_.pool.fresh(stem + "_phase")};
  }
  const TilePipeline* pipeline(const For* loop) const {
    const auto found = std::find_if(warps_.pipelines.begin(), warps_.pipelines.end(),
                                    [&](const TilePipeline& each) { return each.loop == loop; });
    return found == warps_.pipelines.end() ? nullptr : &*found;
  }

  // The kernel's head

  std::vector<std::string> map_parameters() const {
    std::vector<std::string> all;
    for (const auto id : tiles()) all.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", maps_.at(id)));
    for (const auto& [id, names] : columns_.stores) {
      all.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", names.map));
      all.push_back(fmt::format("const int {}", names.mapped));
    }
    return all;
  }
  // A stub for the case that the text is compiled for other machines: it allows one thread, so a launcher finds that it
  // cannot launch the planned number.
  void without_warpgroups(const std::string& name) {
    std::vector<std::string> all = {fmt::format("{}_sizes", page_.names.diagram)};
    for (const auto id : read_in_place(warps_)) all.push_back(fmt::format("const {}*", page_.memory(id)));
    for (const auto id : nest_.outputs) all.push_back(fmt::format("{}*", page_.storage(id)));
    for (std::size_t i = 0; i < maps_.size(); ++i) all.emplace_back("const __grid_constant__ CUtensorMap");
    for (std::size_t i = 0; i < warps_.stores.size(); ++i)
      all.insert(all.end(), {"const __grid_constant__ CUtensorMap", "const int"});
    out_.verbatim("#else\n");
    out_.list(fmt::format("__global__ void __launch_bounds__(1) {}(", name), all, ") {}");
    out_.verbatim("#endif\n");
  }

  void store_words() {
    for (const auto& [id, tile] : warps_.stores)
      out_.line(fmt::format("//   {} leaves through shared memory, by TMA where its rows are aligned",
                            page_.diagram.at(nest_.at(id).array).name));
    if (!warps_.no_stores.empty())
      out_.line(fmt::format("//   {} leave from registers: {}", warps_.stores.empty() ? "outputs" : "others",
                            warps_.no_stores));
  }
  void declare_stores() {
    for (const auto& [id, tile] : warps_.stores)
      page_.declare_in_shared(page_.storage(nest_.at(id).array), columns_.stores.at(id).tile, tile.begin,
                              fmt::format("[{}][{}]", tile.layout.rows, tile.layout.columns));
  }
  // Declares the full barriers of all tiles first, then the empty barriers of all pipelines.
  void declare_barriers() {
    page_.declare_in_shared("napkin_barrier", barriers_, warps_.barriers_begin);
    const auto declare = [&](const std::string& name, std::int64_t count) {
      out_.line(fmt::format("napkin_barrier* const {} = {} + {};  // [{}]", name, barriers_, barrier_count_, count));
      barrier_count_ += count;
    };
    for (const auto id : tiles()) declare(full_.at(id), warps_.tiles.at(id).copies);
    full_count_ = barrier_count_;
    for (const auto& pipeline : warps_.pipelines)
      if (is_reused(pipeline)) declare(pipelines_.at(&pipeline).empty, pipeline.copies);
    out_.line();
  }
  // The producer thread arrives at the full barrier of a tile, and every computing warp at the empty barrier; for tiles
  // that a cluster shares, these are the warps of all its blocks.
  void begin_barriers() {
    out_.open("if (threadIdx.x == 0)");
    out_.line(fmt::format("for (int i = 0; i < {}; ++i) napkin_barrier_begin({} + i, 1);", full_count_, barriers_));
    for (const auto& pipeline : warps_.pipelines)
      if (is_reused(pipeline))
        out_.line(fmt::format("for (int i = 0; i < {}; ++i) napkin_barrier_begin({} + i, {});", pipeline.copies,
                              pipelines_.at(&pipeline).empty,
                              warps_.warps * (is_shared(pipeline) ? warps_.scheduler.cluster : 1)));
    out_.line("napkin_barrier_publish();");
    out_.close();
    meet_blocks();
    out_.line();
  }
  // Synchronizes the blocks of a cluster, or a single block.
  void meet_blocks() { out_.line(warps_.scheduler.cluster > 1 ? "napkin_cluster_meet();" : "__syncthreads();"); }
  bool is_shared(const TilePipeline& pipeline) const {
    return std::any_of(pipeline.tiles.begin(), pipeline.tiles.end(),
                       [&](BufferId id) { return warps_.tiles.at(id).shares > 1; });
  }
  std::string release(const TilePipeline& pipeline) const {
    return is_shared(pipeline) ? fmt::format("napkin_release_cluster<{}>", warps_.scheduler.cluster) : "napkin_release";
  }
  void declare_places() {
    for (const auto& [pipeline, names] : pipelines_)
      out_.line(names.slot.empty() ? fmt::format("int {} = 0;", names.phase)
                                   : fmt::format("int {} = 0, {} = 0;", names.slot, names.phase));
  }

  // Blocks of a cluster write to each other's shared memory, which exists only as long as its block runs.
  void end_blocks() {
    if (warps_.scheduler.cluster > 1) meet_blocks();
  }

  // The warpgroup that copies

  void copying_warpgroup() {
    const auto computing = page_.kernel.threads - warps_.issuing_warps * lanes_of_warp;
    out_.open(fmt::format("if (threadIdx.x >= {})", computing));
    if (warps_.loader_lane_registers > 0)
      out_.line(fmt::format("napkin_give_registers<{}, {}>();", warps_.loader_lane_registers, warps_.first_registers));
    out_.line(fmt::format("if (threadIdx.x > {}) return;", computing));
    declare_places();
    grid_.open();
    for (const auto& step : nest_.body.steps) {
      outside(step, &TilePipeline::first, [&](const TilePipeline& pipeline) { fill(pipeline); });
      fill_loop(step);
    }
    grid_.close();
    end_blocks();
    out_.line("return;");
    out_.close();
  }
  bool fills(const For& loop) const {
    return pipeline(&loop) ||
           std::any_of(loop.body.steps.begin(), loop.body.steps.end(), [&](const LoopStatement& step) {
             const auto* inside = std::get_if<For>(&step.node);
             return inside && fills(*inside);
           });
  }
  void fill_loop(const LoopStatement& step) {
    const auto* loop = std::get_if<For>(&step.node);
    if (!loop || !fills(*loop)) return;
    pieces(*loop, [&](const WirePiece&, const std::string&) {
      if (const auto* here = pipeline(loop)) fill(*here);
      for (const auto& inside : loop->body.steps) fill_loop(inside);
    });
  }
  void fill(const TilePipeline& pipeline) {
    const auto names = is_reused(pipeline) ? pipelines_.at(&pipeline) : PipelineNames();
    if (is_reused(pipeline))
      out_.line(fmt::format("napkin_barrier_wait({}, {} ^ 1);", names.at(names.empty), names.phase));
    for (const auto id : pipeline.tiles) fill(id, names.slot);
    if (is_reused(pipeline)) advance(pipeline);
  }
  // Acts on the tiles outside of all loops that the statement is the first, or the last, to read.
  template <class Do>
  void outside(const LoopStatement& step, const LoopStatement* TilePipeline::*which, Do act) const {
    for (const auto& pipeline : warps_.pipelines)
      if (!pipeline.loop && pipeline.*which == &step) act(pipeline);
  }
  // Copies one tile, panel after panel; its barrier expects the bytes of all boxes, including those past the end of the
  // array.
  void fill(BufferId id, const std::string& slot) {
    const auto& tile = warps_.tiles.at(id);
    const auto& buffer = nest_.at(id);
    const auto from = page_.from(id);
    const auto full = slot.empty() ? full_.at(id) : fmt::format("{} + {}", full_.at(id), slot);
    const auto to = slot.empty() || tile.copies == 1 ? page_.buffer(id) : copy_of(id, slot, swizzle_pattern);
    out_.line(fmt::format("napkin_barrier_expect({}, {});", full, tile.layout.size_bytes()));
    const auto share = tile.layout.rows / tile.shares;
    const bool shared = tile.shares > 1;
    for (std::int64_t column = 0; column < tile.layout.columns; column += tile.layout.panel) {
      std::string at;
      for (std::size_t k = 0; k < buffer.at.size(); ++k) {
        page_.limit(buffer.at[k], page_.shared);
        const auto further = k == tile.column && column > 0 ? fmt::format("{}", column)
                             : k == tile.row && shared      ? fmt::format("{} * {}", GroupPrinter::rank, share)
                                                            : "";
        at += ", " + sum(corner(buffer.at[k], page_.shared, false), further);
      }
      auto panel = sum(to, column == 0 ? "" : fmt::format("{}", column * tile.layout.rows));
      if (shared) panel = sum(panel, fmt::format("{} * {}", GroupPrinter::rank, share * tile.layout.panel));
      out_.line(fmt::format("{}({}, &{}, {}{}{});", tile_copy_name(buffer.at.size(), shared), panel, maps_.at(id), full,
                            shared ? fmt::format(", {}", (1 << tile.shares) - 1) : "", at));
    }
  }
  static std::string sum(const std::string& begin, const std::string& further) {
    return further.empty() ? begin : begin == "0" ? further : fmt::format("{} + {}", begin, further);
  }
  void advance(const TilePipeline& pipeline) {
    const auto& names = pipelines_.at(&pipeline);
    out_.line(names.slot.empty()
                  ? fmt::format("{} ^= 1;", names.phase)
                  : fmt::format("if (++{0} == {1}) {0} = 0, {2} ^= 1;", names.slot, pipeline.copies, names.phase));
  }

  // The warpgroups that compute

  void print(const LoopBody& block, bool outermost) override {
    if (!is_step(block)) declare_buffers(block);
    for (const auto& step : block.steps) {
      if (outermost)
        outside(step, &TilePipeline::first,
                [&](const TilePipeline& pipeline) { on_their_way_.insert(pipeline.tiles.front()); });
      match(
          step.node,
          [&](const Load& load) {
            if (!is_step(block)) loaded(load.to), read_single(load);
          },
          [](const MaskTest&) {}, [&](const Compute& compute) { print(compute); },
          [&](const Save& save) { columns_.print(save); }, [&](const For& loop) { stream(loop); });
      if (outermost)
        outside(step, &TilePipeline::last, [&](const TilePipeline& pipeline) { release_outside(pipeline); });
    }
  }
  void loaded(BufferId id) override {
    if (warps_.tiles.contains(id) && pipeline_of(id)->loop) on_their_way_.insert(id);
  }
  // Releases tiles outside of loops, so that those of the block's next output tile can be loaded.
  void release_outside(const TilePipeline& pipeline) {
    if (!is_reused(pipeline)) return;
    out_.line(fmt::format("{}({});", release(pipeline), pipelines_.at(&pipeline).empty));
    advance(pipeline);
  }
  void print(const Compute& compute) {
    if (print_in_step(compute)) return;
    arrive(compute);
    columns_.print(compute);
  }
  void arrive(const Compute& compute) override {
    for (const auto& [access, buffer] : compute.reads)
      if (page_.is_input(nest_.at(buffer).array)) arrive(page_.staged(buffer));
  }
  std::string slot(const For& loop) const override { return pipelines_.at(pipeline(&loop)).slot; }
  std::string release(const For& loop, const std::string& copy) const override {
    return fmt::format("{}({} + {});", release(*pipeline(&loop)), pipelines_.at(pipeline(&loop)).empty, copy);
  }
  void advance(const For& loop) override { advance(*pipeline(&loop)); }
  void arrive(BufferId id) {
    if (on_their_way_.erase(id) == 0) return;
    const auto* of = pipeline_of(id);
    if (!is_reused(*of)) return out_.line(fmt::format("napkin_barrier_wait({}, 0);", full_.at(id)));
    const auto& names = pipelines_.at(of);
    out_.line(fmt::format("napkin_barrier_wait({}, {});", names.at(full_.at(id)), names.phase));
  }
  void arrive_all() override {
    const auto all = on_their_way_;
    for (const auto id : all) arrive(id);
  }
  const TilePipeline* pipeline_of(BufferId id) const {
    return &*std::find_if(warps_.pipelines.begin(), warps_.pipelines.end(), [&](const TilePipeline& each) {
      return std::find(each.tiles.begin(), each.tiles.end(), id) != each.tiles.end();
    });
  }
  void stream(const For& loop) {
    arrive_all();
    if (within(loop)) return stream_within();
    const auto* lasting = pipeline(&loop) ? warps_.product(pipeline(&loop)->lasting) : nullptr;
    if (lasting) begin_lasting(loop, *lasting);
    if (in_turn(loop)) take_turn();
    pieces(loop, [&](const WirePiece& around, const std::string& begin) {
      const auto* here = pipeline(&loop);
      if (here && here->copies > 1)
        for (const auto id : here->tiles) point(id, copy_of(id, pipelines_.at(here).slot, swizzle_pattern));
      if (in_turn(loop)) begin_round();
      body(loop, begin, around);
      if (!here) return;
      arrive_all();
      const auto& names = pipelines_.at(here);
      if (lasting) {
        release_last(loop);
        out_.line(fmt::format("{} = {};", lasts_.at(&loop), names.slot));
      } else {
        out_.line(release(loop, names.slot));
      }
      advance(*here);
    });
    if (lasting) end_lasting(loop, *lasting);
    if (in_turn(loop)) give_turn();
  }
  // A product that stays in flight while the next iteration begins: the tiles of an iteration are released one
  // iteration later.
  void begin_lasting(const For& loop, const Product& product) {
    const auto& name = lasts_[&loop] = page_.pool.fresh(page_.wires[loop.split.wire.index] + "_last");
    out_.line(fmt::format("int {} = -1;  // the stage that running products read", name));
    columns_.hold(product);
  }
  void release_last(const For& loop) {
    out_.line(fmt::format("if ({} >= 0) {}", lasts_.at(&loop), release(loop, lasts_.at(&loop))));
  }
  void end_lasting(const For& loop, const Product& product) {
    out_.line("napkin_warpgroup_wait<0>();");
    columns_.hold(product);
    release_last(loop);
  }

  GridPrinter grid_;
  std::map<BufferId, std::string> maps_, full_;
  std::map<const TilePipeline*, PipelineNames> pipelines_;  // those whose stages are filled more than once
  std::map<const For*, std::string> lasts_;
  std::string barriers_;
  std::int64_t barrier_count_ = 0, full_count_ = 0;
};

}  // namespace

PrintedKernel warpgroup_kernel(const ThreadedKernel& launch, const WarpNest& warps, const CodeNames& names,
                               const std::string& name) {
  return WarpgroupPrinter(launch, warps, names).run(name);
}

}  // namespace napkin
