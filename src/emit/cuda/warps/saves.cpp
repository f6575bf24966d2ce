// Saved values go from registers into the array, two neighbours at once if they are neighbours in memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/cuda/warps/columns.hpp"

namespace napkin {
namespace {

// The address of an output's cell.
std::string cell_address(const FragmentPage& page, ArrayId id, const OpenFragments& here) {
  const auto at = texts_of(page.diagram.at(id).wires, [&](WireId wire) { return here.position.at(wire); });
  return fmt::format("&{}[{}]", page.array(id), page.offset(id, at));
}

// The condition for saving: positions are inside of the pieces, and of several lanes that hold the same value only the
// first one saves it.
std::string guard(const FragmentPage& page, ArrayId id, const OpenFragments& here) {
  std::vector<std::string> all;
  for (const auto wire : page.diagram.at(id).wires) {
    const auto& piece = page.own[wire.index];
    if (here.unclamped.contains(wire))
      all.push_back(fmt::format("{} < {}", here.unclamped.at(wire), piece.end));
    else if (piece.by_thread)
      all.push_back(fmt::format("{} < {}", piece.begin, piece.end));
  }
  if (here.row.empty()) all.push_back(page.lanes.group + " == 0");
  if (here.column.empty()) all.push_back(page.lanes.quad + " == 0");
  return joined(all, " && ");
}

void save_numbers(FragmentStatements& statements, BufferId id) {
  auto& page = statements.page();
  const auto array = page.nest.at(id).array;
  OpenFragments here;
  int opened = open_cells(page, page.warps.arrays.at(id), here);
  if (const auto guarded = guard(page, array, here); !guarded.empty()) {
    page.out.open("if ({})", guarded);
    ++opened;
  }
  const auto number = saved_number(statements, id, here);
  page.out.line("napkin_global_write({}, {});", cell_address(page, array, here), number);
  page.out.close(opened);
}

void save_pairs(FragmentStatements& statements, BufferId id) {
  auto& page = statements.page();
  const auto& grid = page.warps.arrays.at(id);
  const auto array = page.nest.at(id).array;
  OpenFragments first;
  const int opened = open_rows(page, grid, first);
  const auto second = open_pairs(page, grid, first);
  page.out.open("if ({})", guard(page, array, first));
  const auto one = saved_number(statements, id, first), other = saved_number(statements, id, second);
  page.out.line("napkin_write_pair({}, {}, {}, {} < {});", cell_address(page, array, first), one, other,
                second.unclamped.at(*grid.columns), page.own[grid.columns->index].end);
  page.out.close(opened + 2);
}

void save_from_registers(FragmentStatements& statements, BufferId id) {
  const auto& page = statements.page();
  const auto& grid = page.warps.arrays.at(id);
  const bool neighbours =
      grid.rows && grid.columns && page.diagram.at(page.nest.at(id).array).wires.back() == *grid.columns;
  neighbours ? save_pairs(statements, id) : save_numbers(statements, id);
}

}  // namespace

void print_save(FragmentStatements& statements, const Save& save, const std::function<void(BufferId)>& store) {
  auto& page = statements.page();
  const auto from = page.from(save.from);
  const auto& buffer = page.nest.at(save.from);
  if (buffer.level != page.leaf()) return;
  page.out.line("// save {}", page.diagram.at(buffer.array).name);
  page.warps.stores.contains(save.from) ? store(save.from) : save_from_registers(statements, save.from);
}

std::string saved_number(FragmentStatements& statements, BufferId id, const OpenFragments& here) {
  const auto& page = statements.page();
  const auto array = page.nest.at(id).array;
  if (page.warps.is_integer(id) && page.diagram.at(array).type == Datatype::i32) return statements.slot(id, here);
  return page.written(array, statements.held_value(id, here));
}

}  // namespace napkin
