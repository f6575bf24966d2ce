// What it all takes: registers of a lane, shared memory of a block.
#include <fmt/format.h>

#include "distribute/distributing.hpp"
#include "timing/lane_registers.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_lane_registers = 255;
constexpr std::int64_t wanted_copies = 2, line = 128;

}  // namespace

// Registers

void Distributing::count_registers() {
  if (by_warpgroups()) share_registers();
  const auto values = most_values();
  result_.registers_beside = rest(values), result_.registers = values + result_.registers_beside;
  if (result_.registers > room())
    throw Infeasible{
        .reason = fmt::format("a thread would need {} registers, and has at most {}", result_.registers, room()),
        .shorten = longest_first(),
        .by_warps = room() < (by_warpgroups() ? most_warpgroup_registers : most_lane_registers)};
  for (auto& product : result_.products) keep(product);
  result_.most_registers = room();
}
// Values and operands that any column has beside it.
std::int64_t Distributing::most_values() const {
  std::int64_t most = 0;
  for (const auto& each : held(nest())) {
    std::int64_t all = 0;
    for (const auto id : each.buffers) all += values(id);
    if (each.overwrites) all -= std::min(values(each.overwrites->first), values(each.overwrites->second));
    if (const auto* product = result_.product(each.compute))
      all += operand_registers(*product) + source_registers(*product, each.buffers);
    all += step_registers(each.compute, each.buffers);
    most = std::max(most, all);
  }
  return most;
}
// Beside so many of them: what a compiler needs.
std::int64_t Distributing::rest(std::int64_t of_values) const {
  std::vector<const Compute*> all, no_products;
  for (const auto& place : computes_) {
    all.push_back(place.compute);
    if (!result_.product(place.compute)) no_products.push_back(place.compute);
  }
  auto does = beside_columns(nest(), all, no_products, [&](BufferId id) {
    const auto tile = result_.tiles.find(staged(id));
    return tile != result_.tiles.end() && tile->second.row;
  });
  does.by_warpgroups = by_warpgroups();
  does.follows = std::any_of(result_.products.begin(), result_.products.end(),
                             [](const Product& product) { return product.has_computed(); });
  does.one_by_one = std::any_of(result_.products.begin(), result_.products.end(), [](const Product& product) {
    return product.rows.one_by_one || product.columns.one_by_one;
  });
  for (const auto& product : result_.products) {
    if (!product.has_computed()) continue;
    does.exchanges = does.exchanges || row(product.instruction->operands).bytes == 1;
    does.widens = does.widens || (product.widened && !product.instruction->formats);
  }
  does.shares_columns =
      std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) { return part.first != rows_; });
  does.saves_in_loops = saves_anew(nest());
  return registers_beside(does, of_values);
}
// What a lane may have while all warps of the blocks beside each other are on one core.
std::int64_t Distributing::room() const {
  if (by_warpgroups()) return result_.lane_registers;
  const auto& limits = hardware_.limits;
  const auto partitions = whole(limits.register_partitions, 4);
  const auto beside = pieces_of(result_.warps * result_.blocks, partitions);  // warps of one partition
  return std::min(most_lane_registers, all_registers / partitions / (lanes_of_warp * beside) / 8 * 8);
}
// The wires of the arrays that take most, along their longer side first.
std::vector<WireId> Distributing::longest_first() const {
  std::vector<std::pair<std::int64_t, WireId>> sides;
  for (const auto& [id, grid] : result_.arrays) {
    if (grid.rows) sides.emplace_back(values(id) * 1000 + grid.row_tiles * row_tile, *grid.rows);
    if (grid.columns) sides.emplace_back(values(id) * 1000 + grid.column_tiles * column_tile, *grid.columns);
  }
  std::sort(sides.rbegin(), sides.rend());
  std::vector<WireId> wires;
  for (const auto& [length, wire] : sides)
    if (!contains(wires, wire)) wires.push_back(wire);
  return wires;
}
std::int64_t Distributing::values(BufferId id) const {
  const auto found = result_.arrays.find(id);
  return found == result_.arrays.end() || result_.inlined.contains(id) ? 0 : found->second.values();
}
// Sums that are promoted; what was computed, whole, unless it is a state that stays; of tiles one side's fragments of a
// step at once, the other's one after another, and where they are widened, as they were loaded and twice as wide.
std::int64_t Distributing::operand_registers(const Product& product) const {
  const auto& grid = result_.columns.at(product.compute);
  const auto of_rows = product.instruction->a.registers, of_columns = product.instruction->b.registers;  // a step
  const auto is_made_whole = [&](const Operand& side) { return side.computed && !is_state(side.buffer); };
  const auto whole = (is_made_whole(product.rows) ? grid.row_tiles * product.steps * of_rows : 0) +
                     (is_made_whole(product.columns) ? grid.column_tiles * product.steps * of_columns : 0) +
                     (product.promoted > 0 ? values(product.compute->to) : 0);
  if (by_warpgroups()) return whole;
  if (product.instruction->formats) return whole + registers_of_parts(grid.row_tiles, grid.column_tiles);
  return whole + (product.widened ? 3 : 1) * std::min(grid.row_tiles * of_rows + accumulator_tile.square() * of_columns,
                                                      grid.column_tiles * of_columns + of_rows);
}
bool Distributing::is_state(BufferId id) const {
  return std::any_of(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute->carried == id; });
}
// Of single warps: what an operand is made of stays until it is whole.
std::int64_t Distributing::source_registers(const Product& product, const std::vector<BufferId>& held) const {
  const auto made = result_.inlined.find((product.rows.computed ? product.rows : product.columns).buffer);
  if (by_warpgroups() || made == result_.inlined.end()) return 0;
  std::int64_t all = 0;
  for (const auto& [access, id] : made->second->reads)
    if (!is_input(id) && !contains(held, id)) all += values(id);
  return all;
}
// Where it is planned, the nest loads the operand outside of the product's block, and there is room.
void Distributing::keep(Product& product) {
  auto& side = product.rows;
  if (!result_.keeps || side.computed || side.one_by_one || product.widened || by_warpgroups()) return;
  const auto& place =
      *std::find_if(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute == product.compute; });
  const auto from = product.compute->read_from(side.access);
  const auto load = std::find_if(loads_.begin(), loads_.end(), [&](const auto& l) { return l.load.to == from; });
  const auto more = result_.columns.at(product.compute).row_tiles * product.steps * product.instruction->a.registers;
  if (load->block == place.block || result_.registers + more > room()) return;
  side.kept = true;
  result_.registers += more;
}

