// Columns on fragments: every lane loops over its own values, folds end with an exchange between lanes, and saved
// values go from registers into the array.
#include "emit/cuda/warps/fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "derive/columns.hpp"
#include "diagram/match.hpp"
#include "emit/cuda/warps/tiles.hpp"
#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
LaneNames::LaneNames(Identifiers& pool)
    : warp(pool.fresh("warp")),
      lane(pool.fresh("lane")),
      group(pool.fresh("group")),
      quad(pool.fresh("quad")),
      row(pool.fresh("i")),
      column(pool.fresh("j")),
      half(pool.fresh("h")),
      pair(pool.fresh("p")),
      value(pool.fresh("e")),
      step(pool.fresh("k")) {}

namespace {

// The number of neighbouring rows or columns of a fragment that differ only in the lanes that hold them.
constexpr std::int64_t eights = accumulator_tile.columns;
static_assert(accumulator_tile.groups() == eights);

}  // namespace

FragmentPrinter::FragmentPrinter(Page& page, const WarpNest& warps)
    : StatementPrinter(page, {Language::cuda, true, true}), lanes(page.pool), warps_(warps) {
  each_step(warps_.nest->body, [&](const LoopStatement& step) {
    if (const auto* ask = std::get_if<MaskTest>(&step.node); ask && is_single(ask->tile))
      known_[ask->access] = ask->wanted;
  });
}

bool FragmentPrinter::is_single(BufferId id) const { return page_.nest.at(id).values() == 1; }

bool FragmentPrinter::minds(const Compute& compute, WireId wire) const {
  if (!compute.masks.empty()) return true;
  if (const auto* product = warps_.product(&compute)) return product->has_computed() && product->over == wire;
  return compute.column.fold && std::ranges::count(compute.column.over, wire) > 0;
}

// Statements

void FragmentPrinter::print(const Compute& compute) {
  const auto from = out_.from(origin(page_.diagram, compute.column));
  if (warps_.inlined.contains(compute.to)) return;
  out_.line(fmt::format("// {}", to_text(page_.diagram, compute.column)));
  if (const auto* known = warps_.product(&compute))
    product(*known);
  else if (compute.column.fold)
    fold(compute);
  else
    pointwise(compute);
}

void FragmentPrinter::print(const Save& save) {
  const auto from = page_.from(save.from);
  const auto& buffer = page_.nest.at(save.from);
  if (buffer.level != page_.leaf()) return;
  out_.line(fmt::format("// save {}", page_.diagram.at(buffer.array).name));
  warps_.stores.contains(save.from) ? store(save.from) : this->save(save.from);
}

// Saves from registers.
void FragmentPrinter::save(BufferId id) {
  const auto array = page_.nest.at(id).array;
  const auto& grid = warps_.arrays.at(id);
  if (grid.rows && grid.columns && page_.diagram.at(array).wires.back() == *grid.columns) return save_pairs(id);
  Here here;
  int opened = open_cells(grid, here);
  if (const auto guarded = guard(array, here); !guarded.empty()) {
    out_.open(fmt::format("if ({})", guarded));
    ++opened;
  }
  out_.line(fmt::format("napkin_global_write({}, {});", element(array, here), stored(id, here)));
  out_.close(opened);
}

// Saves two neighbouring numbers at once.
void FragmentPrinter::save_pairs(BufferId id) {
  const auto& grid = warps_.arrays.at(id);
  const auto array = page_.nest.at(id).array;
  Here first;
  const int opened = open_rows(grid, first);
  const auto second = open_pairs(grid, first);
  out_.open(fmt::format("if ({})", guard(array, first)));
  const auto one = stored(id, first), other = stored(id, second);
  out_.line(fmt::format("napkin_write_pair({}, {}, {}, {} < {});", element(array, first), one, other,
                        second.unclamped.at(*grid.columns), page_.own[grid.columns->index].end));
  out_.close(opened + 2);
}

