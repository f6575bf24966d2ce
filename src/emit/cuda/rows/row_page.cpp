// Prints loops over the values of a row: the vectors of all lanes are adjacent in memory.
#include "emit/cuda/rows/row_page.hpp"

#include <fmt/format.h>

#include "diagram/contains.hpp"
#include "emit/shared/types.hpp"
#include "loops/walk.hpp"

namespace napkin {
RowPage::RowPage(const ThreadedKernel& threaded, const RowNest& distributed, const CodeNames& known)
    : Page(threaded, known),
      rows(distributed),
      lane(pool.fresh("lane")),
      part(pool.fresh("slot")),
      index(pool.fresh("i")),
      vector(pool.fresh("v")),
      columns(all_statements<Compute>(nest.body)) {
  for (const auto* compute : columns) {
    for (const auto& [id, buffer] : compute->reads)
      if (rows.reads.contains(buffer))
        read_as[buffer] = &access(diagram, id);
      else
        wanted.insert(buffer);
    if (compute->column.fold) wanted.insert(compute->to);
    if (compute->carried) wanted.insert(*compute->carried);
  }
}

bool RowPage::has_lanes(BufferId id) const { return contains(diagram.at(nest.at(id).array).wires, rows.lanes); }

std::string RowPage::type_of(BufferId id) const {
  const auto& buffer = nest.at(id);
  const auto read = rows.reads.find(id);
  if (read == rows.reads.end()) return std::string(type(id).own);
  if (read->second == RowRead::once) return std::string(storage(buffer.array));
  return fmt::format("napkin_values<{}, {}>", storage(buffer.array), rows.vector);
}

void declare_rows(RowPage& page) {
  for (const auto& [id, begin] : page.rows.staged_at) page.declare_in_shared(page.type_of(id), page.buffer(id), begin);
  for (const auto& [id, read] : page.rows.reads)
    if (read == RowRead::staged || read == RowRead::passing || read == RowRead::window)
      page.read_into[id] = page.pool.fresh(page.buffer(id) + "_one");
}

std::string declared(const RowPage& page, BufferId id) {
  const auto& rows = page.rows;
  const auto read = rows.reads.find(id);
  if (page.nest.at(id).level != page.leaf() || rows.inlined.contains(id)) return "";
  if (read == rows.reads.end()) return page.buffer(id) + (page.has_lanes(id) ? fmt::format("[{}]", rows.values()) : "");
  if (read->second != RowRead::vectors && read->second != RowRead::once) return "";
  return page.buffer(id) + (read->second == RowRead::vectors ? fmt::format("[{}]", rows.vectors) : "");
}

// Loops

OpenRow whole_row(const RowPage& page) {
  OpenRow here;
  here.value = page.index;
  for (std::uint32_t w = 0; w < page.own.size(); ++w)
    if (WireId{w} != page.rows.lanes) here.position[WireId{w}] = page.own[w].begin;
  return here;
}

// Value `i` of a lane is in its vector `i / length`. Lanes have as many values as the planned row, so an axis that
// nothing splits must not be longer.
void open_values(RowPage& page, OpenRow& here) {
  const auto wire = page.rows.lanes;
  page.limit_whole(wire);
  page.loop(page.index, page.rows.values());
  here.unclamped = page.wires[wire.index] + "_at";
  const auto& position = here.position[wire] = page.wires[wire.index];
  page.out.declare(here.unclamped,
                   sum(page.piece().begin, fmt::format("({0} / {1} * {2} + {3}) * {1} + {0} % {1}", page.index,
                                                       page.rows.vector, page.lanes_of_row(), page.lane)));
  page.out.declare(position, clamped(here.unclamped, page.piece()));
}

void open_vectors(RowPage& page, OpenRow& here) {
  const auto wire = page.rows.lanes;
  page.limit_whole(wire);
  page.loop(page.vector, page.rows.vectors);
  here.unclamped = here.position[wire] = page.wires[wire.index];
  page.out.declare(here.unclamped,
                   sum(page.piece().begin, fmt::format("({} * {} + {}) * {}", page.vector, page.lanes_of_row(),
                                                       page.lane, page.rows.vector)));
}

void open_row(RowPage& page, OpenRow& here) {
  const auto wire = page.rows.lanes;
  page.limit_whole(wire);
  page.out.open("for (int {0} = {1}; {0} * {2} < {3}; {0} += {4})", page.vector, page.lane, page.rows.vector,
                page.piece().end, page.lanes_of_row());
  here.unclamped = here.position[wire] = page.wires[wire.index];
  page.out.declare(here.unclamped, fmt::format("{} * {}", page.vector, page.rows.vector));
}

void open_vector(RowPage& page, OpenRow& here) {
  page.loop(page.index, page.rows.vector);
  const auto begin = here.unclamped;
  auto& position = here.position[page.rows.lanes];
  here.unclamped = begin + "_at";
  position = page.pool.fresh(begin + "_in");
  page.out.declare(here.unclamped, fmt::format("{} + {}", begin, page.index));
  page.out.declare(position, clamped(here.unclamped, page.piece()));
}

int open_window(RowPage& page, const Compute& compute, OpenRow& here) {
  int opened = 0;
  for (const auto wire : compute.column.over) {
    if (wire == page.rows.lanes) continue;
    const auto& piece = page.own[wire.index];
    const auto& counter = here.position[wire] = page.wires[wire.index];
    page.out.loop(counter, piece.begin, piece.end);
    ++opened;
  }
  return opened;
}

// The distance of a value from the lane's first one is a constant, so no value needs a register for its position.
std::string is_inside(const RowPage& page) {
  const auto& begin = page.piece().begin;
  return fmt::format("{0} / {1} * {2} + {0} % {1} < {3}{4} - {5} * {1}", page.index, page.rows.vector,
                     page.lanes_of_row() * page.rows.vector, page.piece().end, begin == "0" ? "" : " - " + begin,
                     page.lane);
}

}  // namespace napkin
