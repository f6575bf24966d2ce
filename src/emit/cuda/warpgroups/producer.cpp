// The producer runs the same loops over the same pieces as the warpgroups that compute, and fills a stage in each.
#include <fmt/format.h>

#include <algorithm>

#include "emit/cuda/warpgroups/pipelines.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/streams.hpp"

namespace napkin {
namespace {

class ProducerPrinter {
 public:
  ProducerPrinter(FragmentPage& page, GroupPrinter& groups, PipelinePrinter& pipelines)
      : page_(page), groups_(groups), pipelines_(pipelines) {}

  void print(const LoopBody& body) {
    for (const auto& step : body.steps) {
      for (const auto& pipeline : page_.warps.pipelines)
        if (!pipeline.loop && pipeline.first == &step) fill(pipeline);
      fill_in_loop(step);
    }
  }

 private:
  bool fills(const For& loop) const {
    return pipelines_.of(loop) || std::ranges::any_of(loop.body.steps, [&](const LoopStatement& step) {
             const auto* inside = std::get_if<For>(&step.node);
             return inside && fills(*inside);
           });
  }
  void fill_in_loop(const LoopStatement& step) {
    const auto* loop = std::get_if<For>(&step.node);
    if (!loop || !fills(*loop)) return;
    print_pieces(page_, groups_, *loop, [&](const WirePiece&, const std::string&) {
      if (const auto* here = pipelines_.of(*loop)) fill(*here);
      for (const auto& inside : loop->body.steps) fill_in_loop(inside);
    });
  }
  void fill(const TilePipeline& pipeline) {
    pipelines_.wait_for_empty(pipeline);
    for (const auto id : pipeline.tiles) copy(pipeline, id);
    pipelines_.advance(pipeline);
  }

  // Copies one tile, panel after panel; its barrier expects the bytes of all boxes, including those past the end of the
  // array.
  void copy(const TilePipeline& pipeline, BufferId id) {
    const auto& tile = page_.warps.tiles.at(id);
    const auto from = page_.from(id);
    const auto slot = pipelines_.slot(pipeline), full = pipelines_.full_barrier(pipeline, id);
    const auto to = slot.empty() || tile.copies == 1 ? page_.buffer(id) : stage_address(page_, id, slot);
    page_.out.line("napkin_barrier_expect({}, {});", full, tile.layout.size_bytes());
    const bool shared = tile.shares > 1;
    const auto blocks = shared ? fmt::format(", {}", (1 << tile.shares) - 1) : "";
    for (std::int64_t column = 0; column < tile.layout.columns; column += tile.layout.panel)
      page_.out.line("{}({}, &{}, {}{}{});", tile_copy_name(page_.nest.at(id).at.size(), shared),
                     panel_address(tile, to, column), pipelines_.map(id), full, blocks, first_place(id, column));
  }
  // The address of the block's share of the panel.
  static std::string panel_address(const StagedTile& tile, const std::string& to, std::int64_t column) {
    const auto& layout = tile.layout;
    const auto panel = sum(to, fmt::format("{}", column * layout.rows));
    return tile.shares > 1
               ? sum(panel, fmt::format("{} * {}", GroupPrinter::rank, layout.rows / tile.shares * layout.panel))
               : panel;
  }
  // ", q0, 64", the place in the array of the first number of that share.
  std::string first_place(BufferId id, std::int64_t column) {
    const auto& tile = page_.warps.tiles.at(id);
    const auto& index = page_.nest.at(id).at;
    std::string at;
    for (std::size_t k = 0; k < index.size(); ++k) {
      page_.limit(index[k], page_.shared);
      const auto more = k == tile.column ? fmt::format("{}", column)
                        : k == tile.row && tile.shares > 1
                            ? fmt::format("{} * {}", GroupPrinter::rank, tile.layout.rows / tile.shares)
                            : "0";
      at += ", " + sum(corner(index[k], page_.shared, false), more);
    }
    return at;
  }

  FragmentPage& page_;
  GroupPrinter& groups_;
  PipelinePrinter& pipelines_;
};

}  // namespace

void print_producer(FragmentPage& page, GroupPrinter& groups, GridPrinter& grid, PipelinePrinter& pipelines) {
  const auto& warps = page.warps;
  auto& out = page.out;
  const auto computing = page.kernel.threads - warps.issuing_warps * lanes_of_warp;
  out.open("if (threadIdx.x >= {})", computing);
  if (warps.loader_lane_registers > 0)
    out.line("napkin_give_registers<{}, {}>();", warps.loader_lane_registers, warps.first_registers);
  out.line("if (threadIdx.x > {}) return;", computing);
  pipelines.declare_stages();
  grid.open();
  ProducerPrinter(page, groups, pipelines).print(page.body());
  grid.close();
  if (warps.scheduler.cluster > 1) meet_blocks(page);
  out.line("return;");
  out.close();
}

}  // namespace napkin