// Inside of loops over rows, opens a loop over columns of fragments. `first` becomes the lane's first number there;
// returns the second.
FragmentPrinter::Here FragmentPrinter::open_pairs(const Grid& grid, Here& first) {
  first.column = lanes.column;
  loop(first.column, grid.column_tiles);
  return pair(grid, first);
}
FragmentPrinter::Here FragmentPrinter::pair(const Grid& grid, Here& first) {
  auto second = first;
  for (auto* here : {&first, &second}) {
    here->pair = here == &first ? "0" : "1";
    here->value = value_of(here->half, here->pair);
    const auto wire = grid.columns->index;
    here->unclamped[*grid.columns] = page_.pool.fresh(page_.wires[wire] + "_at");
    here->position[*grid.columns] = page_.pool.fresh(page_.wires[wire]);
    place_column(grid, *here);
  }
  return second;
}

// The address of an output's cell, and the value written there.
std::string FragmentPrinter::element(ArrayId id, const Here& here) const {
  return fmt::format("&{}[{}]", page_.array(id), page_.offset(id, places(page_.diagram.at(id).wires, here)));
}
std::string FragmentPrinter::stored(BufferId id, const Here& here) {
  const auto array = page_.nest.at(id).array;
  const auto type = page_.diagram.at(array).type;
  if (warps_.is_integer(id) && type == Datatype::i32) return slot(id, here);
  const auto written = filled(code_type(Language::cuda, type).write, leaving(id, here));
  return code_as_stored(Language::cuda, type, without_brackets(written));
}
// The value that is saved, before it is rounded to the array's format.
std::string FragmentPrinter::leaving(BufferId id, const Here& here) {
  const auto passing = warps_.inlined.find(id);
  return without_brackets(passing == warps_.inlined.end() ? slot(id, here) : value(*passing->second, here));
}

// The condition for saving: positions are inside of the pieces, and of several lanes that hold the same value only the
// first one saves it.
std::string FragmentPrinter::guard(ArrayId id, const Here& here) const {
  std::vector<std::string> all;
  const auto& wires = page_.diagram.at(id).wires;
  for (const auto wire : wires) {
    const auto& piece = page_.own[wire.index];
    if (here.unclamped.contains(wire))
      all.push_back(fmt::format("{} < {}", here.unclamped.at(wire), piece.end));
    else if (piece.by_thread)
      all.push_back(fmt::format("{} < {}", piece.begin, piece.end));
  }
  if (here.row.empty()) all.push_back(lanes.group + " == 0");
  if (here.column.empty()) all.push_back(lanes.quad + " == 0");
  return fmt::format("{}", fmt::join(all, " && "));
}

// The index of a lane's value in a fragment, from its row and column among those of the lane; and the column of that
// value.
std::string FragmentPrinter::value_of(const std::string& half, const std::string& pair) {
  return fmt::format("{} * {} + {}", half, accumulator_tile.lane_columns, pair);
}
std::string FragmentPrinter::column_of(const std::string& first, const std::string& pair) const {
  return fmt::format("{} + {} * {} + {}", first, lanes.quad, accumulator_tile.lane_columns, pair);
}

// Loops

int FragmentPrinter::open_cells(const Grid& grid, Here& here) {
  if (!grid.rows || !grid.columns) return open_rows(grid, here) + open_columns(grid, here);
  here.half = fmt::format("{} / {}", lanes.value, accumulator_tile.lane_columns);
  here.pair = fmt::format("{} % {}", lanes.value, accumulator_tile.lane_columns);
  const int opened = open_values(grid, here);
  place(grid, here, true, true);
  return opened;
}
// Opens loops over all values of a grid with both rows and columns, without positions.
int FragmentPrinter::open_values(const Grid& grid, Here& here) {
  here.row = lanes.row, here.column = lanes.column, here.value = lanes.value;
  loop(here.row, grid.row_tiles);
  loop(here.column, grid.column_tiles);
  loop(here.value, accumulator_tile.values());
  return 3;
}
int FragmentPrinter::open_rows(const Grid& grid, Here& here) {
  if (!grid.rows) return place(grid, here, false, false), 0;
  here.row = lanes.row, here.half = lanes.half;
  loop(here.row, grid.row_tiles);
  open_half(grid, here);
  return 2;
}
// Opens a loop over a lane's rows of the current fragment.
void FragmentPrinter::open_half(const Grid& grid, Here& here) {
  here.row = lanes.row, here.half = lanes.half;
  loop(here.half, accumulator_tile.lane_rows);
  if (!here.column.empty()) here.value = value_of(here.half, here.pair);
  place(grid, here, true, false);
}
int FragmentPrinter::open_columns(const Grid& grid, Here& here) {
  if (!grid.columns) return place(grid, here, false, false), 0;
  here.column = lanes.column, here.pair = lanes.pair;
  loop(here.column, grid.column_tiles);
  loop(here.pair, accumulator_tile.lane_columns);
  if (!here.row.empty()) here.value = value_of(here.half, here.pair);
  place(grid, here, false, true);
  return 2;
}
// Declares positions along the grid, as fragments have them, and those of pieces of one position. Positions past the
// end are clamped to the last one for reads.
void FragmentPrinter::place(const Grid& grid, Here& here, bool rows, bool columns) {
  const auto half = here.half.find(' ') == std::string::npos ? here.half : "(" + here.half + ")";
  if (rows) {
    const auto eight =
        fmt::format("{} * {} + {} * {}", here.row, row_step(*grid.rows), half, accumulator_tile.groups());
    place(*grid.rows, eight + " + " + lanes.group, here, eight);
  }
  if (columns) place_column(grid, here);
  for (std::uint32_t w = 0; w < page_.own.size(); ++w)
    if (const auto& piece = page_.own[w]; piece.extent == 1) here.position.try_emplace(WireId{w}, piece.position);
}

