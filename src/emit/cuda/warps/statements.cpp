// Values of computed arrays are in the registers of lanes, and those of inputs in shared or global memory.
#include "emit/cuda/warps/statements.hpp"

#include <fmt/format.h>

#include <numeric>

#include "emit/cuda/warps/buffers.hpp"
#include "emit/shared/types.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

// The number of neighbouring rows or columns of a fragment that differ only in the lanes that hold them.
constexpr std::int64_t eights = accumulator_tile.columns;
static_assert(accumulator_tile.groups() == eights);

// The number of positions, starting at a multiple of it, that share one value of an index: pieces of the wire begin at
// multiples of it too.
std::int64_t positions_at_one_place(const Partition& partition, const Index& index) {
  if (index.offset != 0 || index.terms.size() != 1 || index.terms[0].second != 1) return 1;
  auto all = index.divisor;
  for (const auto& split : partition.splits)
    if (split.wire == index.terms[0].first) all = std::gcd(all, split.size);
  return all;
}

// Neighbouring positions have the same value of an index that divides, such as the k / 128 of a scale: the lanes and
// numbers that hold these positions share one read.
std::string index_text(const FragmentPage& page, const Index& index, bool clamped, const OpenFragments& here) {
  const auto together = positions_at_one_place(page.warps.partition, index);
  return code_index(index, [&](WireId wire) {
    const auto all = here.unclamped.find(wire);
    const auto eight = here.eight.find(wire);
    if (together % eights != 0 || eight == here.eight.end())
      return !clamped && all != here.unclamped.end() ? all->second : here.position.at(wire);
    const auto& piece = page.own[wire.index];
    const auto first =
        together == eights ? eight->second : fmt::format("({}) / {} * {}", eight->second, together, together);
    return page.clear == wire ? sum(piece.begin, first) : napkin::clamped(sum(piece.begin, first), piece);
  });
}

// A place along one dimension of an array, relative to the tile. The last block of a cluster may have a piece past the
// end of the array: it reads the first values of its tile.
std::string place_in_tile(const FragmentPage& page, BufferId id, const Access& from, std::size_t dimension,
                          const std::string& at) {
  const auto begin = corner(page.nest.at(id).at[dimension], page.scope.at(id), false);
  const auto offset = distance(at, begin);
  const auto& along = page.warps.scheduler.along;
  return along && moves(from.at[dimension], *along) ? fmt::format("max({}, 0)", offset) : offset;
}

// The number of an input in its stored type, from shared memory if the block's tile is there. If the tile covers the
// fragments, positions past the end, whose values are not used, are not clamped, because that would need a register for
// each of them.
std::string input(const FragmentPage& page, BufferId id, const Access& from, const OpenFragments& here) {
  id = page.staged(id);
  if (const auto one = page.single.find(id); one != page.single.end()) return one->second;
  const auto tile = page.warps.tiles.find(id);
  const bool is_staged = tile != page.warps.tiles.end(), covers = is_staged && tile->second.covers;
  const auto at = texts_of(from.at, [&](const Index& index) { return index_text(page, index, !covers, here); });
  if (!is_staged) return fmt::format("napkin_global_read({})", page.address(from.array, at));
  const auto local = [&](std::optional<std::size_t> dimension) {
    return dimension ? place_in_tile(page, id, from, *dimension, at[*dimension]) : "0";
  };
  return fmt::format("napkin_shared_read({} + {})", tile_pointer(page, id),
                     tile_place(tile->second.layout, local(tile->second.row), local(tile->second.column)));
}

}  // namespace

FragmentStatements::FragmentStatements(FragmentPage& page) : StatementPrinter(page, {.fast = true, .compares = true}) {
  for (const auto* ask : all_statements<MaskTest>(page.body()))
    if (page.is_single(ask->tile)) known_[ask->access] = ask->wanted;
}

int FragmentStatements::open_cells(const Compute& compute, OpenFragments& here) {
  return napkin::open_cells(page_, page_.warps.arrays.at(compute.to), here);
}

std::string FragmentStatements::slot(BufferId id, const OpenFragments& here) const {
  const auto& grid = page_.warps.arrays.at(id);
  auto text = page_.buffer(id);
  if (grid.rows) text += "[" + here.row + "]";
  if (grid.columns) text += "[" + here.column + "]";
  if (grid.rows && grid.columns) return text + "[" + here.value + "]";
  if (grid.rows) return text + "[" + here.half + "]";
  if (grid.columns) return text + "[" + here.pair + "]";
  return text;
}
std::string FragmentStatements::held_value(BufferId id, const OpenFragments& here) {
  const auto passing = page_.warps.inlined.find(id);
  return without_brackets(passing == page_.warps.inlined.end() ? slot(id, here) : value(*passing->second, here));
}

Typed FragmentStatements::read(const Compute& compute, ExprId access_id, const OpenFragments& here) {
  if (const auto known = known_.find(access_id); known != known_.end())
    return {known->second ? "true" : "false", NumberKind::boolean};
  const auto& from = access(page_.diagram, access_id);
  const auto id = compute.read_from(access_id);
  if (const auto found = here.shuffled.find(id); found != here.shuffled.end()) return {found->second, NumberKind::real};
  if (!page_.is_input(from.array))
    return {page_.warps.is_integer(id) ? fmt::format("{}({})", is_wide(compute) ? "double" : "float", slot(id, here))
                                       : slot(id, here),
            NumberKind::real};
  return page_.read(from.array, stored(compute, access_id, here));
}

std::string FragmentStatements::stored(const Compute& compute, ExprId id, const OpenFragments& here) const {
  return input(page_, compute.read_from(id), access(page_.diagram, id), here);
}

bool FragmentStatements::is_rounded(BufferId id) const {
  return !page_.warps.is_integer(id) && StatementPrinter::is_rounded(id);
}

ExprId FragmentStatements::value_of(const Compute& compute) const {
  return page_.clear && !compute.masks.empty() ? compute.unmasked : compute.column.value;
}

}  // namespace napkin
