// Counts the registers of a lane from the liveness of all buffers of the nest, in fragments.
#include "timing/lane_registers.hpp"

#include <algorithm>
#include <tuple>

#include "diagram/contains.hpp"
#include "loops/passing.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

constexpr auto sum_tile = accumulator_tile;
constexpr std::int64_t columns_at_once = sum_tile.square() * sum_tile.columns;
// Registers of a lane for one k-step of an operand with this many rows or columns.
constexpr std::int64_t registers_of(std::int64_t lines) {
  return lines * bytes_of_step / (lanes_of_warp * register_bytes);
}
constexpr auto registers_of_rows = registers_of(sum_tile.rows), registers_of_columns = registers_of(sum_tile.columns);

std::int64_t rows_of_warp(const RowDivision& warpgroup) { return pieces_of(warpgroup.held, warpgroup.warps); }

const MainloopOperation* find_product(const Mainloop& mainloop, const Compute* compute) {
  for (const auto* columns : {&mainloop.columns, &mainloop.outside})
    for (const auto& column : *columns)
      if (column.compute == compute && column.contraction) return &column;
  return nullptr;
}

bool is_long(std::int64_t length) { return length > 1; }

// True if single warps widen an operand on its way from shared memory.
bool widens(const Mainloop& mainloop, const MainloopOperation& column) {
  const auto& made = *column.contraction;
  return made.parts == 1 &&
         ((std::ranges::any_of(column.factors, &Factor::widened) && !made.mixed) || mainloop.is_widened_by_warps(made));
}

// Describes what determines the registers that a compiler needs in addition to values, including how the products of
// the mainloop read their operands and where results are saved.
BesideValues beside_values(const Mainloop& mainloop, bool several_warps) {
  auto made = beside_values(*mainloop.nest);
  made.by_warpgroups = mainloop.issues_together();
  made.shares_columns = several_warps && !mainloop.has_rows_first;
  mainloop.each([&](const MainloopOperation& column) {
    made.one_by_one |=
        std::ranges::any_of(column.factors, [](const Factor& factor) { return factor.operand.one_by_one; });
    if (!column.contraction || (column.contraction->rows.staged && column.contraction->columns.staged)) return;
    made.follows = true;
    made.exchanges |= mainloop.exchanges_bytes(*column.contraction);
    made.widens |= widens(mainloop, column);
  });
  return made;
}

}  // namespace

BesideValues beside_values(const LoopNest& nest) {
  BesideValues made;
  made.saves_in_loops = saves_anew(nest);
  made.strides =
      std::ranges::any_of(nest.inputs, [&](ArrayId input) { return nest.scratch.at(input).wires.size() > 2; });
  return made;
}

LaneRegisters::LaneRegisters(const Mainloop& mainloop, const Hardware& hardware) : mainloop_(mainloop) {
  const auto is_product = [&](const Compute* compute) { return find_product(mainloop, compute) != nullptr; };
  for (const auto& [id, compute] : passing(*mainloop.nest, is_product)) {
    elsewhere_.insert(id);
    for (const auto& [access, source] : compute->reads)
      if (!mainloop.nest->is_input(source)) sources_[id].push_back(source);
  }
  for (const auto& one : held(*mainloop.nest)) {
    columns_.push_back(column(one));
    if (hardware.limits.tensor_memory_per_sm && columns_.back().product) elsewhere_.insert(one.compute->to);
  }
}

LaneRegisters::Column LaneRegisters::column(Held held) const {
  std::erase_if(held.buffers, [&](BufferId id) {
    return !mainloop_.any([&](const MainloopOperation& one) { return one.compute->to == id; });
  });
  const auto* compute = held.compute;
  const bool inside = std::ranges::any_of(mainloop_.columns, [&](const auto& one) { return one.compute == compute; });
  return {std::move(held), find_product(mainloop_, compute), inside};
}

std::int64_t LaneRegisters::registers(const RowDivision& warpgroup, Order order) const {
  std::int64_t most = 0;
  for (const auto& column : columns_) most = std::max(most, values(column, warpgroup, order));
  const auto& nest = *mainloop_.nest;
  const auto is_matrix = [&](BufferId id) { return std::ranges::count_if(nest.at(id).extent, is_long) >= 2; };
  auto beside = beside_values(mainloop_, warpgroup.warps * warpgroup.warpgroups > 1);
  for (const auto& column : columns_) add_column(beside, nest, *column.held.compute, column.product, is_matrix);
  return most + registers_beside(beside, most);
}

std::int64_t LaneRegisters::values(const Column& column, const RowDivision& warpgroup, Order order) const {
  auto all = registers_of_held(column.held, [&](BufferId id) { return values(id, warpgroup); });
  for (const auto id : sources(column)) all += values(id, warpgroup);
  if (column.product) all += operands(*column.product, warpgroup);
  for (const auto& other : columns_)
    if (other.product && other.product->contraction->rows.kept) all += whole_rows(*other.product, warpgroup);
  return all + ahead(column, warpgroup, order);
}