// The distance from a fragment's rows to the next one's: an instruction of a warpgroup has the rows of all its warps
// one after another.
std::int64_t FragmentPrinter::row_step(WireId rows) const {
  const auto& groups = page_.nest.groups;
  const bool divided = std::any_of(groups.begin(), groups.end(), [&](const Split& group) {
    return group.wire == rows && group.level > page_.kernel.block_level;
  });
  return accumulator_tile.rows * (divided ? warps_.issuing_warps : 1);
}
void FragmentPrinter::place_column(const Grid& grid, Here& here) {
  const auto eight = fmt::format("{} * {}", here.column, accumulator_tile.columns);
  place(*grid.columns, column_of(eight, here.pair), here, eight);
}
void FragmentPrinter::place(WireId wire, const std::string& offset, Here& here, const std::string& eight) {
  const auto& piece = page_.own[wire.index];
  if (piece.is_whole()) page_.limit(wire);
  const auto& all = here.unclamped.try_emplace(wire, page_.wires[wire.index] + "_at").first->second;
  const auto& position = here.position.try_emplace(wire, page_.wires[wire.index]).first->second;
  out_.declare(all, sum(piece.begin, offset));
  out_.declare(position, clear_ == wire ? all : fmt::format("min({}, {} - 1)", all, piece.end));
  if (!eight.empty()) here.eight[wire] = eight;
}

// Values

std::string FragmentPrinter::declared(BufferId id) const {
  const auto& grid = warps_.arrays.at(id);
  auto text = page_.buffer(id);
  if (grid.rows) text += fmt::format("[{}]", grid.row_tiles);
  if (grid.columns) text += fmt::format("[{}]", grid.column_tiles);
  const auto values = (grid.rows ? accumulator_tile.lane_rows : 1) * (grid.columns ? accumulator_tile.lane_columns : 1);
  return values > 1 ? fmt::format("{}[{}]", text, values) : text;
}
std::string FragmentPrinter::slot(BufferId id, const Here& here) const {
  const auto& grid = warps_.arrays.at(id);
  auto text = page_.buffer(id);
  if (grid.rows) text += "[" + here.row + "]";
  if (grid.columns) text += "[" + here.column + "]";
  if (grid.rows && grid.columns) return text + "[" + here.value + "]";
  if (grid.rows) return text + "[" + here.half + "]";
  if (grid.columns) return text + "[" + here.pair + "]";
  return text;
}

Typed FragmentPrinter::read(const Compute& compute, ExprId access_id, const Here& here) {
  if (const auto known = known_.find(access_id); known != known_.end())
    return {known->second ? "true" : "false", NumberKind::boolean};
  const auto& from = access(page_.diagram, access_id);
  const auto id = compute.read_from(access_id);
  if (is_handed(id, here)) return {here.turn_values.at(id), NumberKind::real};
  if (!page_.is_input(from.array))
    return {warps_.is_integer(id) ? fmt::format("{}({})", is_wide(compute) ? "double" : "float", slot(id, here))
                                  : slot(id, here),
            NumberKind::real};
  const auto type = page_.diagram.at(from.array).type;
  return {filled(code_type(Language::cuda, type).read, stored(compute, access_id, here)),
          type == Datatype::boolean ? NumberKind::boolean : NumberKind::real};
}

