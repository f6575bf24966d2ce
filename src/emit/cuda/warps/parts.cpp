// Operands of products in parts: numbers of f32 are split into two, and 16-bit numbers are widened to tf32. The
// functions in instructions/parts.cpp give the place of each register.
#include <fmt/format.h>

#include "emit/cuda/warps/fragments.hpp"
#include "emit/shared/types.hpp"

namespace napkin {

void FragmentPrinter::load_parts(const Product& product, bool rows, const std::string& to) {
  const auto [a, b] = *product.instruction->formats;
  if ((rows ? a : b) != Datatype::f32) return widen(product, rows, to);
  const bool computed = (rows ? product.rows : product.columns).computed;
  computed ? split_computed(product, rows, to) : split(product, rows, to);
}

// Widens an operand: each loaded register holds two neighbouring numbers.
void FragmentPrinter::widen(const Product& product, bool rows, const std::string& to) {
  const auto [a, b] = *product.instruction->formats;
  const auto narrow = page_.pool.fresh("narrow");
  const auto fragment = operand_at_once(loaded_as(product), rows);
  const int pair = fragment.values / fragment.registers;
  out_.line(fmt::format("unsigned {}[{}];", narrow, fragment.registers));
  const auto& side = rows ? product.rows : product.columns;
  if (side.computed)
    pack(product, rows, narrow);
  else
    load(side, product, rows, narrow, rows ? lanes.row : lanes.column);
  for (int r = 0; r < fragment.registers; ++r) {
    const auto at = fragment.at(0, r * pair);
    out_.line(fmt::format("napkin_widen_pair<{0}>({1}[{2}], {3}[{4}], {3}[{5}]);",
                          code_storage(Language::cuda, rows ? a : b), narrow, r, to, part_register(rows, at, 0),
                          part_register(rows, at, 1)));
  }
}

// Splits an operand from shared memory, one number at a time.
void FragmentPrinter::split(const Product& product, bool rows, const std::string& to) {
  const auto& side = rows ? product.rows : product.columns;
  const auto& layout = warps_.tiles.at(side.buffer).layout;
  const auto first = first_of_warp(side, product, rows);
  const auto i = page_.pool.fresh("i");
  const FragmentIndex at{lanes.group, lanes.quad, i, ""};
  const auto own =
      fmt::format("{}{} * {} + {}", first, rows ? lanes.row : lanes.column, accumulator_tile.rows, part_row(rows, at));
  const auto step = fmt::format("{} * {} + {}", lanes.step, product.instruction->k, part_position(rows, at));
  const auto place = side.transposed ? tile_place(layout, step, own) : tile_place(layout, own, step);
  const auto registers = operand_at_once(*product.instruction, rows).registers;  // of each of the two parts
  loop(i, registers);
  out_.line(fmt::format("napkin_split(napkin_shared_read({0} + {1}), {2}[{3}], {2}[{4} + {3}]);",
                        tile_pointer(page_, side.buffer), place, to, i, registers));
  out_.close();
}

// Splits an operand that the warp computed, without moving it between lanes.
void FragmentPrinter::split_computed(const Product& product, bool rows, const std::string& to) {
  const int registers = operand_at_once(*product.instruction, rows).registers;
  each_register(product, rows, [&](const Fragment::Place& at, const std::vector<std::string>& numbers) {
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const int upper = part_register(rows, at, static_cast<int>(n));
      out_.line(fmt::format("napkin_split({0}, {1}[{2}], {1}[{3}]);", numbers[n], to, upper, upper + registers));
    }
  });
}

}  // namespace napkin
