// Products of one warp: fragments of both operands come from shared memory or registers and are the operands of the
// instruction.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/fragments.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
// In every step along the contracted axis, the fragments of one operand are loaded first, then those of the other one
// after another. If fragments are widened and none are computed, the loop is not unrolled, because a compiler would
// hold those of several steps at once.
void FragmentPrinter::product(const Product& product) {
  if (product.instruction->warps > 1) return warpgroup_product(product);
  limit(product);
  begin(*product.compute);
  const auto& grid = warps_.columns.at(product.compute);
  constexpr auto square = accumulator_tile.square();
  const auto pairs = grid.column_tiles / square;
  const bool rows_first = product.rows.computed || product.rows.kept || grid.row_tiles <= pairs;
  const auto rows = page_.pool.fresh("a"), columns = page_.pool.fresh("b");
  if (product.promoted > 0) declare_sums(product);
  loop(lanes.step, product.steps, !product.widened || product.has_computed());
  const auto held = held_by(product);
  const auto load_rows = [&](const std::string& to) { load_side(product, true, to); };
  const auto load_columns = [&](const std::string& to) { load_side(product, false, to); };
  const auto multiply = [&](const std::string& a, const std::string& b) {
    for (int n = 0; n < square; ++n)
      out_.line(fmt::format("{}({}[{}][{} * {}{}], {}, {}{});", product_name(*product.instruction), sums(product),
                            lanes.row, lanes.column, square, further(n), a, b, further(n * held.next)));
  };
  if (rows_first) {
    auto a = fmt::format("{}[{}]", rows, lanes.row);
    if (product.rows.kept) {
      a = fmt::format("{}[{}][{}]", kept_name(product), lanes.step, lanes.row);
    } else {
      out_.line(fmt::format("unsigned {}[{}][{}];", rows, grid.row_tiles, held.rows));
      loop(lanes.row, grid.row_tiles);
      load_rows(a);
      out_.close();
    }
    loop(lanes.column, pairs);
    out_.line(fmt::format("unsigned {}[{}];", columns, held.columns));
    load_columns(columns);
    loop(lanes.row, grid.row_tiles);
    multiply(a, columns);
    out_.close(2);
  } else {
    out_.line(fmt::format("unsigned {}[{}][{}];", columns, pairs, held.columns));
    loop(lanes.column, pairs);
    load_columns(fmt::format("{}[{}]", columns, lanes.column));
    out_.close();
    loop(lanes.row, grid.row_tiles);
    out_.line(fmt::format("unsigned {}[{}];", rows, held.rows));
    load_rows(rows);
    loop(lanes.column, pairs);
    multiply(rows, fmt::format("{}[{}]", columns, lanes.column));
    out_.close(2);
  }
  if (product.promoted > 0) promote_after(product);
  out_.close();
  round(*product.compute);
}

// The registers for the rows of a fragment and for as many columns, and the distance between those of neighbouring
// fragments of columns.
FragmentPrinter::OperandRegisters FragmentPrinter::held_by(const Product& product) {
  const auto& row = *product.instruction;
  const auto parts = [&](bool rows) {
    return row.formats && (rows ? row.formats->first : row.formats->second) == Datatype::f32 ? 2 : 1;
  };
  return {operand_at_once(row, true).registers * parts(true), operand_at_once(row, false).registers * parts(false),
          row.b.registers};
}
// Numbers of other formats than the instruction's are loaded, or packed, as for an instruction on 16-bit numbers.
const MatrixInstruction& FragmentPrinter::loaded_as(const Product& product) {
  return product.instruction->formats ? *find_matrix_instruction(Datatype::f16) : *product.instruction;
}
void FragmentPrinter::load_side(const Product& product, bool rows, const std::string& to) {
  if (product.instruction->formats) return load_parts(product, rows, to);
  const auto& side = rows ? product.rows : product.columns;
  if (side.computed) return pack(product, rows, to);
  load(side, product, rows, to, rows ? lanes.row : lanes.column);
}

