// Finds for each operand of a product whether it is computed in registers or loaded from a tile. A tile is as long as
// the fragments that read it.
#include "device/warps/operands.hpp"

#include <fmt/format.h>

#include "device/warps/products.hpp"
#include "timing/mainloop/excess.hpp"

namespace napkin {
namespace {

constexpr std::int64_t longest_sum = 2147483647 / (128 * 128);  // products of i8 whose sum fits into i32
constexpr std::int64_t chunk_bytes = 16;                        // bytes that ldmatrix or a copy moves at once

// The sides

void exchange_sides(Product& product) {
  std::swap(product.rows, product.columns);
  if (const auto& formats = product.instruction->formats)
    product.instruction = find_part_instruction(formats->second, formats->first);
}
bool is_only_added_to(const Lowered& lowered, const Compute& compute) {
  const auto is_zero = [&](const Column& column) {
    const auto* constant = std::get_if<Constant>(&lowered.diagram().at(column.value).node);
    return constant && constant->value == 0 && !column.fold;
  };
  return !compute.column.repair && (!compute.carried || compute.carried == compute.to) &&
         std::ranges::all_of(lowered.computes, [&](const Placed<Compute>& other) {
           return other.step == &compute || other.step->to != compute.to || is_zero(other.step->column);
         });
}
// Returns how long the contracted wire may be, or 0 if there is no limit. Integer instructions accumulate in i32, so
// the sum must begin with 0, only additions may change it, and it must have few enough terms not to overflow.
std::int64_t longest_contraction(const Lowered& lowered, const Product& product) {
  const auto& compute = *product.compute;
  const auto type = lowered.nest->at(compute.to).type;
  const auto name = lowered.name(compute.to);
  const bool of_integers = product.instruction->accumulator == Datatype::i32;
  if (type != Datatype::f32 && !(of_integers && type == Datatype::i32))
    throw infeasible("`{}` is not summed in f32{}", name, of_integers ? " or i32" : "");
  if (!of_integers) return 0;
  if (!is_only_added_to(lowered, compute))
    throw infeasible("`{}` is an integer sum, and is changed by more than additions", name);
  auto longest = longest_sum;
  for (const auto wire : compute.column.over)
    if (wire != product.over) longest /= lowered.size(wire);
  if (lowered.size(product.over) > longest)
    throw infeasible("`{}` sums more than {} products, and i32 may overflow", name, longest_sum);
  return longest;
}
// Returns after how many k-steps a sum is promoted, or 0 if it never is: a sum that is not carried and ends before that
// is not promoted.
std::int64_t promoted_steps(const Lowered& lowered, const Product& product) {
  const auto& instruction = *product.instruction;
  const auto steps = promoted_every(instruction, lowered.hardware.cuda_capability()) / instruction.k;
  return product.compute->carried || product.steps > steps ? steps : 0;
}
// The fragments of a sum are used as fragments of an operand, on either side. Their rows must run along the operand's
// own wire, and their columns along the contracted wire.
void check_computed(const WarpNest& found, const Lowered& lowered, const Product& product, const Operand& side) {
  const auto& own = found.columns.at(product.compute);
  const auto& grid = found.arrays.at(side.buffer);
  const bool of_rows = &side == &product.rows;
  if (grid.rows != (of_rows ? own.rows : own.columns) || grid.columns != product.over ||
      (!of_rows && lowered.by_warpgroups()))
    throw infeasible("`{}` would have to leave its registers before it is multiplied", lowered.name(side.buffer));
}

// What wgmma and TMA require

// Checks that the columns fit one instruction, and that the array ends where the contracted wire ends: what TMA reads
// past the end of an array is 0.
void check_product(const Lowered& lowered, const Product& product, const Grid& grid) {
  if (grid.column_tiles * column_tile > most_warpgroup_columns)
    throw Infeasible{
        fmt::format("`{}` has more than {} columns", lowered.name(product.compute->to), most_warpgroup_columns),
        {*grid.columns}};
  if (product.rows.computed) return;
  const auto& extents = lowered.at(product.compute).extents;
  for (const auto* side : {&product.rows, &product.columns})
    for (const auto& index : access(lowered.diagram(), side->access).at)
      for (const auto& [wire, coefficient] : index.terms)
        if (wire == product.over && !is_dimension(index, wire, extents, lowered.diagram(), product.instruction->k))
          throw infeasible("`{}` is contracted along a sum of positions", lowered.name(side->buffer));
}
// Checks that the tile of an operand is one TMA box. TMA stops at the ends of arrays, but not at the ends of pieces, so
// that tiles of a split wire must fill fragments.
void check_box(const Lowered& lowered, BufferId id, const StagedTile& tile, const Access& read,
               const Extents& extents) {
  const auto& buffer = lowered.nest->at(id);
  const auto name = lowered.name(id);
  if (buffer.at.size() > most_tile_dimensions)
    throw infeasible("`{}` has more than {} dimensions", name, most_tile_dimensions);
  for (const auto dimension : {*tile.row, *tile.column}) {
    const auto wire = *long_wire(read.at[dimension], extents);
    const auto length = dimension == *tile.row ? tile.layout.rows : tile.layout.columns;
    if (!lowered.is_split(wire)) continue;
    if (length != buffer.extent[dimension])
      throw Infeasible{fmt::format("tiles of {} do not fill fragments", lowered.name(wire)), {wire}};
    if (plain_wire(read.at[dimension]) != wire && lowered.size(wire) % length != 0)
      throw Infeasible{fmt::format("tiles of {} do not end where parts of `{}` end", lowered.name(wire), name), {wire}};
  }
  if (tile.layout.rows > longest_box)
    throw Infeasible{fmt::format("tiles of `{}` have more than {} rows", name, longest_box),
                     {*long_wire(read.at[*tile.row], extents)}};
}
// True if a tile that no product reads is one box, which ends where its piece does.
bool is_one_box(const Lowered& lowered, const Buffer& buffer, const StagedTile& tile) {
  if (buffer.at.size() > most_tile_dimensions || tile.column != buffer.at.size() - 1) return false;
  if (row_alignment(lowered.diagram(), lowered.diagram().at(buffer.array)) < chunk_bytes) return false;
  const auto fits = [&](std::optional<std::size_t> dimension, std::int64_t length) {
    if (!dimension) return true;
    const auto wire = plain_wire(buffer.at[*dimension]);
    return length <= longest_box && wire && (length == buffer.extent[*dimension] || !lowered.is_split(*wire));
  };
  return fits(tile.row, tile.layout.rows) && fits(tile.column, tile.layout.columns);
}

// Tiles

// Returns how far the fragments of all warps reach along a wire. If the wire runs along memory, the part of each warp
// must begin at a chunk of 16 bytes.
std::int64_t reached(const Lowered& lowered, WireId wire, std::int64_t extent, std::int64_t chunk, std::int64_t step) {
  const auto found = lowered.parts.find(wire);
  if (found == lowered.parts.end()) return round_up(extent, step);
  const auto [parts, size] = found->second;
  if (parts > 1 && size % chunk != 0)
    throw infeasible("a warp's part of {} is no multiple of 16 bytes", lowered.name(wire));
  return (parts - 1) * size + round_up(size, step);
}
std::int64_t longest_step(std::int64_t chunk) { return std::max(row_tile, 2 * chunk); }

// A tile has at most two dimensions that are longer than 1.
void find_dimensions(const Lowered& lowered, BufferId id, const Access& read, StagedTile& tile,
                     const Extents& extents) {
  const auto& buffer = lowered.nest->at(id);
  const auto name = lowered.name(id);
  tile.row.reset(), tile.column.reset();
  for (std::size_t k = buffer.extent.size(); k-- > 0;) {
    if (buffer.extent[k] == 1) continue;
    const auto stands = [&](const auto& term) { return extents[term.first.index] == 1; };
    if (std::ranges::all_of(read.at[k].terms, stands))
      throw infeasible("tiles of `{}` hold the parts of several warps in a separate dimension", name);
    if (!long_wire(read.at[k], extents)) throw infeasible("`{}` is read at sums of positions or with a stride", name);
    if (tile.row) throw infeasible("tiles of `{}` have more than two long dimensions", name);
    (tile.column ? tile.row : tile.column) = k;
  }
  if (!tile.row) throw infeasible("tiles of `{}` are a single row", name);
}
// Extends the tile to the reach of the fragments of one more product, which may be longer than the block's piece.
void cover(const Lowered& lowered, StagedTile& tile, const Operand& side, const Product& product, const Access& read,
           const Extents& extents) {
  const auto& buffer = lowered.nest->at(side.buffer);
  const std::int64_t bytes = row(buffer.type).bytes, chunk = chunk_bytes / bytes, half = product.instruction->k / 2;
  const auto length = [&](std::size_t k, std::int64_t so_far, std::int64_t of_chunk, std::int64_t step) {
    return std::max(so_far, reached(lowered, *long_wire(read.at[k], extents), buffer.extent[k], of_chunk, step));
  };
  const auto rows = side.transposed ? length(*tile.row, tile.layout.rows, half, longest_step(half))
                                    : length(*tile.row, tile.layout.rows, 1, row_tile);
  const auto columns =
      length(*tile.column, tile.layout.columns, chunk, side.transposed ? longest_step(chunk) : 2 * chunk);
  tile.layout = lowered.by_warpgroups() ? paneled_tile(rows, columns, bytes) : shared_tile(rows, columns, bytes);
}
void take_tile(const Lowered& lowered, Tiles& tiles, const Product& product, Operand& side) {
  const auto& extents = lowered.at(product.compute).extents;
  const auto read = access(lowered.diagram(), side.access);
  side.buffer = lowered.staged(side.buffer);
  auto& tile = tiles[side.buffer];
  find_dimensions(lowered, side.buffer, read, tile, extents);
  side.transposed = long_wire(read.at[*tile.column], extents) != product.over;
  const auto type = lowered.nest->at(side.buffer).type;
  const bool turned = side.transposed && row(type).bytes != 2;
  if (turned && lowered.by_warpgroups())
    throw infeasible(
        "`{}` is contracted along another axis than its last, which instructions allow only for types of 2 bytes",
        lowered.name(side.buffer));
  // Computed values of 4 bytes stay in the lanes that computed them, so that the other operand is read in their order.
  const bool in_order = product.has_computed() && row(type).bytes == 4;
  side.one_by_one = !product.instruction->formats && (turned || in_order || type != product.instruction->operands);
  cover(lowered, tile, side, product, read, extents);
  if (lowered.by_warpgroups()) check_box(lowered, side.buffer, tile, read, extents);
}
void find_sides(WarpNest& found, const Lowered& lowered, Product& product) {
  const auto& grid = found.columns.at(product.compute);
  if (!grid.rows || !has_wire(lowered.diagram(), product.rows, *grid.rows)) exchange_sides(product);
  const auto& instruction = *product.instruction;
  product.longest = longest_contraction(lowered, product);
  if (!grid.columns) throw infeasible("`{}` multiplies a matrix by a vector", lowered.name(product.compute->to));
  product.widened = instruction.formats ||
                    (!lowered.by_warpgroups() && !multiplies_directly(instruction, lowered.hardware.cuda_capability()));
  product.steps = pieces_of(lowered.at(product.compute).extents[product.over.index], instruction.k);
  product.promoted = promoted_steps(lowered, product);
  for (auto* side : {&product.rows, &product.columns}) {
    side->computed = !lowered.nest->is_input(side->buffer);
    if (side->computed) check_computed(found, lowered, product, *side);
  }
  for (auto* side : {&product.rows, &product.columns})
    if (!side->computed) take_tile(lowered, found.tiles, product, *side);
  if (lowered.by_warpgroups()) check_product(lowered, product, grid);
}
// Returns the tile of an input that no product reads. The input must have one or two dimensions longer than 1. Single
// warps copy as much as fragments reach. TMA copies the piece as it is, if that is one box.
std::optional<StagedTile> tile_of_others(const Lowered& lowered, const Buffer& buffer, const Extents& extents) {
  StagedTile tile;
  tile.of_products = false;
  std::int64_t dimensions = 0;
  for (std::size_t k = buffer.extent.size(); k-- > 0;)
    if (buffer.extent[k] > 1 && ++dimensions <= 2) (tile.column ? tile.row : tile.column) = k;
  if (dimensions > 2) return {};
  const auto bytes = row(buffer.type).bytes;
  const auto reach = [&](std::size_t k) {
    const auto wire = long_wire(buffer.at[k], extents);
    return wire ? std::max(buffer.extent[k], reached(lowered, *wire, buffer.extent[k], 1, row_tile)) : buffer.extent[k];
  };
  const auto length = [&](std::optional<std::size_t> k) {
    return !k ? 1 : lowered.by_warpgroups() ? buffer.extent[*k] : reach(*k);
  };
  tile.layout = shared_tile(length(tile.row), round_up(length(tile.column), chunk_bytes / bytes), bytes);
  for (const auto k : {tile.row, tile.column})
    if (k) tile.covers = tile.covers && long_wire(buffer.at[*k], extents) && length(k) >= reach(*k);
  if (!lowered.by_warpgroups()) return tile;
  tile.layout.bits = 0;
  return is_one_box(lowered, buffer, tile) ? std::optional(tile) : std::nullopt;
}

void check_packed(const Lowered& lowered) {
  for (const auto& [load, block, extents] : lowered.loads)
    if (const auto& buffer = lowered.nest->at(load->to); lowered.diagram().at(buffer.array).packed)
      throw infeasible("`{}` has two numbers to a byte, and copies by TMA do not unpack them", lowered.name(load->to));
}

}  // namespace

void find_operands(WarpNest& found, const Lowered& lowered) {
  if (lowered.by_warpgroups()) check_packed(lowered);
  for (auto& product : found.products) find_sides(found, lowered, product);
  for (const auto& [load, block, extents] : lowered.loads) {
    const auto& buffer = lowered.nest->at(load->to);
    if (buffer.level != lowered.block_level || found.tiles.contains(load->to) || lowered.asked.contains(load->to))
      continue;
    if (const auto tile = tile_of_others(lowered, buffer, extents)) found.tiles[load->to] = *tile;
  }
}

}  // namespace napkin
