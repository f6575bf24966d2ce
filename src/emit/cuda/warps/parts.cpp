// Operands of products in parts: numbers of f32 are split in two, those of 16 bits become such of tf32. A register has
// the place that the functions in instructions/parts.cpp give it.
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

// Of the four registers of a load, the first two are the first eight positions of what is summed for rows, and the
// first eight columns for columns.
void FragmentPrinter::widen(const Product& product, bool rows, const std::string& to) {
  const auto [a, b] = *product.instruction->formats;
  const auto narrow = page_.pool.fresh("narrow");
  out_.line(fmt::format("unsigned {}[4];", narrow));
  const auto& side = rows ? product.rows : product.columns;
  if (side.computed)
    pack(product, rows, narrow);
  else
    load(side, product, rows, narrow, rows ? lanes.row : lanes.column);
  for (int r = 0; r < 4; ++r) {
    const int first = r / 2 * 4 + r % 2 * (rows ? 1 : 2), second = first + (rows ? 2 : 1);
    out_.line(fmt::format("napkin_widen_pair<{0}>({1}[{2}], {3}[{4}], {3}[{5}]);",
                          code_storage(Language::cuda, rows ? a : b), narrow, r, to, first, second));
  }
}

// From shared memory, a number at a time.
void FragmentPrinter::split(const Product& product, bool rows, const std::string& to) {
  const auto& side = rows ? product.rows : product.columns;
  const auto& layout = warps_.tiles.at(side.buffer).layout;
  const auto first = first_of_warp(side, product, rows);
  const auto i = page_.pool.fresh("i");
  const auto own = rows ? fmt::format("{}{} * 16 + {} + {} % 2 * 8", first, lanes.row, lanes.group, i)
                        : fmt::format("{}{} * 16 + {} + {} / 4 * 8", first, lanes.column, lanes.group, i);
  const auto step = fmt::format(fmt::runtime(rows ? "{0} * 16 + {2} / 4 * 8 + {1} * 2 + {2} % 4 / 2"
                                                  : "{0} * 16 + {2} % 4 / 2 * 8 + {1} * 2 + {2} % 2"),
                                lanes.step, lanes.quad, i);
  const auto place = side.transposed ? tile_place(layout, step, own) : tile_place(layout, own, step);
  loop(i, 8);
  out_.line(fmt::format("napkin_split(napkin_shared_read({0} + {1}), {2}[{3}], {2}[8 + {3}]);",
                        tile_pointer(page_, side.buffer), place, to, i));
  out_.close();
}

// What the warp computed stays where it is. Of rows, registers have the halves of the rows side by side; of columns,
// the positions that are multiplied.
void FragmentPrinter::split_computed(const Product& product, bool rows, const std::string& to) {
  each_register(product, rows, 2, [&](int r, const std::vector<std::string>& numbers) {
    const int half = r % 2, step = r / 2;
    const int first = rows ? step * 4 + half : half * 4 + step * 2, second = first + (rows ? 2 : 1);
    out_.line(fmt::format("napkin_split({0}, {1}[{2}], {1}[{3}]);", numbers[0], to, first, first + 8));
    out_.line(fmt::format("napkin_split({0}, {1}[{2}], {1}[{3}]);", numbers[1], to, second, second + 8));
  });
}

}  // namespace napkin