// What instructions accumulate in: the sums themselves, or separate ones with fewer bits, which are promoted.
std::string FragmentPrinter::sums(const Product& product) const {
  return product.promoted > 0 ? sums_.at(product.compute) : page_.buffer(product.compute->to);
}
void FragmentPrinter::declare_sums(const Product& product) {
  const auto& grid = warps_.arrays.at(product.compute->to);
  const auto& name = sums_[product.compute] = page_.pool.fresh(page_.buffer(product.compute->to) + "_part");
  out_.line(fmt::format("float {}[{}][{}][{}] = {{}};  // of {} products at most, before they are added to sums in f32",
                        name, grid.row_tiles, grid.column_tiles, accumulator_tile.values(),
                        product.promoted * product.instruction->k));
}
void FragmentPrinter::begin_sums(const Product& product) {
  Here here;
  const int opened = open_values(warps_.arrays.at(product.compute->to), here);
  out_.line(fmt::format("{}[{}][{}][{}] = 0.0f;", sums(product), here.row, here.column, here.value));
  out_.close(opened);
}
void FragmentPrinter::promote(const Product& product) {
  if (product.promoted == 0) return;
  Here here;
  const int opened = open_values(warps_.arrays.at(product.compute->to), here);
  out_.line(fmt::format("{} += {}[{}][{}][{}];", slot(product.compute->to, here), sums(product), here.row, here.column,
                        here.value));
  out_.close(opened);
}
// Promotes the sums of a single warp's product, at the end of a step of the instruction.
void FragmentPrinter::promote_after(const Product& product) {
  out_.open(product.steps <= product.promoted ? fmt::format("if ({} + 1 == {})", lanes.step, product.steps)
                                              : fmt::format("if ({0} % {1} == {1} - 1 || {0} + 1 == {2})", lanes.step,
                                                            product.promoted, product.steps));
  promote(product);
  if (product.steps > product.promoted) begin_sums(product);
  out_.close();
}

// Limits the size of axes if a sum can hold only a limited number of products.
void FragmentPrinter::limit(const Product& product) {
  if (product.longest == 0) return;
  for (const auto wire : product.compute->column.over)
    if (wire != product.over) page_.limit(wire);
  page_.limits.try_emplace(page_.diagram.at(product.over).axis, product.longest);
}

std::string FragmentPrinter::kept_name(const Product& product) const { return kept_.at(product.rows.buffer); }

void FragmentPrinter::keep(const Product& product) {
  const auto& name = kept_[product.rows.buffer] = page_.pool.fresh(page_.buffer(product.rows.buffer) + "_kept");
  const auto& grid = warps_.columns.at(product.compute);
  out_.line(fmt::format("unsigned {}[{}][{}][{}];", name, product.steps, grid.row_tiles, held_by(product).rows));
  loop(lanes.step, product.steps);
  loop(lanes.row, grid.row_tiles);
  load(product.rows, product, true, fmt::format("{}[{}][{}]", name, lanes.step, lanes.row), lanes.row);
  out_.close(2);
}

// "q_warp - q_block + ", where the warp's own rows or columns begin in the tile.
std::string FragmentPrinter::first_of_warp(const Operand& side, const Product& product, bool rows) {
  const auto wire = rows ? *warps_.columns.at(product.compute).rows : *warps_.columns.at(product.compute).columns;
  const auto& own = page_.own[wire.index];
  const auto& base = page_.scope.at(side.buffer)[wire.index].begin;
  if (own.is_whole()) page_.limit(wire);
  if (page_.own[product.over.index].is_whole()) page_.limit(product.over);
  if (own.begin == base) return "";
  return base == "0" ? own.begin + " + " : fmt::format("{} - {} + ", own.begin, base);
}

// Loads all matrices of the operand's fragment at once.
void FragmentPrinter::load(const Operand& side, const Product& product, bool rows, const std::string& to,
                           const std::string& tile) {
  if (side.one_by_one) return load_one_by_one(side, product, rows, to, tile);
  const auto& layout = warps_.tiles.at(side.buffer).layout;
  const auto fragment = operand_at_once(loaded_as(product), rows);
  const auto at = matrix_row(fragment, side.transposed);
  const auto own = fmt::format("{}{} * {} + {}", first_of_warp(side, product, rows), tile, fragment.rows,
                               to_expression(at.row, lanes.lane));
  const auto step = fmt::format("{} * {} + {}", lanes.step, fragment.columns, to_expression(at.column, lanes.lane));
  const auto place = side.transposed ? tile_place(layout, step, own) : tile_place(layout, own, step);
  out_.line(fmt::format("{}({}, {} + {});", function_name(find_matrix_load(fragment.registers, side.transposed)), to,
                        tile_pointer(page_, side.buffer), place));
}

// Loads the same fragments one number at a time. A register holds neighbours along the contracted axis.
void FragmentPrinter::load_one_by_one(const Operand& side, const Product& product, bool rows, const std::string& to,
                                      const std::string& tile) {
  const auto& staged = warps_.tiles.at(side.buffer);
  const auto& type = row(product.instruction->operands);
  const auto first = first_of_warp(side, product, rows);
  FragmentIndex at{lanes.group, lanes.quad, page_.pool.fresh("i"), ""};
  auto fragment = operand_at_once(*product.instruction, rows);
  const int numbers = fragment.values / fragment.registers;
  if (product.has_computed() && numbers == 1) fragment = in_order_of_sums(fragment);
  const auto own = fmt::format("{}{} * {} + {}", first, tile, fragment.rows, fragment.row_text(at));
  std::vector<std::string> all;
  for (int n = 0; n < numbers; ++n) {
    at.value = fmt::format("{}", n);
    const auto step = fmt::format("{} * {} + {}", lanes.step, fragment.columns, fragment.column_text(at));
    const auto place = side.transposed ? tile_place(staged.layout, step, own) : tile_place(staged.layout, own, step);
    all.push_back(fmt::format("napkin_shared_read({} + {})", tile_pointer(page_, side.buffer), place));
  }
  loop(at.reg, fragment.registers);
  out_.list(fmt::format("{}[{}] = napkin_register_{}(", to, at.reg, type.bytes == 1 ? "bytes" : type.name), all, ");");
  out_.close();
}

