// Loads fragments of operands from shared memory, or packs values that lanes computed.
#include "emit/cuda/warps/operands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/cuda/warps/buffers.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

// The instruction whose operands the product's are loaded, or packed, like.
const MatrixInstruction& loaded_as(const Product& product) {
  return product.instruction->formats ? *find_matrix_instruction(Datatype::f16) : *product.instruction;
}

// The counter of fragments along the side.
const std::string& fragment_counter(const FragmentPage& page, const OperandSide& side) {
  return side.rows ? page.lanes.row : page.lanes.column;
}

// Loads all matrices of the fragment at once.
void load_matrices(FragmentPage& page, const OperandSide& side, const std::string& to) {
  const auto& operand = side.operand();
  const auto fragment = side.fragment();
  const auto at = matrix_row(fragment, operand.transposed);
  const auto own = first_of_fragment(page, side, fragment.rows) + to_expression(at.row, page.lanes.lane);
  const auto step =
      fmt::format("{} * {} + {}", page.lanes.step, fragment.columns, to_expression(at.column, page.lanes.lane));
  page.out.line("{}({}, {});", function_name(find_matrix_load(fragment.registers, operand.transposed)), to,
                operand_address(page, operand, own, step));
}

// Loads the same fragment one number at a time. A register holds neighbours along the contracted axis.
void load_one_by_one(FragmentPage& page, const OperandSide& side, const std::string& to) {
  const auto& instruction = *side.product.instruction;
  const auto& type = row(instruction.operands);
  FragmentIndex at{page.lanes.group, page.lanes.quad, page.pool.fresh("i"), ""};
  auto fragment = operand_at_once(instruction, side.rows);
  const int numbers = fragment.values / fragment.registers;
  if (side.product.has_computed() && numbers == 1) fragment = in_order_of_sums(fragment);
  const auto own = first_of_fragment(page, side, fragment.rows) + fragment.row_text(at);
  std::vector<std::string> all;
  for (int n = 0; n < numbers; ++n) {
    at.value = fmt::format("{}", n);
    const auto step = fmt::format("{} * {} + {}", page.lanes.step, fragment.columns, fragment.column_text(at));
    all.push_back(fmt::format("napkin_shared_read({})", operand_address(page, side.operand(), own, step)));
  }
  page.loop(at.reg, fragment.registers);
  page.out.list(fmt::format("{}[{}] = napkin_register_{}(", to, at.reg, type.bytes == 1 ? "bytes" : type.name), all,
                ");");
  page.out.close();
}

// The fragment of sums that holds a number of the operand, and the number's place there.
OpenFragments place_of_sum(const FragmentPage& page, const OperandSide& side, const Fragment::Place& place) {
  constexpr auto tile = accumulator_tile;
  const auto half = place.row / tile.groups(), pair = place.column % tile.columns;
  OpenFragments here;
  here.row = fragment_counter(page, side);
  here.column = fmt::format("{} * {}{}", page.lanes.step, tiles_of_step(loaded_as(side.product)),
                            further(place.column / tile.columns));
  here.half = fmt::format("{}", half), here.pair = fmt::format("{}", pair);
  here.value = fmt::format("{}", half * tile.lane_columns + pair);
  return here;
}

// Sets the positions of a number of the operand; `at` names the one along the contracted axis.
void set_positions(const FragmentPage& page, const OperandSide& side, const std::string& at, OpenFragments& here) {
  const auto over = side.product.over;
  here.unclamped[over] = at;
  here.position[over] = clamped(at, page.own[over.index]);
  if (const auto rows = page.warps.arrays.at(side.operand().buffer).rows) {
    const auto& own = page.own[rows->index];
    here.position[*rows] = clamped(sum(own.begin, row_offset(page, *rows, here) + " + " + page.lanes.group), own);
  }
  place_single(page, here);
}

// Returns a number of the operand in its own format. Packing rounds to that of the instruction.
std::string own_number(FragmentStatements& statements, const OperandSide& side, const OpenFragments& here) {
  const auto id = side.operand().buffer;
  const auto value = statements.held_value(id, here);
  const bool packs = statements.page().type(id).type == side.format();
  return packs || !statements.is_rounded(id) ? value : statements.rounded(id, value);
}

