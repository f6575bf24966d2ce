// Fragments by their layouts: which place a lane's value has, and the same as text.
#include "instructions/fragments.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace napkin {
namespace {

bool is_of_rows(const Fragment& fragment, const Mode& mode) { return mode.stride < fragment.rows; }

// Of a fragment's layout what moves along its rows alone, or along its columns.
Layout along(const Fragment& fragment, bool rows) {
  auto part = fragment.layout;
  for (auto& mode : part.modes) {
    const bool moves = is_of_rows(fragment, mode) == rows;
    mode.stride = !moves ? 0 : rows ? mode.stride : mode.stride / fragment.rows;
  }
  return part;
}

// By each of the numbers that count through a fragment.
struct Steps {
  Layout quad, group, value, reg;
};
Steps steps(const Fragment& fragment, bool rows) {
  const auto whole = along(fragment, rows);
  const auto part = [&](std::int64_t each, std::int64_t count) {
    return compose(whole, Layout{{{count, each}}}).value();
  };
  const std::int64_t registers = fragment.registers, to_register = fragment.values / registers;
  return {part(1, accumulator_tile.quads()), part(accumulator_tile.quads(), accumulator_tile.groups()),
          part(fragment.lanes, to_register), part(fragment.lanes * to_register, registers)};
}

std::int64_t longest(const Layout& layout) {
  std::int64_t stride = 0;
  for (const auto& mode : layout.modes) stride = std::max(stride, mode.stride);
  return stride;
}
using Terms = std::vector<std::pair<Layout, std::string>>;
std::string sum(const Terms& terms) {
  std::string text;
  for (const auto& [layout, name] : terms)
    if (longest(layout) > 0) text += (text.empty() ? "" : " + ") + to_expression(layout, name);
  return text;
}

}  // namespace

Fragment operand_fragment(std::int64_t rows, std::int64_t k, Datatype type, int warps) {
  constexpr auto groups = accumulator_tile.groups(), quads = accumulator_tile.quads();
  const auto r = register_bytes / row(type).bytes, of_warp = rows / warps;
  const auto down = of_warp / groups, across = k / (quads * r);
  return {rows,
          k,
          static_cast<int>(down * across),
          static_cast<int>(down * across * r),
          {{{quads, r * rows}, {groups, 1}, {warps, of_warp}, {r, rows}, {down, groups}, {across, quads * r * rows}}},
          warps * lanes_of_warp};
}
Fragment accumulator_fragment(int warps) {
  constexpr auto tile = accumulator_tile;
  const auto rows = warps * tile.rows;
  const auto values = static_cast<int>(tile.values());
  return {rows,
          tile.columns,
          values,
          values,
          {{{tile.quads(), tile.lane_columns * rows},
            {tile.groups(), 1},
            {warps, tile.rows},
            {tile.lane_columns, rows},
            {tile.lane_rows, tile.groups()}}},
          warps * lanes_of_warp};
}

Fragment::Place Fragment::at(std::int64_t lane, std::int64_t value) const {
  const auto place = layout(lane + lanes * value);
  return {place % rows, place / rows};
}
int Fragment::register_of(Place wanted) const {
  int value = 0;
  for (; value < values; ++value)
    if (const auto place = at(0, value); place.row == wanted.row && place.column == wanted.column) break;
  return value / (values / registers);
}

std::string Fragment::row_text(const FragmentIndex& index) const {
  const auto by = steps(*this, true);
  return sum({{by.group, index.group}, {by.reg, index.reg}});
}
// What moves furthest first.
std::string Fragment::column_text(const FragmentIndex& index) const {
  const auto by = steps(*this, false);
  Terms terms = {{by.reg, index.reg}, {by.quad, index.quad}, {by.value, index.value}};
  std::ranges::stable_sort(terms, std::greater(), [](const auto& term) { return longest(term.first); });
  return sum(terms);
}

Fragment operand_at_once(const MatrixInstruction& row, bool rows) {
  if (rows) return row.a;
  auto made = row.b;
  const auto times = accumulator_tile.square();
  for (auto& mode : made.layout.modes)
    if (!is_of_rows(row.b, mode)) mode.stride *= times;
  made.layout.modes.push_back({times, row.b.rows});
  made.rows *= times, made.registers *= static_cast<int>(times), made.values *= static_cast<int>(times);
  return made;
}

Fragment in_order_of_sums(Fragment fragment) {
  const Layout order{
      {{accumulator_tile.lane_columns, 1}, {fragment.columns / accumulator_tile.columns, accumulator_tile.columns}}};
  std::vector<Mode> modes = {{accumulator_tile.quads(), accumulator_tile.lane_columns * fragment.rows}};
  std::int64_t before = 1;
  for (std::size_t i = 1; i < fragment.layout.modes.size(); ++i) {
    const auto mode = fragment.layout.modes[i];
    if (is_of_rows(fragment, mode)) {
      modes.push_back(mode);
      continue;
    }
    const auto parts = compose(order, Layout{{{mode.size, before}}}).value();
    for (const auto& part : parts.modes) modes.push_back({part.size, part.stride * fragment.rows});
    before *= mode.size;
  }
  fragment.layout.modes = modes;
  return fragment;
}

std::int64_t tiles_of_step(const MatrixInstruction& row) { return row.k / row.c.columns; }

MatrixRow matrix_row(const Fragment& fragment, bool transposed) {
  const auto of = [&](bool rows) {
    Layout made{{{accumulator_tile.groups(), rows != transposed ? 1 : 0}}};
    const auto matrices = steps(fragment, rows).reg.modes;
    made.modes.insert(made.modes.end(), matrices.begin(), matrices.end());
    made.modes.push_back({lanes_of_warp / made.size(), 0});  // whose rows are not read
    return made;
  };
  return {of(true), of(false)};
}

}  // namespace napkin