// The number of an input in its stored type.
std::string FragmentPrinter::stored(const Compute& compute, ExprId id, const Here& here) const {
  return input(compute.read_from(id), access(page_.diagram, id), here);
}

// Neighbouring positions have the same value of an index that divides, such as the k / 128 of a scale: the lanes and
// numbers that hold these positions share one read.
std::string FragmentPrinter::index(const Index& index, bool clamped, const Here& here) const {
  const auto together = positions_at_one_place(index);
  return code_index(index, [&](WireId wire) {
    const auto all = here.unclamped.find(wire);
    const auto eight = here.eight.find(wire);
    if (together % eights != 0 || eight == here.eight.end())
      return !clamped && all != here.unclamped.end() ? all->second : here.position.at(wire);
    const auto& piece = page_.own[wire.index];
    const auto first =
        together == eights ? eight->second : fmt::format("({}) / {} * {}", eight->second, together, together);
    return clear_ == wire ? sum(piece.begin, first)
                          : fmt::format("min({}, {} - 1)", sum(piece.begin, first), piece.end);
  });
}
// The number of positions, starting at a multiple of it, that share one value of an index: pieces of the wire begin at
// multiples of it too.
std::int64_t FragmentPrinter::positions_at_one_place(const Index& index) const {
  if (index.offset != 0 || index.terms.size() != 1 || index.terms[0].second != 1) return 1;
  auto all = index.divisor;
  for (const auto& split : warps_.partition.splits)
    if (split.wire == index.terms[0].first) all = std::gcd(all, split.size);
  return all;
}

// Reads an input, from shared memory if the block's tile is there. If the tile covers the fragments, positions past the
// end, whose values are not used, are not clamped, because that would need a register for each of them.
std::string FragmentPrinter::input(BufferId id, const Access& from, const Here& here) const {
  id = page_.staged(id);
  if (const auto one = single.find(id); one != single.end()) return one->second;
  const auto tile = warps_.tiles.find(id);
  const bool covers = tile != warps_.tiles.end() && tile->second.covers;
  std::vector<std::string> at;
  for (const auto& index : from.at) at.push_back(this->index(index, !covers, here));
  if (tile == warps_.tiles.end()) return fmt::format("napkin_global_read({})", page_.address(from.array, at));
  // The last block of a cluster may have a piece past the end of the array: it reads the first values of its tile.
  const auto local = [&](std::optional<std::size_t> dimension) {
    if (!dimension) return std::string("0");
    const auto begin = corner(page_.nest.at(id).at[*dimension], page_.scope.at(id), false);
    const auto bracketed = begin.find(' ') == std::string::npos ? begin : "(" + begin + ")";
    const auto offset = begin == "0" ? at[*dimension] : fmt::format("{} - {}", at[*dimension], bracketed);
    return (warps_.scheduler.along && moves(from.at[*dimension], *warps_.scheduler.along))
               ? fmt::format("max({}, 0)", offset)
               : offset;
  };
  return fmt::format("napkin_shared_read({} + {})", tile_pointer(page_, id),
                     tile_place(tile->second.layout, local(tile->second.row), local(tile->second.column)));
}

std::string further(std::int64_t places) { return places == 0 ? "" : fmt::format(" + {}", places); }
std::string tile_pointer(const Page& page, BufferId id) { return page.buffer(id) + "_tile"; }
std::string tile_place(const SharedTile& tile, const std::string& row, const std::string& column) {
  if (tile.panel != tile.columns)
    return fmt::format("napkin_panel_place<{}, {}, {}, {}>({}, {})", tile.rows, tile.panel, tile.bytes, tile.bits, row,
                       column);
  return fmt::format("napkin_place<{}, {}, {}>({}, {})", tile.columns, tile.bytes, tile.bits, row, column);
}

}  // namespace napkin
