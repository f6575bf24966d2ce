// Counts the registers of a lane column by column: the values that are held, the operands of a product, and what a
// compiler needs in addition.
#include "device/warps/registers.hpp"

#include <fmt/format.h>

#include <tuple>

#include "timing/lane_registers.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_warpgroup_registers = 240;  // of a lane

// Of one array, or of one product

std::int64_t values(const WarpNest& found, BufferId id) {
  const auto grid = found.arrays.find(id);
  return grid == found.arrays.end() || found.inlined.contains(id) ? 0 : grid->second.values();
}
// A computed operand is complete before it is multiplied, unless it is a carried state, which stays where it is.
std::int64_t computed_operand_registers(const Lowered& lowered, const Product& product, const Grid& grid) {
  const auto is_made = [&](const Operand& side) {
    const auto carries = [&](const Placed<Compute>& each) { return each.step->carried == side.buffer; };
    return side.computed && !std::ranges::any_of(lowered.computes, carries);
  };
  const auto& [a, b] = std::tie(product.instruction->a, product.instruction->b);
  return (is_made(product.rows) ? grid.row_tiles * product.steps * a.registers : 0) +
         (is_made(product.columns) ? grid.column_tiles * product.steps * b.registers : 0);
}
std::int64_t loaded_operand_registers(const Product& product, const Grid& grid) {
  if (product.instruction->formats) return registers_of_parts(grid.row_tiles, grid.column_tiles);
  return registers_of_loaded(grid.row_tiles, product.instruction->a.registers, grid.column_tiles,
                             product.instruction->b.registers, product.widened);
}
// Returns the registers of both operands, and of the matrix units' own sums if these are promoted to other sums.
std::int64_t operand_registers(const Lowered& lowered, const WarpNest& found, const Product& product) {
  const auto& grid = found.columns.at(product.compute);
  return computed_operand_registers(lowered, product, grid) +
         (product.promoted > 0 ? values(found, product.compute->to) : 0) +
         (lowered.by_warpgroups() ? 0 : loaded_operand_registers(product, grid));
}
// A single warp holds the arrays from which an inlined operand is computed until the operand is complete.
std::int64_t source_registers(const Lowered& lowered, const WarpNest& found, const Product& product,
                              const std::vector<BufferId>& held) {
  const auto made = found.inlined.find((product.rows.computed ? product.rows : product.columns).buffer);
  if (lowered.by_warpgroups() || made == found.inlined.end()) return 0;
  std::int64_t all = 0;
  for (const auto& [access, id] : made->second->reads)
    if (!lowered.nest->is_input(id) && !contains(held, id)) all += values(found, id);
  return all;
}

// Of all columns