// Shared memory

// Loops that load tiles and hold no such loop.
bool Distributing::find_pipelined(const LoopBody& block) {
  bool any = false, inside = false;
  for (const auto& step : block.steps) {
    if (const auto* load = std::get_if<Load>(&step.node)) any |= result_.tiles.contains(load->to);
    if (const auto* loop = std::get_if<For>(&step.node); loop && find_pipelined(loop->body)) {
      inside = true;
      if (loads_tiles(loop->body) && !loads_deeper(loop->body)) result_.pipelined.push_back(loop);
    }
  }
  return any || inside;
}
bool Distributing::loads_tiles(const LoopBody& block) const {
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const LoopStatement& step) {
    const auto* load = std::get_if<Load>(&step.node);
    return load && result_.tiles.contains(load->to);
  });
}
bool Distributing::loads_deeper(const LoopBody& block) const {
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const LoopStatement& step) {
    const auto* loop = std::get_if<For>(&step.node);
    return loop && (loads_tiles(loop->body) || loads_deeper(loop->body));
  });
}
// Tiles of pipelined loops as often as planned, at least twice where no other block covers for copies; less often where
// there is no room. Blocks beside each other keep what they were planned with, up to two.
void Distributing::place_tiles() {
  const auto room = block_room(), planned = result_.planned_stages;
  const auto alone = result_.blocks == 1;
  const auto fewest = alone ? 1 : std::min(wanted_copies, planned);
  auto copies = alone ? std::max(wanted_copies, planned) : planned;
  copy_ahead(copies);
  while (shared_bytes() > room && copies > fewest) copy_ahead(--copies);
  if (shared_bytes() > room) std::erase_if(result_.tiles, [](const auto& each) { return !each.second.of_products; });
  result_.shared_bytes = shared_bytes();
  if (result_.shared_bytes > room)
    throw Infeasible{fmt::format("its tiles, padded to whole fragments, take {} B of {} B", result_.shared_bytes, room),
                     streamed_wires()};
  std::int64_t begin = 0;
  for (auto& [id, tile] : result_.tiles) {
    tile.begin = begin;
    begin += round_up(tile.layout.size_bytes(), line) * tile.copies;
  }
}
void Distributing::copy_ahead(std::int64_t copies) {
  for (const auto* loop : result_.pipelined)
    for (const auto& step : loop->body.steps)
      if (const auto* load = std::get_if<Load>(&step.node); load && result_.tiles.contains(load->to))
        result_.tiles.at(load->to).copies = copies;
}
std::vector<WireId> Distributing::streamed_wires() const {
  std::vector<WireId> wires;
  for (const auto& split : kernel_.partition.splits)
    if (split.kind == SplitKind::stream) wires.push_back(split.wire);
  for (const auto& split : kernel_.partition.splits)
    if (split.kind == SplitKind::group) wires.push_back(split.wire);
  return wires;
}
std::int64_t Distributing::shared_bytes() const {
  std::int64_t all = 0;
  for (const auto& [id, tile] : result_.tiles) all += round_up(tile.layout.size_bytes(), line) * tile.copies;
  return all;
}

}  // namespace napkin
