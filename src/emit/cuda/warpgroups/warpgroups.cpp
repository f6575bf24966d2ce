// A nest of warpgroups printed as a __global__ function, with one part for the producer warpgroup, which copies tiles,
// and one for the warpgroups that compute. Both parts run the same loops over the same pieces; barriers in shared
// memory tell which stages of a pipeline are full and which are empty.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "diagram/match.hpp"
#include "emit/cuda/host/warpgroup_launch.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/cuda/warpgroups/overlap.hpp"
#include "emit/cuda/warpgroups/products.hpp"
#include "emit/cuda/warpgroups/stores.hpp"
#include "emit/cuda/warpgroups/turns.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/columns.hpp"
#include "emit/cuda/warps/head.hpp"
#include "emit/cuda/warps/streams.hpp"

namespace napkin {
namespace {

class WarpgroupPrinter {
 public:
  WarpgroupPrinter(const ThreadedKernel& kernel, const WarpNest& warps, const CodeNames& names)
      : page_(kernel, warps, names),
        out_(page_.out),
        warps_(warps),
        groups_(page_),
        grid_(page_, groups_, warps.scheduler),
        statements_(page_),
        pipelines_(page_),
        mainloop_{statements_, groups_, pipelines_} {}

  PrintedKernel run(const std::string& name) {
    describe();
    out_.verbatim("#ifdef NAPKIN_TEAMS\n");
    page_.open_function(name, warps_.blocks, read_in_place(warps_), map_parameters());
    begin_block();
    print_producer(page_, groups_, grid_, pipelines_);
    print_consumers();
    out_.close();
    print_stub(name);
    return page_.printed(name);
  }

 private:
  // The kernel's head

  void describe() {
    const auto instruction = fmt::format(fmt::runtime(warps_.products.front().instruction->name), "N");
    describe_warps(page_, groups_, "wgmma " + instruction, " that a producer warpgroup fills");
    grid_.words();
    describe_stores(page_);
    describe_overlap(page_);
  }
  std::vector<std::string> map_parameters() const {
    auto all = pipelines_.parameters();
    std::ranges::move(store_parameters(page_), std::back_inserter(all));
    return all;
  }
  void begin_block() {
    declare_shared_tiles(page_);
    declare_stores(page_);
    pipelines_.declare_barriers();
    grid_.begin();
    pipelines_.begin_barriers();
  }
  // A stub for the case that the text is compiled for other machines: it allows one thread, so a launcher finds that it
  // cannot launch the planned number.
  void print_stub(const std::string& name) {
    std::vector<std::string> all = {fmt::format("{}_sizes", page_.names.diagram)};
    for (const auto id : read_in_place(warps_)) all.push_back(fmt::format("const {}*", page_.memory(id)));
    for (const auto id : page_.nest.outputs) all.push_back(fmt::format("{}*", page_.storage(id)));
    for (std::size_t i = 0; i < pipelines_.tiles().size(); ++i) all.emplace_back("const __grid_constant__ CUtensorMap");
    for (std::size_t i = 0; i < warps_.stores.size(); ++i)
      all.insert(all.end(), {"const __grid_constant__ CUtensorMap", "const int"});
    out_.verbatim("#else\n");
    out_.list(fmt::format("__global__ void __launch_bounds__(1) {}(", name), all, ") {}");
    out_.verbatim("#endif\n");
  }

  // The warpgroups that compute

  void print_consumers() {
    if (warps_.loader_lane_registers > 0)
      out_.line("napkin_take_registers<{}, {}>();", warps_.lane_registers, warps_.first_registers);
    begin_turns(page_);
    declare_lanes(page_);
    pipelines_.declare_stages();
    grid_.open();
    declare_warps(page_, groups_);
    print(page_.body(), true);
    grid_.close();
    end_turns(page_);
    end_stores(page_);
    // Blocks of a cluster write to each other's shared memory, which exists only as long as its block runs.
    if (warps_.scheduler.cluster > 1) meet_blocks(page_);
  }