// Packs an array that the warp computed as an operand. Numbers of 16 and of 32 bits stay in their lanes: neighbouring
// fragments of sums are one fragment of a 16-bit operand, or one is a step of tf32, and the other operand is read in
// the same order of columns. Lanes of a quad exchange 8-bit numbers. Positions past the end of the contracted axis
// count as 0. The rows of the array's fragments are those of the operand, and fill both tiles of columns that are held
// at once.
void FragmentPrinter::pack(const Product& product, bool rows, const std::string& to) {
  const auto& formats = product.instruction->formats;
  const auto& type = row(!formats ? product.instruction->operands : rows ? formats->first : formats->second);
  const auto fragment = operand_at_once(loaded_as(product), rows);
  // The functions that pack f16, bf16 and f8 round.
  const bool rounds = type.type != Datatype::tf32 && type.type != Datatype::i8;
  each_register(product, rows, [&](const Fragment::Place& at, std::vector<std::string> numbers) {
    if (!rounds)
      for (auto& number : numbers) number = filled(code_type(Language::cuda, type.type).round, number);
    const auto packed =
        fmt::format("napkin_{}_{}({})", type.bytes == 4 ? "register" : "pack", type.name, fmt::join(numbers, ", "));
    const auto place = fragment.register_of(at);
    out_.line(type.bytes == 1 ? fmt::format("{}[{}] = napkin_exchange_bytes({});", to, place, packed)
                              : fmt::format("{}[{}] = {};", to, place, packed));
  });
}
// Calls `take` for each register of a step with its numbers, which neighbouring fragments of sums hold in their own
// order.
void FragmentPrinter::each_register(const Product& product, bool rows, const EachRegister& take) {
  const auto id = (rows ? product.rows : product.columns).buffer;
  const auto passing = warps_.inlined.find(id);
  const auto& piece = page_.own[product.over.index];
  const auto& grid = warps_.arrays.at(id);
  const auto fragment = operand_at_once(loaded_as(product), true), ordered = in_order_of_sums(fragment);
  const int of_register = fragment.values / fragment.registers;
  if (piece.is_whole()) page_.limit(product.over);
  for (int r = 0; r < fragment.registers; ++r) {
    out_.open("");
    std::vector<std::string> all;
    for (int n = 0; n < of_register; ++n) {
      const auto sum_at = ordered.at(0, r * of_register + n);
      const auto half = sum_at.row / accumulator_tile.groups(), p = sum_at.column % accumulator_tile.columns;
      Here here;
      here.row = rows ? lanes.row : lanes.column,
      here.column = fmt::format("{} * {}{}", lanes.step, tiles_of_step(loaded_as(product)),
                                further(sum_at.column / accumulator_tile.columns));
      here.half = fmt::format("{}", half), here.pair = fmt::format("{}", p);
      here.value = fmt::format("{}", half * accumulator_tile.lane_columns + p);
      const auto name = page_.pool.fresh("v");
      const auto offset = column_of(fmt::format("({}) * {}", here.column, accumulator_tile.columns), here.pair);
      const auto at = page_.pool.fresh(page_.wires[product.over.index] + "_at");
      here.unclamped[product.over] = at;
      here.position[product.over] = fmt::format("min({}, {} - 1)", at, piece.end);
      if (grid.rows)
        here.position[*grid.rows] = fmt::format(
            "min({}, {} - 1)",
            sum(page_.own[grid.rows->index].begin, fmt::format("{} * {} + {} * {} + {}", here.row, row_step(*grid.rows),
                                                               here.half, accumulator_tile.groups(), lanes.group)),
            page_.own[grid.rows->index].end);
      place({}, here, false, false);
      out_.declare(at, sum(piece.begin, offset));
      const auto text = passing == warps_.inlined.end() ? slot(id, here) : value(*passing->second, here);
      const auto counts = clear_ == product.over ? "" : fmt::format("{} < {} ? ", at, piece.end);
      out_.line(fmt::format("const float {} = {}{}{};", name, counts, without_brackets(text),
                            counts.empty() ? "" : " : 0.0f"));
      all.push_back(name);
    }
    take(fragment.at(0, r * of_register), all);
    out_.close();
  }
}

}  // namespace napkin