// An overlapped mainloop runs its columns in another order than the nest lists them. Leading sums are then held from
// the beginning of the iteration, and with intra-warpgroup overlap also the operands of trailing products of the
// iteration before.
std::int64_t overlap_registers(const Lowered& lowered, const WarpNest& found, const Compute* compute,
                               const std::vector<BufferId>& held) {
  if (!found.step || lowered.at(compute).block != &found.step->loop->body) return 0;
  std::int64_t all = 0;
  for (const auto* leading : found.step->leading)
    if (compute < leading && !contains(held, leading->to)) all += values(found, leading->to);
  if (!found.step->within) return all;
  for (const auto* trailing : found.step->trailing)
    if (trailing != compute) all += operand_registers(lowered, found, *found.product(trailing));
  return all;
}
std::int64_t most_values(const Lowered& lowered, const WarpNest& found) {
  const auto beside = [&](const Held& each) {
    const auto all = overlap_registers(lowered, found, each.compute, each.buffers);
    const auto* product = found.product(each.compute);
    if (!product) return all;
    return all + operand_registers(lowered, found, *product) + source_registers(lowered, found, *product, each.buffers);
  };
  return most_held(
      *lowered.nest, [&](BufferId id) { return values(found, id); }, beside);
}
// Returns the registers that a compiler needs in addition to those of the values.
std::int64_t registers_of_compiler(const Lowered& lowered, const WarpNest& found, WireId rows, std::int64_t values) {
  const auto is_matrix = [&](BufferId id) {
    const auto tile = found.tiles.find(lowered.staged(id));
    return tile != found.tiles.end() && tile->second.row;
  };
  auto does = beside_values(*lowered.nest);
  for (const auto& place : lowered.computes)
    add_column(does, *lowered.nest, *place.step, found.product(place.step) != nullptr, is_matrix);
  does.by_warpgroups = lowered.by_warpgroups();
  for (const auto& product : found.products) {
    does.one_by_one |= product.rows.one_by_one || product.columns.one_by_one;
    if (!product.has_computed()) continue;
    does.follows = true;
    does.exchanges |= row(product.instruction->operands).bytes == 1;
    does.widens |= product.widened && !product.instruction->formats;
  }
  does.shares_columns = std::ranges::any_of(lowered.parts, [&](const auto& part) { return part.first != rows; });
  return registers_beside(does, values);
}
// All warps of the blocks that run at the same time share the registers of an SM, partition by partition.
std::int64_t share_of_single_warps(const Lowered& lowered) {
  const auto partitions = whole(lowered.hardware.limits.register_partitions, 4);
  const auto beside = pieces_of(lowered.warps * lowered.blocks, partitions);
  return std::min(most_lane_registers, lane_share(partitions * lanes_of_warp * beside));
}
// Returns the wires of all arrays: arrays with more registers first, and of each array its longer side first.
std::vector<WireId> longest_first(const WarpNest& found) {
  std::vector<std::pair<std::int64_t, WireId>> sides;
  for (const auto& [id, grid] : found.arrays) {
    const auto weight = values(found, id) * 1000;
    if (grid.rows) sides.emplace_back(weight + grid.row_tiles * row_tile, *grid.rows);
    if (grid.columns) sides.emplace_back(weight + grid.column_tiles * column_tile, *grid.columns);
  }
  std::sort(sides.rbegin(), sides.rend());
  std::vector<WireId> wires;
  for (const auto& [length, wire] : sides)
    if (!contains(wires, wire)) wires.push_back(wire);
  return wires;
}
// An operand may be resident in registers if the nest loads it outside the loop body of its product.
bool may_be_resident(const Lowered& lowered, const Product& product) {
  const auto& side = product.rows;
  if (!lowered.planned.keeps || side.computed || side.one_by_one || product.widened || lowered.by_warpgroups())
    return false;
  const auto from = product.compute->read_from(side.access);
  const auto load = std::ranges::find_if(lowered.loads, [&](const auto& each) { return each.step->to == from; });
  return load->block != lowered.at(product.compute).block;
}
void find_residents(WarpNest& found, const Lowered& lowered) {
  for (auto& product : found.products) {
    const auto more = found.columns.at(product.compute).row_tiles * product.steps * product.instruction->a.registers;
    if (!may_be_resident(lowered, product) || found.registers + more > found.most_registers) continue;
    product.rows.kept = true;
    found.registers += more;
  }
}

}  // namespace

std::int64_t most_held(const LoopNest& nest, const std::function<std::int64_t(BufferId)>& registers_of,
                       const std::function<std::int64_t(const Held&)>& beside) {
  std::int64_t most = 0;
  for (const auto& each : held(nest)) most = std::max(most, beside(each) + registers_of_held(each, registers_of));
  return most;
}
void count_registers(WarpNest& found, const Lowered& lowered, WireId rows) {
  if (lowered.by_warpgroups()) {
    const auto shares = shares_of_warpgroups(lowered.warps / lowered.issuing_warps, lowered.blocks, lowered.hardware);
    found.first_registers = shares.first, found.lane_registers = shares.lanes;
    found.loader_lane_registers = shares.copying;
  }
  found.most_registers = lowered.by_warpgroups() ? found.lane_registers : share_of_single_warps(lowered);
  const auto values = most_values(lowered, found);
  found.registers_beside = registers_of_compiler(lowered, found, rows, values);
  found.registers = values + found.registers_beside;
  if (found.registers > found.most_registers)
    throw Infeasible{
        .reason =
            fmt::format("a thread would need {} registers, and has at most {}", found.registers, found.most_registers),
        .shorten = longest_first(found),
        .by_warps = found.most_registers < (lowered.by_warpgroups() ? most_warpgroup_registers : most_lane_registers)};
  find_residents(found, lowered);
}

}  // namespace napkin