  void print(const LoopBody& block, bool outermost) {
    if (!is_step(warps_, block)) declare_buffers(page_, block);
    for (const auto& step : block.steps) {
      if (outermost) pipelines_.begin_outside(step);
      match(
          step.node,
          [&](const Load& load) {
            if (!is_step(warps_, block)) pipelines_.loaded(load.to), read_single(page_, load);
          },
          [](const MaskTest&) {}, [&](const Compute& compute) { print(compute); },
          [&](const Save& save) { print_save(statements_, save, [&](BufferId id) { print_store(statements_, id); }); },
          [&](const For& loop) { stream(loop); });
      if (outermost) pipelines_.end_outside(step);
    }
  }
  void print(const Compute& compute) {
    if (print_in_step(mainloop_, compute)) return;
    pipelines_.wait_for_tiles_of(compute);
    print_column(statements_, compute, [&](const Product& product) {
      prepare_product(statements_, product);
      run_product(statements_, product);
    });
  }

  // Streams

  void stream(const For& loop) {
    pipelines_.wait_for_all();
    const auto inside = [&](const WirePiece& around, const std::string& begin) { body(loop, begin, around); };
    const bool in_turn = is_step(warps_, loop.body) && !warps_.is_within();
    if (is_step(warps_, loop.body) && !in_turn) return stream_within(mainloop_, inside);
    const auto* pipeline = pipelines_.of(loop);
    const auto* lasting = pipeline ? warps_.product(pipeline->lasting) : nullptr;
    if (lasting) begin_lasting(loop, *lasting);
    if (in_turn) take_turn(page_);
    print_pieces(page_, groups_, loop, [&](const WirePiece& around, const std::string& begin) {
      if (pipeline && pipeline->copies > 1) declare_stages(page_, pipeline->tiles, pipelines_.slot(*pipeline));
      if (in_turn) begin_iteration(mainloop_);
      inside(around, begin);
      if (pipeline) end_stage(loop, *pipeline);
    });
    if (lasting) end_lasting(loop, *lasting);
    if (in_turn) give_turn(page_);
  }
  void body(const For& loop, const std::string& begin, const WirePiece& around) {
    const auto on_their_way = pipelines_.on_their_way();
    print_piece(page_, loop, begin, around, [&] {
      pipelines_.set_on_their_way(on_their_way);
      print(loop.body, false);
    });
  }
  void end_stage(const For& loop, const TilePipeline& pipeline) {
    pipelines_.wait_for_all();
    const auto slot = pipelines_.slot(pipeline);
    if (pipeline.lasting) {
      release_last(loop);
      out_.line("{} = {};", lasts_.at(&loop), slot);
    } else {
      out_.line(pipelines_.release(loop, slot));
    }
    pipelines_.advance(pipeline);
  }

  // A product that stays in flight while the next iteration begins: the tiles of an iteration are released one
  // iteration later.
  void begin_lasting(const For& loop, const Product& product) {
    const auto& name = lasts_[&loop] = page_.pool.fresh(page_.wires[loop.split.wire.index] + "_last");
    out_.line("int {} = -1;  // the stage that running products read", name);
    hold_sums(page_, product);
  }
  void release_last(const For& loop) {
    out_.line("if ({} >= 0) {}", lasts_.at(&loop), pipelines_.release(loop, lasts_.at(&loop)));
  }
  void end_lasting(const For& loop, const Product& product) {
    out_.line("napkin_warpgroup_wait<0>();");
    hold_sums(page_, product);
    release_last(loop);
  }

  FragmentPage page_;
  Lines& out_;
  const WarpNest& warps_;
  GroupPrinter groups_;
  GridPrinter grid_;
  FragmentStatements statements_;
  PipelinePrinter pipelines_;
  MainloopPrinters mainloop_;
  std::map<const For*, std::string> lasts_;  // names of the stages that lasting products read
};

}  // namespace

CudaKernel warpgroup_kernel(const WarpNest& warps, const CudaTarget& target, const std::string& name) {
  return printed_by<WarpgroupPrinter>(warps, target, name, warps.warps + warps.issuing_warps);
}

}  // namespace napkin
