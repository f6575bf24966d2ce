// Inputs are read as vectors of numbers that lie side by side in memory.
#include "emit/cuda/rows/row_reads.hpp"

#include <fmt/format.h>

#include "emit/shared/expression.hpp"

namespace napkin {
namespace {

// Reads the same number for all lanes.
void print_read_once(RowPage& page, BufferId id) {
  page.out.line("{} = napkin_read_once<{}>({});", page.buffer(id), page.lanes_of_row(),
                input_address(page, *page.read_as.at(id), whole_row(page)));
}

// Fills a row in shared memory: a lane reads only what it has written.
void stage(RowPage& page, BufferId id) {
  auto here = whole_row(page);
  open_row(page, here);
  page.out.line("napkin_shared_write({} + {}, napkin_read_vector<{}>({}, {}));", page.buffer(id), page.vector,
                page.rows.vector, input_address(page, *page.read_as.at(id), here), page.left(here));
  page.out.close(1);
}

// Reads all vectors of the lane.
void read_all_vectors(RowPage& page, BufferId id) {
  const auto& piece = page.piece();
  page.limit_whole(page.rows.lanes);
  const auto first = fmt::format("{} * {}", page.lane, page.rows.vector);
  auto here = whole_row(page);
  here.unclamped = here.position[page.rows.lanes] =
      piece.begin == "0" ? first : fmt::format("({} + {})", piece.begin, first);
  page.out.line("napkin_read_vectors<{}>({}, {}, {});", page.lanes_of_row() * page.rows.vector, page.buffer(id),
                input_address(page, *page.read_as.at(id), here), page.left(here));
}

}  // namespace

void print_load(RowPage& page, const Load& load) {
  const auto from = page.from(load.to);
  const auto found = page.rows.reads.find(load.to);
  if (found == page.rows.reads.end()) return;
  const auto read = found->second;
  if (read == RowRead::once) return print_read_once(page, load.to);
  if (read != RowRead::staged && read != RowRead::vectors) return;
  page.out.line("// load {}", page.diagram.at(page.read_as.at(load.to)->array).name);
  read == RowRead::staged ? stage(page, load.to) : read_all_vectors(page, load.to);
}

void read_staged_vector(RowPage& page, BufferId id) {
  page.out.line("const auto {} = napkin_shared_read({} + {});", page.read_into.at(id), page.buffer(id), page.vector);
}
void read_vector(RowPage& page, BufferId id, const OpenRow& here) {
  page.out.line("const auto {} = napkin_read_vector<{}>({}, {});", page.read_into.at(id), page.rows.vector,
                input_address(page, *page.read_as.at(id), here), page.left(here));
}

std::string input_address(const RowPage& page, const Access& from, const OpenRow& here) {
  const auto place = [&](const Index& index) {
    return code_index(index, [&](WireId wire) { return here.position.at(wire); });
  };
  return page.address(from.array, texts_of(from.at, place));
}

}  // namespace napkin