// Declares a number of the operand, given its place among the sums, and returns its name. Positions past the end of the
// contracted axis count as 0.
std::string declare_number(FragmentStatements& statements, const OperandSide& side, const Fragment::Place& place) {
  auto& page = statements.page();
  const auto over = side.product.over;
  const auto& piece = page.own[over.index];
  auto name = page.pool.fresh("v");
  const auto at = page.pool.fresh(page.wires[over.index] + "_at");
  auto here = place_of_sum(page, side, place);
  set_positions(page, side, at, here);
  const auto first = fmt::format("({}) * {}", here.column, accumulator_tile.columns);
  page.out.declare(at, sum(piece.begin, column_offset(page, first, here.pair)));
  const auto value = own_number(statements, side, here);
  page.out.line(page.clear == over ? fmt::format("const float {} = {};", name, value)
                                   : fmt::format("const float {} = {} < {} ? {} : 0.0f;", name, at, piece.end, value));
  return name;
}

}  // namespace

Datatype OperandSide::format() const {
  const auto& formats = product.instruction->formats;
  return !formats ? product.instruction->operands : rows ? formats->first : formats->second;
}
bool OperandSide::is_split() const { return product.instruction->formats && format() == Datatype::f32; }
Fragment OperandSide::fragment() const { return operand_at_once(loaded_as(product), rows); }
int OperandSide::registers() const {
  return operand_at_once(*product.instruction, rows).registers * (is_split() ? 2 : 1);
}

void load_fragment(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  auto& page = statements.page();
  side.operand().one_by_one ? load_one_by_one(page, side, to) : load_matrices(page, side, to);
}

// Numbers of 16 and of 32 bits stay in their lanes: neighbouring fragments of sums are one fragment of a 16-bit
// operand, or one is a step of tf32, and the other operand is read in the same order of columns. Lanes of a quad
// exchange 8-bit numbers. The rows of the array's fragments are those of the operand, and fill both tiles of columns
// that are held at once.
void pack(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  auto& out = statements.page().out;
  const auto& type = row(side.format());
  const auto fragment = side.fragment();
  // The functions that pack f16, bf16 and f8 round.
  const bool rounds = type.type != Datatype::tf32 && type.type != Datatype::i8;
  each_register(statements, side, [&](const Fragment::Place& at, std::vector<std::string> numbers) {
    if (!rounds)
      for (auto& number : numbers) number = filled(code_type(Language::cuda, type.type).round, number);
    const auto packed =
        fmt::format("napkin_{}_{}({})", type.bytes == 4 ? "register" : "pack", type.name, fmt::join(numbers, ", "));
    const auto place = fragment.register_of(at);
    out.line(type.bytes == 1 ? fmt::format("{}[{}] = napkin_exchange_bytes({});", to, place, packed)
                             : fmt::format("{}[{}] = {};", to, place, packed));
  });
}

// Neighbouring fragments of sums hold the numbers in their own order.
void each_register(FragmentStatements& statements, const OperandSide& side, const TakeRegister& take) {
  auto& page = statements.page();
  const auto fragment = operand_at_once(loaded_as(side.product), true), ordered = in_order_of_sums(fragment);
  const int of_register = fragment.values / fragment.registers;
  page.limit_whole(side.product.over);
  for (int r = 0; r < fragment.registers; ++r) {
    page.out.open("");
    std::vector<std::string> all;
    for (int n = 0; n < of_register; ++n)
      all.push_back(declare_number(statements, side, ordered.at(0, r * of_register + n)));
    take(fragment.at(0, r * of_register), all);
    page.out.close();
  }
}

std::string begin_in_tile(FragmentPage& page, const OperandSide& side) {
  const auto& grid = page.warps.columns.at(side.product.compute);
  const auto wire = side.rows ? *grid.rows : *grid.columns;
  const auto& own = page.own[wire.index];
  const auto& base = page.scope.at(side.operand().buffer)[wire.index].begin;
  page.limit_whole(wire);
  page.limit_whole(side.product.over);
  if (own.begin == base) return "";
  return distance(own.begin, base);
}

std::string operand_address(const FragmentPage& page, const Operand& operand, const std::string& own,
                            const std::string& step) {
  const auto& layout = page.warps.tiles.at(operand.buffer).layout;
  return fmt::format("{} + {}", tile_pointer(page, operand.buffer),
                     operand.transposed ? tile_place(layout, step, own) : tile_place(layout, own, step));
}

std::string first_of_fragment(FragmentPage& page, const OperandSide& side, std::int64_t rows) {
  const auto begin = begin_in_tile(page, side);
  return fmt::format("{}{}{} * {} + ", begin, begin.empty() ? "" : " + ", fragment_counter(page, side), rows);
}

}  // namespace napkin
