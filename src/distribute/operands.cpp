// Where the two sides of a product come from, and the tiles of inputs in shared memory.
#include <fmt/format.h>

#include "distribute/distributing.hpp"

namespace napkin {
namespace {

constexpr std::int64_t longest_sum = 2147483647 / (128 * 128);  // of products of i8, in i32

void exchange_sides(Product& product) {
  std::swap(product.rows, product.columns);
  if (const auto& formats = product.instruction->formats)
    product.instruction = find_part_instruction(formats->second, formats->first);
}

}  // namespace

// Operands

void Distributing::find_operands(Product& product) {
  const auto& extents = this->extents(product.compute);
  const auto& grid = result_.columns.at(product.compute);
  if (!grid.rows || !has_wire(product.rows, *grid.rows)) exchange_sides(product);
  check_sum(product);
  if (!grid.columns) throw Infeasible{fmt::format("`{}` multiplies a matrix by a vector", name(product.compute->to))};
  product.widened = product.instruction->formats ||
                    (!by_warpgroups() && !multiplies_directly(*product.instruction, hardware_.cuda_capability()));
  product.steps = pieces_of(extents[product.over.index], product.instruction->k);
  product.promoted = promoted_steps(product);
  for (auto* side : {&product.rows, &product.columns})
    if (!is_input(side->buffer)) take_computed(product, *side);
  for (auto* side : {&product.rows, &product.columns})
    if (!side->computed) find_operand(product, *side, extents);
  if (by_warpgroups()) check_warpgroup_product(product);
}
// A sum that ends before it would be promoted is not.
std::int64_t Distributing::promoted_steps(const Product& product) const {
  const auto steps = promoted_every(*product.instruction, hardware_.cuda_capability()) / product.instruction->k;
  return product.compute->carried || product.steps > steps ? steps : 0;
}
// Sums of integers are kept as i32, which begins with 0, is only added to, and is long enough.
void Distributing::check_sum(Product& product) const {
  const auto& compute = *product.compute;
  const auto type = nest().at(compute.to).type;
  const bool of_integers = product.instruction->accumulator == Datatype::i32;
  if (type != Datatype::f32 && !(of_integers && type == Datatype::i32))
    throw Infeasible{fmt::format("`{}` is not summed in f32{}", name(compute.to), of_integers ? " or i32" : "")};
  if (!of_integers) return;
  if (!is_only_added_to(&compute))
    throw Infeasible{fmt::format("`{}` is an integer sum, and is changed by more than additions", name(compute.to))};
  product.longest = longest_sum;
  for (const auto wire : compute.column.over)
    if (wire != product.over) product.longest /= diagram().size(wire).value_or(1);
  if (diagram().size(product.over).value_or(1) > product.longest)
    throw Infeasible{
        fmt::format("`{}` sums more than {} products, and i32 may overflow", name(compute.to), longest_sum)};
}
bool Distributing::is_only_added_to(const Compute* compute) const {
  const auto is_zero = [&](const Column& column) {
    const auto* constant = std::get_if<Constant>(&diagram().at(column.value).node);
    return constant && constant->value == 0 && !column.fold;
  };
  return !compute->column.repair && (!compute->carried || compute->carried == compute->to) &&
         std::all_of(computes_.begin(), computes_.end(), [&](const PlacedColumn& other) {
           return other.compute == compute || other.compute->to != compute->to || is_zero(other.compute->column);
         });
}
// Fragments of sums are such of an operand: their rows are the operand's own, whichever side it is, and their columns
// what is multiplied.
void Distributing::take_computed(const Product& product, Operand& side) const {
  const auto& own = result_.columns.at(product.compute);
  const auto& grid = result_.arrays.at(side.buffer);
  const bool of_rows = &side == &product.rows;
  if (grid.rows != (of_rows ? own.rows : own.columns) || grid.columns != product.over || (!of_rows && by_warpgroups()))
    throw Infeasible{fmt::format("`{}` would have to leave its registers before it is multiplied", name(side.buffer))};
  side.computed = true;
}
void Distributing::find_operand(const Product& product, Operand& side, const Extents& extents) {
  const auto read = access(diagram(), side.access);
  if (by_warpgroups() && diagram().at(read.array).packed)
    throw Infeasible{
        fmt::format("`{}` has two numbers to a byte, and copies by TMA do not unpack them", name(side.buffer))};
  side.buffer = staged(side.buffer);
  auto& tile = result_.tiles[side.buffer];
  find_dimensions(side.buffer, read, tile, extents);
  side.transposed = long_wire(read.at[*tile.column], extents) != product.over;
  const auto type = nest().at(side.buffer).type;
  const bool turned = side.transposed && row(type).bytes != 2;
  if (turned && by_warpgroups())
    throw Infeasible{fmt::format(
        "`{}` is contracted along another axis than its last, which instructions allow only for types of 2 bytes",
        name(side.buffer))};
  // Lanes keep computed numbers of 4 bytes where they are, so that the other side is read in their order.
  const bool in_order = product.has_computed() && row(type).bytes == 4;
  side.one_by_one = !product.instruction->formats && (turned || in_order || type != product.instruction->operands);
  cover(tile, side, product, read, extents);
  if (by_warpgroups()) check_box(side.buffer, tile, read, extents);
}
// The block's tile that a buffer was loaded from.
BufferId Distributing::staged(BufferId id) const { return tile_at(nest(), sources_, id, result_.block_level); }
// At most two dimensions of a tile may be longer than 1.
void Distributing::find_dimensions(BufferId id, const Access& read, StagedTile& tile, const Extents& extents) const {
  const auto& buffer = nest().at(id);
  tile.row.reset(), tile.column.reset();
  for (std::size_t k = buffer.extent.size(); k-- > 0;) {
    if (buffer.extent[k] == 1) continue;
    const auto stands = [&](const auto& term) { return extents[term.first.index] == 1; };
    if (std::all_of(read.at[k].terms.begin(), read.at[k].terms.end(), stands))
      throw Infeasible{fmt::format("tiles of `{}` hold the parts of several warps in a separate dimension", name(id))};
    if (!long_wire(read.at[k], extents))
      throw Infeasible{fmt::format("`{}` is read at sums of positions or with a stride", name(id))};
    if (tile.row) throw Infeasible{fmt::format("tiles of `{}` have more than two long dimensions", name(id))};
    (tile.column ? tile.row : tile.column) = k;
  }
  if (!tile.row) throw Infeasible{fmt::format("tiles of `{}` are a single row", name(id))};
}
// The tile is as long as fragments reach, which may be past the block's piece.
void Distributing::cover(StagedTile& tile, const Operand& side, const Product& product, const Access& read,
                         const Extents& extents) const {
  const auto& buffer = nest().at(side.buffer);
  const std::int64_t bytes = row(buffer.type).bytes, chunk = 16 / bytes, half = product.instruction->k / 2;
  const auto length = [&](std::size_t dimension, std::int64_t so_far, std::int64_t of_chunk, std::int64_t step) {
    return std::max(so_far, reached(*long_wire(read.at[dimension], extents), buffer.extent[dimension], of_chunk, step));
  };
  const auto rows = side.transposed ? length(*tile.row, tile.layout.rows, half, longest_step(half))
                                    : length(*tile.row, tile.layout.rows, 1, row_tile);
  const auto columns =
      length(*tile.column, tile.layout.columns, chunk, side.transposed ? longest_step(chunk) : 2 * chunk);
  tile.layout = by_warpgroups() ? paneled_tile(rows, columns, bytes) : shared_tile(rows, columns, bytes);
}
// How far the fragments of all warps reach along a wire; where it runs along memory they begin with a chunk.
std::int64_t Distributing::reached(WireId wire, std::int64_t extent, std::int64_t chunk, std::int64_t step) const {
  const auto found = parts_.find(wire);
  if (found == parts_.end()) return round_up(extent, step);
  const auto [parts, size] = found->second;
  if (parts > 1 && size % chunk != 0)
    throw Infeasible{fmt::format("a warp's part of {} is no multiple of 16 bytes", name(wire))};
  return (parts - 1) * size + round_up(size, step);
}
std::int64_t Distributing::longest_step(std::int64_t chunk) { return std::max(row_tile, 2 * chunk); }

// What other columns read: tiles of one or two long dimensions, as long as fragments reach; of boxes, as long as they
// are.
void Distributing::stage_others() {
  for (const auto& [load, block, extents] : loads_) {
    const auto& buffer = nest().at(load.to);
    if (buffer.level != result_.block_level || result_.tiles.contains(load.to) || asked_.contains(load.to)) continue;
    StagedTile tile;
    tile.of_products = false;
    std::int64_t dimensions = 0;
    for (std::size_t k = buffer.extent.size(); k-- > 0;)
      if (buffer.extent[k] > 1 && ++dimensions <= 2) (tile.column ? tile.row : tile.column) = k;
    if (dimensions > 2) continue;
    const auto bytes = row(buffer.type).bytes;
    const auto reach = [&, &extents = extents](std::size_t k) {
      const auto wire = long_wire(buffer.at[k], extents);
      return wire ? std::max(buffer.extent[k], reached(*wire, buffer.extent[k], 1, row_tile)) : buffer.extent[k];
    };
    const auto length = [&](std::optional<std::size_t> k) {
      return !k ? 1 : by_warpgroups() ? buffer.extent[*k] : reach(*k);
    };
    tile.layout = shared_tile(length(tile.row), round_up(length(tile.column), 16 / bytes), bytes);
    for (const auto k : {tile.row, tile.column})
      if (k) tile.covers = tile.covers && long_wire(buffer.at[*k], extents) && length(k) >= reach(*k);
    if (by_warpgroups()) {
      if (!is_copied_whole(buffer, tile)) continue;
      tile.layout.bits = 0;
    }
    result_.tiles[load.to] = tile;
  }
}

}  // namespace napkin
