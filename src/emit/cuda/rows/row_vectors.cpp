// Prints columns vector by vector. For rows in shared memory, a lane reads each of its vectors once for all their
// positions, and computes there everything that a fold or an output needs of the row. The positions of a window are
// handled likewise.
#include <fmt/format.h>

#include <algorithm>

#include "emit/cuda/rows/row_columns.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/types.hpp"

namespace napkin {

void RowColumnPrinter::declare_rows() {
  for (const auto& [id, begin] : rows_.staged_at) page_.declare_in_shared(type_of(id), page_.buffer(id), begin);
  for (const auto& [id, read] : rows_.reads)
    if (read == RowRead::staged || read == RowRead::passing || read == RowRead::window)
      along_[id] = page_.pool.fresh(page_.buffer(id) + "_one");
}

void RowColumnPrinter::open_row(Here& here) {
  const auto& piece = page_.own[rows_.lanes.index];
  if (piece.is_whole()) page_.limit(rows_.lanes);
  out_.open(fmt::format("for (int {0} = {1}; {0} * {2} < {3}; {0} += {4})", vector_, lane, rows_.vector, piece.end,
                        rows_.warps_of_row * lanes_of_warp));
  here.unclamped = here.position[rows_.lanes] = page_.wires[rows_.lanes.index];
  out_.declare(here.unclamped, fmt::format("{} * {}", vector_, rows_.vector));
}

void RowColumnPrinter::read_row(BufferId to, const Here& here) {
  std::set<BufferId> inputs;
  for (const auto* compute : on_the_way(to))
    for (const auto& [access, id] : compute->reads)
      if (along_.contains(id)) inputs.insert(id);
  for (const auto id : inputs) {
    if (rows_.reads.at(id) == RowRead::staged)
      out_.line(fmt::format("const auto {} = napkin_shared_read({} + {});", along_.at(id), page_.buffer(id), vector_));
    else
      read_vector(id, here);
  }
}
void RowColumnPrinter::read_vector(BufferId id, const Here& here) {
  const auto& from = *read_as_.at(id);
  out_.line(fmt::format("const auto {} = napkin_read_vector<{}>({}, {});", along_.at(id), rows_.vector,
                        page_.address(from.array, places(from.at, here)), left(here)));
}

void RowColumnPrinter::open_vector(Here& here) {
  page_.loop(index_, rows_.vector);
  const auto begin = here.unclamped;
  here.unclamped = begin + "_at";
  here.position[rows_.lanes] = page_.pool.fresh(begin + "_in");
  out_.declare(here.unclamped, fmt::format("{} + {}", begin, index_));
  out_.declare(here.position[rows_.lanes],
               fmt::format("min({}, {} - 1)", here.unclamped, page_.own[rows_.lanes.index].end));
}

void RowColumnPrinter::compute_along(BufferId to, const Here& here) {
  for (const auto* compute : on_the_way(to)) {
    if (!rows_.inlined.contains(compute->to)) continue;
    const auto text = value(*compute, here);
    assign(fmt::format("const {} {}", type_of(compute->to), page_.buffer(compute->to)), rounded(compute->to, text));
  }
}

bool RowColumnPrinter::reads_window(const Compute& compute) const {
  return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
    const auto found = rows_.reads.find(read.second);
    return found != rows_.reads.end() && found->second == RowRead::window;
  });
}
// Folds over a window: at each position of it, all values of a vector.
void RowColumnPrinter::fold_window(const Compute& compute) {
  Here here = row();
  open_vectors(here);
  value_ = fmt::format("{} * {} + {}", vector_, rows_.vector, index_);
  const auto all = page_.pool.fresh("t"), partial = fmt::format("{}[{}]", all, index_);
  out_.line(fmt::format("{} {}[{}];", type_of(compute.to), all, rows_.vector));
  page_.loop(index_, rows_.vector);
  assign(partial, identity(compute));
  out_.close(1);
  auto inside = here;
  const int opened = open_window(compute, inside);
  for (const auto& [access, id] : compute.reads)
    if (along_.contains(id)) read_vector(id, inside);
  open_vector(inside);
  absorb(compute, partial, inside);
  out_.close(1 + opened);
  open_vector(here);
  finish(compute, partial, here);
  out_.close(2);
  value_ = index_;
}

// The columns that an array needs along the row, in order, ending with the one that computes it.
std::vector<const Compute*> RowColumnPrinter::on_the_way(BufferId to) const {
  std::vector<const Compute*> all;
  std::set<BufferId> needed = {to};
  for (auto each = columns_.rbegin(); each != columns_.rend(); ++each) {
    if (!needed.contains((*each)->to) || ((*each)->to != to && !rows_.inlined.contains((*each)->to))) continue;
    for (const auto& read : (*each)->reads) needed.insert(read.second);
    all.insert(all.begin(), *each);
  }
  return all;
}

}  // namespace napkin
