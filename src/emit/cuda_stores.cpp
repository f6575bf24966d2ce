// Outputs of a team that leave through shared memory: pairs of numbers into the tile, then boxes of it into the array.
// Where rows of the array are not aligned, numbers leave from registers.
#include <fmt/format.h>

#include "emit/cuda_fragments.hpp"
#include "emit/cuda_tiles.hpp"

namespace napkin {

void FragmentPrinter::store(BufferId id) {
  out_.open(fmt::format("if ({})", stores.at(id).mapped));
  out_.line("napkin_store_wait();");
  stage(id);
  out_.line("napkin_store_ready();");
  copy_out(id);
  out_.close("} else {");
  out_.deepen();
  save_pairs(id);
  out_.close();
}

void FragmentPrinter::stage(BufferId id) {
  const auto& grid = warps_.arrays.at(id);
  Here first;
  const int opened = open_rows(grid, first);
  const auto second = open_pairs(grid, first);
  const auto wire = grid.rows->index;
  const auto& own = page_.own[wire].begin;
  const auto& block = page_.shared[wire].begin;
  const auto within = own == block ? "" : block == "0" ? own + " + " : fmt::format("{} - {} + ", own, block);
  const auto row = fmt::format("{}{} * 16 + {} * 8 + {}", within, first.row, first.half, lanes.group);
  const auto column = fmt::format("{} * 8 + {} * 2", first.column, lanes.quad);
  const auto one = stored(id, first), other = stored(id, second);
  out_.line(fmt::format("napkin_stage_pair({} + {}, {}, {});", stores.at(id).tile,
                        tile_place(warps_.stores.at(id).layout, row, column), one, other));
  close(opened + 1);
}

// One thread of the team, panel after panel.
void FragmentPrinter::copy_out(BufferId id) {
  const auto& tile = warps_.stores.at(id);
  const auto& wires = page_.diagram.at(page_.nest.at(id).array).wires;
  const auto rows = warps_.team * std::int64_t{16};
  out_.open("if (threadIdx.x % 128 == 0)");
  for (std::int64_t column = 0; column < tile.layout.columns; column += tile.layout.panel) {
    std::string at;
    for (std::size_t k = 0; k < wires.size(); ++k) {
      const auto& piece = k == tile.row ? page_.shared[wires[k].index] : page_.own[wires[k].index];
      const auto further = k == tile.row                    ? fmt::format("{} / {} * {}", lanes.warp, warps_.team, rows)
                           : k == tile.column && column > 0 ? fmt::format("{}", column)
                                                            : "";
      at += ", " + (further.empty() ? piece.begin : piece.begin == "0" ? further : piece.begin + " + " + further);
    }
    const auto panel = column == 0 ? "" : fmt::format("{} + ", column * tile.layout.rows);
    out_.line(fmt::format("{}(&{}, {} + {}{} / {} * {}{});", tile_store_name(wires.size()), stores.at(id).map,
                          stores.at(id).tile, panel, lanes.warp, warps_.team, rows * tile.layout.panel, at));
  }
  out_.line("napkin_store_commit();");
  out_.close();
}

}  // namespace napkin
