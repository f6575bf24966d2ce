// Products of one warp: fragments of both sides come from shared memory or from registers, and meet in the instruction.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/fragments.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
// Step by step of the instruction: the fragments of one side first, those of the other one after another. Where they
// are widened, steps stay apart: a compiler would hold those of several at once.
void FragmentPrinter::product(const Product& product) {
  if (product.instruction->warps > 1) return warpgroup_product(product);
  limit(product);
  begin(*product.compute);
  const auto& grid = warps_.columns.at(product.compute);
  const auto pairs = grid.column_tiles / 2;
  const bool rows_first = product.rows.computed || product.rows.kept || grid.row_tiles <= pairs;
  const auto rows = page_.pool.fresh("a"), columns = page_.pool.fresh("b");
  if (product.promoted > 0) declare_sums(product);
  loop(lanes.step, product.steps, !product.widened || product.has_computed());
  const auto held = held_by(product);
  const auto load_rows = [&](const std::string& to) { load_side(product, true, to); };
  const auto load_columns = [&](const std::string& to) { load_side(product, false, to); };
  const auto multiply = [&](const std::string& a, const std::string& b) {
    for (int second = 0; second < 2; ++second)
      out_.line(fmt::format("{}({}[{}][{} * 2{}], {}, {}{});", product_name(*product.instruction), sums(product),
                            lanes.row, lanes.column, second ? " + 1" : "", a, b,
                            second ? fmt::format(" + {}", held.second) : ""));
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

// Registers of 16 rows, of 16 columns, and where in them those of the second 8 columns begin.
FragmentPrinter::OperandRegisters FragmentPrinter::held_by(const Product& product) {
  const auto& formats = product.instruction->formats;
  if (!formats) return {4, 4, 2};
  return {formats->first == Datatype::f32 ? 16 : 8, formats->second == Datatype::f32 ? 16 : 8, 4};
}
void FragmentPrinter::load_side(const Product& product, bool rows, const std::string& to) {
  if (product.instruction->formats) return load_parts(product, rows, to);
  const auto& side = rows ? product.rows : product.columns;
  if (side.computed) return pack(product, rows, to);
  load(side, product, rows, to, rows ? lanes.row : lanes.column);
}

// What instructions add to: the sums themselves, or such as keep fewer bits and are promoted.
std::string FragmentPrinter::sums(const Product& product) const {
  return product.promoted > 0 ? sums_.at(product.compute) : page_.buffer(product.compute->to);
}
void FragmentPrinter::declare_sums(const Product& product) {
  const auto& grid = warps_.arrays.at(product.compute->to);
  const auto& name = sums_[product.compute] = page_.pool.fresh(page_.buffer(product.compute->to) + "_part");
  out_.line(fmt::format("float {}[{}][{}][4] = {{}};  // of {} products at most, before they are added to sums in f32",
                        name, grid.row_tiles, grid.column_tiles, product.promoted * product.instruction->k));
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
// Of single warps, at the end of a step of the instruction.
void FragmentPrinter::promote_after(const Product& product) {
  out_.open(product.steps <= product.promoted ? fmt::format("if ({} + 1 == {})", lanes.step, product.steps)
                                              : fmt::format("if ({0} % {1} == {1} - 1 || {0} + 1 == {2})", lanes.step,
                                                            product.promoted, product.steps));
  promote(product);
  if (product.steps > product.promoted) begin_sums(product);
  out_.close();
}

// Where a sum holds only so many products.
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
  out_.line(fmt::format("unsigned {}[{}][{}][4];", name, product.steps, grid.row_tiles));
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

// Four matrices at once. For the side of rows they are the two halves of 16 rows, at both halves of the step; for that
// of columns two fragments, each at both halves of the step.
void FragmentPrinter::load(const Operand& side, const Product& product, bool rows, const std::string& to,
                           const std::string& tile) {
  if (side.one_by_one) return load_one_by_one(side, product, rows, to, tile);
  const auto& staged = warps_.tiles.at(side.buffer);
  const auto chunk = 16 / staged.layout.bytes;
  const auto first = first_of_warp(side, product, rows);
  // Lanes 0 to 15 and 16 to 31, or every other eight.
  const auto by_sixteen = [&](const std::string& scale) {
    return std::pair{lanes.lane + " % 16", fmt::format("{} / 16 * {}", lanes.lane, scale)};
  };
  const auto by_eight = [&](const std::string& scale) {
    return std::pair{fmt::format("{0} % 8 + {0} / 16 * 8", lanes.lane),
                     fmt::format("{} / 8 % 2 * {}", lanes.lane, scale)};
  };
  const auto width = fmt::format("{}", chunk);
  const auto [down, across] = rows == side.transposed ? by_eight(width) : by_sixteen(width);
  const auto own_part = [&](const std::string& lane) { return fmt::format("{}{} * 16 + {}", first, tile, lane); };
  const auto step_part = [&](const std::string& lane) {
    return fmt::format("{} * {} + {}", lanes.step, product.instruction->k, lane);
  };
  const auto place = side.transposed ? tile_place(staged.layout, step_part(down), own_part(across))
                                     : tile_place(staged.layout, own_part(down), step_part(across));
  const auto& instruction = *std::find_if(matrix_loads().begin(), matrix_loads().end(), [&](const MatrixLoad& row) {
    return row.count == 4 && row.transposed == side.transposed;
  });
  out_.line(fmt::format("{}({}, {} + {});", function_name(instruction), to, tile_pointer(page_, side.buffer), place));
}

// The same fragments, one number at a time. A register holds neighbours along the contracted axis.
void FragmentPrinter::load_one_by_one(const Operand& side, const Product& product, bool rows, const std::string& to,
                                      const std::string& tile) {
  const auto& staged = warps_.tiles.at(side.buffer);
  const auto& type = row(product.instruction->operands);
  const auto first = first_of_warp(side, product, rows);
  const auto i = page_.pool.fresh("i");
  const auto numbers = static_cast<int>(4 / type.bytes);
  const auto own = fmt::format("{}{} * 16 + {} + {} * 8", first, tile, lanes.group, i + (rows ? " % 2" : " / 2"));
  std::vector<std::string> all;
  for (int n = 0; n < numbers; ++n) {
    const auto half = i + (rows ? " / 2" : " % 2");
    const auto step = product.has_computed() && numbers == 1
                          ? fmt::format("{} * {} + {} * 2 + {}", lanes.step, product.instruction->k, lanes.quad, half)
                          : fmt::format("{} * {} + {} * {} + {} * {} + {}", lanes.step, product.instruction->k, half,
                                        product.instruction->k / 2, lanes.quad, numbers, n);
    const auto place = side.transposed ? tile_place(staged.layout, step, own) : tile_place(staged.layout, own, step);
    all.push_back(fmt::format("napkin_shared_read({} + {})", tile_pointer(page_, side.buffer), place));
  }
  loop(i, 4);
  out_.list(fmt::format("{}[{}] = napkin_register_{}(", to, i, type.bytes == 1 ? "bytes" : type.name), all, ");");
  out_.close();
}

// What the warp computed becomes an operand. Numbers of 16 and of 32 bits stay where they are: two neighbouring
// fragments of 8 columns are one of 16, and one is a step of tf32, whose columns the other operand is read in the order
// of. Lanes of a quad exchange those of 8 bits. Positions past the end of what is summed count nothing. The rows of its
// fragments are those of the operand: 16 columns are two fragments of 8, each at both halves of the step.
void FragmentPrinter::pack(const Product& product, bool rows, const std::string& to) {
  const auto& formats = product.instruction->formats;
  const auto& type = row(!formats ? product.instruction->operands : rows ? formats->first : formats->second);
  // What packs f16, bf16 and f8 rounds.
  const bool rounds = type.type != Datatype::tf32 && type.type != Datatype::i8;
  each_register(product, rows, static_cast<int>(4 / type.bytes), [&](int r, std::vector<std::string> numbers) {
    const int place = rows ? r : r % 2 * 2 + r / 2;
    if (!rounds)
      for (auto& number : numbers) number = filled(code_type(Language::cuda, type.type).round, number);
    const auto packed =
        fmt::format("napkin_{}_{}({})", type.bytes == 4 ? "register" : "pack", type.name, fmt::join(numbers, ", "));
    out_.line(type.bytes == 1 ? fmt::format("{}[{}] = napkin_exchange_bytes({});", to, place, packed)
                              : fmt::format("{}[{}] = {};", to, place, packed));
  });
}
// The numbers of each of the four registers of a step, so many, of as many neighbouring fragments of 8 columns.
void FragmentPrinter::each_register(const Product& product, bool rows, int numbers, const EachRegister& take) {
  const auto id = (rows ? product.rows : product.columns).buffer;
  const auto passing = warps_.inlined.find(id);
  const auto& piece = page_.own[product.over.index];
  const auto& grid = warps_.arrays.at(id);
  if (piece.is_whole()) page_.limit(product.over);
  for (int r = 0; r < 4; ++r) {
    out_.open("");
    std::vector<std::string> all;
    for (int n = 0; n < numbers; ++n) {
      const int fragment = (r / 2 * numbers + n) / 2, p = numbers == 1 ? r / 2 : n % 2;
      Here here;
      here.row = rows ? lanes.row : lanes.column,
      here.column = fmt::format("{} * {}{}", lanes.step, numbers, fragment > 0 ? fmt::format(" + {}", fragment) : "");
      here.half = fmt::format("{}", r % 2), here.pair = fmt::format("{}", p);
      here.value = fmt::format("{}", r % 2 * 2 + p);
      const auto name = page_.pool.fresh("v");
      const auto offset = fmt::format("({}) * 8 + {} * 2 + {}", here.column, lanes.quad, p);
      const auto at = page_.pool.fresh(page_.wires[product.over.index] + "_at");
      here.unclamped[product.over] = at;
      here.position[product.over] = fmt::format("min({}, {} - 1)", at, piece.end);
      if (grid.rows)
        here.position[*grid.rows] = fmt::format(
            "min({}, {} - 1)",
            sum(page_.own[grid.rows->index].begin,
                fmt::format("{} * {} + {} * 8 + {}", here.row, row_step(*grid.rows), here.half, lanes.group)),
            page_.own[grid.rows->index].end);
      place({}, here, false, false);
      out_.declare(at, sum(piece.begin, offset));
      const auto text = passing == warps_.inlined.end() ? slot(id, here) : value(*passing->second, here);
      const auto counts = clear_ == product.over ? "" : fmt::format("{} < {} ? ", at, piece.end);
      out_.line(fmt::format("const float {} = {}{}{};", name, counts, without_brackets(text),
                            counts.empty() ? "" : " : 0.0f"));
      all.push_back(name);
    }
    take(r, all);
    out_.close();
  }
}

}  // namespace napkin