// Compilers complete an operand before single warps multiply its first part, so that the arrays from which it is
// computed stay alive.
std::vector<BufferId> LaneRegisters::sources(const Column& column) const {
  if (!column.product || mainloop_.issues_together()) return {};
  const auto& [rows, columns] = std::tie(column.product->contraction->rows, column.product->contraction->columns);
  const bool of_columns = mainloop_.has_rows_first ? rows.staged : !columns.staged;
  const auto made = sources_.find((of_columns ? columns : rows).buffer);
  if (made == sources_.end()) return {};
  auto all = made->second;
  std::erase_if(all, [&](BufferId id) { return contains(column.held.buffers, id); });
  return all;
}

std::int64_t LaneRegisters::values(BufferId id, const RowDivision& warpgroup) const {
  if (elsewhere_.contains(id)) return 0;
  const auto& volume = mainloop_.volumes[id.index];
  auto of_rows = volume.rows > 1 ? mainloop_.rows_held(volume.rows, rows_of_warp(warpgroup)) : 1,
       of_columns = volume.beside;
  if (volume.rows == 0)
    if (const auto first = first_of_two(id)) of_rows = *first, of_columns /= *first;
  if (!mainloop_.has_rows_first) std::swap(of_rows, of_columns);
  const auto rows = pieces_of(of_rows, sum_tile.rows);
  const auto columns = of_columns > 1 ? round_up(of_columns, columns_at_once) / sum_tile.columns : 1;
  return (of_rows > 1 ? sum_tile.lane_rows * rows : 1) * (of_columns > 1 ? sum_tile.lane_columns * columns : 1);
}

// Returns the length of the first long axis of a piece that has two of them.
std::optional<std::int64_t> LaneRegisters::first_of_two(BufferId id) const {
  const auto& extent = mainloop_.nest->at(id).extent;
  if (std::ranges::count_if(extent, is_long) != 2) return std::nullopt;
  return *std::ranges::find_if(extent, is_long);
}

std::int64_t LaneRegisters::whole_rows(const MainloopOperation& column, const RowDivision& warpgroup) const {
  const auto rows = pieces_of(rows_of_warp(warpgroup), sum_tile.rows);
  const auto& made = *column.contraction;
  const auto k = mainloop_.exchanges_bytes(made) ? bytes_of_step : made.k;
  return rows * registers_of_rows * pieces_of(mainloop_.lengths_at(column)[made.depth.index], k) * made.parts;
}

// True if the buffer is a carried state. A state becomes an operand one k-step at a time.
bool LaneRegisters::is_state(BufferId id) const {
  return std::ranges::any_of(columns_, [&](const Column& column) { return column.held.compute->carried == id; });
}

// Registers of a column operand that each warp computed as a whole.
std::int64_t LaneRegisters::whole_columns(const MainloopOperation& column) const {
  const auto& made = *column.contraction;
  const auto columns = made.across ? mainloop_.lengths_at(column)[made.across->index] : 1;
  return pieces_of(columns, sum_tile.columns) * registers_of_columns *
         pieces_of(mainloop_.lengths_at(column)[made.depth.index], made.k) * made.parts;
}

// Registers of the sums that are promoted, of operands that were computed as a whole, and of those that are loaded.
std::int64_t LaneRegisters::operands(const MainloopOperation& column, const RowDivision& warpgroup) const {
  const auto& made = *column.contraction;
  const auto is_made_whole = [&](const MainloopOperand& one) { return !one.staged && !is_state(one.buffer); };
  const auto all = (is_made_whole(made.rows) ? whole_rows(column, warpgroup) : 0) +
                   (is_made_whole(made.columns) ? whole_columns(column) : 0) +
                   (made.promoted > 0 ? values(column.compute->to, warpgroup) : 0);
  if (mainloop_.issues_together()) return all;
  auto of_rows = rows_of_warp(warpgroup),
       of_columns = made.across ? mainloop_.lengths_at(column)[made.across->index] : 1;
  if (!mainloop_.has_rows_first) std::swap(of_rows, of_columns);
  const auto rows = pieces_of(of_rows, sum_tile.rows);
  const auto columns = round_up(of_columns, columns_at_once) / sum_tile.columns;
  if (made.parts > 1) return all + registers_of_parts(rows, columns);
  return all + registers_of_loaded(rows, registers_of_rows, columns, registers_of_columns, widens(mainloop_, column));
}

// Registers that overlap needs in addition. Leading sums are held from the beginning of the iteration. With
// intra-warpgroup overlap, the operands of trailing products of the iteration before are held as well.
std::int64_t LaneRegisters::ahead(const Column& column, const RowDivision& warpgroup, Order order) const {
  if (order == Order::text || !column.inside) return 0;
  std::int64_t all = 0;
  for (const auto& other : columns_) {
    if (!other.product || !other.inside || other.held.compute == column.held.compute) continue;
    const auto sum = other.held.compute->to;
    const bool begun = contains(column.held.buffers, sum);
    if (leads(*other.product) && column.held.compute < other.held.compute && !begun) all += values(sum, warpgroup);
    if (!leads(*other.product) && order == Order::intra_warpgroup) all += operands(*other.product, warpgroup);
  }
  return all;
}

}  // namespace napkin
