#include "emit/cuda/host/warpgroup_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/names.hpp"

namespace napkin {

std::vector<TileMap> tile_maps(const WarpNest& warps) {
  std::vector<TileMap> all;
  for (const auto& pipeline : warps.pipelines)
    for (const auto id : pipeline.tiles) {
      const auto& tile = warps.tiles.at(id);
      const auto& buffer = warps.nest->at(id);
      TileMap map{buffer.array, std::vector<std::int64_t>(buffer.at.size(), 1),
                  tile.layout.bits == 0 ? 0 : tile.layout.panel * tile.layout.bytes};
      if (tile.row) map.box[*tile.row] = tile.layout.rows / tile.shares;
      map.box[*tile.column] = tile.layout.panel;
      all.push_back(map);
    }
  return all;
}

std::vector<TileMap> store_maps(const WarpNest& warps) {
  std::vector<TileMap> all;
  for (const auto& [id, tile] : warps.stores) {
    const auto array = warps.nest->at(id).array;
    TileMap map{array, std::vector<std::int64_t>(warps.nest->scratch.at(array).wires.size(), 1),
                tile.layout.panel * tile.layout.bytes};
    const bool across = warps.nest->scratch.at(array).wires[*tile.column] == *warps.arrays.at(id).rows;
    map.box[*tile.row] = across ? tile.layout.rows : warps.issuing_warps * accumulator_tile.rows;
    map.box[*tile.column] = tile.layout.panel;
    all.push_back(map);
  }
  return all;
}

std::vector<std::string> zero_behind(const WarpNest& warps, const CodeNames& names) {
  const auto& diagram = warps.nest->scratch;
  std::vector<std::string> all;
  const auto add = [&](const Operand& operand, WireId over) {
    const auto& buffer = warps.nest->at(operand.buffer);
    const auto& at = std::get<Access>(diagram.at(operand.access).node).at;
    const auto size = code_size(diagram, names, over);
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!moves(at[k], over) || plain_wire(at[k]) == over) continue;
      auto behind = at[k];  // the least place that a piece can reach past the last position
      std::erase_if(behind.terms, [&](const auto& term) { return term.first != over && term.second > 0; });
      const auto place = code_index(behind, [&](WireId wire) {
        return wire == over ? size : fmt::format("({} - 1)", code_size(diagram, names, wire));
      });
      auto text = fmt::format(
          "({} % {} == 0 || {} >= {} || lacks(*made, true, \"pieces of {} go past the end of `\", \"{}\", \"`\"))",
          size, buffer.extent[k], place, code_size(diagram, names, diagram.at(buffer.array).wires[k]), buffer.extent[k],
          diagram.at(diagram.at(over).axis).name);
      if (!contains(all, text)) all.push_back(std::move(text));
    }
  };
  for (const auto& product : warps.products) {
    if (product.rows.computed) continue;  // then lanes produce zeros for columns past the end
    for (const auto* side : {&product.rows, &product.columns}) add(*side, product.over);
  }
  return all;
}

std::vector<ArrayId> read_in_place(const WarpNest& warps) {
  auto inputs = warps.nest->inputs;
  const auto is_copied = [&](ArrayId array) {
    const auto& buffers = warps.nest->buffers;
    for (std::uint32_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].array == array && buffers[b].level == warps.block_level && !warps.tiles.contains(BufferId{b}))
        return false;
    return true;
  };
  std::erase_if(inputs, is_copied);
  return inputs;
}

}  // namespace napkin
