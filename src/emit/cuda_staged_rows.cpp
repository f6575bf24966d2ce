// Rows in shared memory: a lane goes along its own vectors, reads each once for all positions of it, and computes there
// whatever a fold or an output needs of the row.
#include <fmt/format.h>

#include "emit/code_expression.hpp"
#include "emit/code_types.hpp"
#include "emit/cuda_row_columns.hpp"

namespace napkin {

void RowColumnPrinter::declare_rows() {
  for (const auto& [id, begin] : rows_.staged_at)
    out_.line(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared_memory + {2});", type(id), page_.buffer(id),
                          begin));
  for (const auto& [id, read] : rows_.reads)
    if (read == RowRead::staged || read == RowRead::passing) along_[id] = page_.pool.fresh(page_.buffer(id) + "_one");
}

void RowColumnPrinter::open_row(Here& here) {
  const auto& piece = page_.own[rows_.lanes.index];
  if (piece.is_whole()) page_.limit(rows_.lanes);
  out_.open(fmt::format("for (int {0} = {1}; {0} * {2} < {3}; {0} += {4})", vector_, lane, rows_.vector, piece.end,
                        rows_.team * lanes_of_warp));
  here.unclamped = here.position[rows_.lanes] = page_.wires[rows_.lanes.index];
  out_.declare(here.unclamped, fmt::format("{} * {}", vector_, rows_.vector));
}

void RowColumnPrinter::read_row(BufferId to, const Here& here) {
  std::set<BufferId> inputs;
  for (const auto* compute : on_the_way(to))
    for (const auto& [access, id] : compute->reads)
      if (along_.contains(id)) inputs.insert(id);
  for (const auto id : inputs) {
    auto text = fmt::format("napkin_shared_read({} + {})", page_.buffer(id), vector_);
    if (rows_.reads.at(id) == RowRead::passing) {
      std::vector<std::string> at;
      for (const auto& index : read_as_.at(id)->at)
        at.push_back(code_index(index, [&](WireId wire) { return here.position.at(wire); }));
      text =
          fmt::format("napkin_read_vector<{}>({}, {})", rows_.vector, element(read_as_.at(id)->array, at), left(here));
    }
    out_.line(fmt::format("const auto {} = {};", along_.at(id), text));
  }
}

void RowColumnPrinter::open_vector(Here& here) {
  loop(index_, rows_.vector);
  const auto begin = here.unclamped;
  here.unclamped = begin + "_at";
  here.position[rows_.lanes] = page_.pool.fresh(begin + "_in");
  out_.declare(here.unclamped, fmt::format("{} + {}", begin, index_));
  out_.declare(here.position[rows_.lanes],
               fmt::format("min({}, {} - 1)", here.unclamped, page_.own[rows_.lanes.index].end));
}

void RowColumnPrinter::compute_along(BufferId to, const Here& here) {
  for (const auto* compute : on_the_way(to)) {
    if (!rows_.in_passing.contains(compute->to)) continue;
    const auto text = value(*compute, compute->column.value, here);
    out_.line(fmt::format("const {} {} = {};", type(compute->to), page_.buffer(compute->to),
                          wanted_.contains(compute->to)
                              ? code_rounded(Language::cuda, page_.nest.at(compute->to).type, text)
                              : without_brackets(text)));
  }
}

// The columns that an array needs along the row, and the one that makes it, in their order.
std::vector<const Compute*> RowColumnPrinter::on_the_way(BufferId to) const {
  std::vector<const Compute*> all;
  std::set<BufferId> needed = {to};
  for (auto each = columns_.rbegin(); each != columns_.rend(); ++each) {
    if (!needed.contains((*each)->to) || ((*each)->to != to && !rows_.in_passing.contains((*each)->to))) continue;
    for (const auto& read : (*each)->reads) needed.insert(read.second);
    all.insert(all.begin(), *each);
  }
  return all;
}

}  // namespace napkin
