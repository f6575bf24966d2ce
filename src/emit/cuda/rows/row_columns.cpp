// Every lane loops over its own values, folds end in an exchange between lanes and warps, and outputs are stored as
// vectors. The positions of a window are handled vector by vector, too.
#include "emit/cuda/rows/row_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/contains.hpp"
#include "emit/cuda/rows/row_reads.hpp"
#include "emit/shared/statements.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

// Whether an input is read at every position of a window that the column folds.
bool reads_window(const RowNest& rows, const Compute& compute) {
  return std::ranges::any_of(compute.reads, [&](const auto& read) {
    const auto found = rows.reads.find(read.second);
    return found != rows.reads.end() && found->second == RowRead::window;
  });
}

// The number of an input in its stored type.
std::string input(const RowPage& page, BufferId id, const Access& from, const OpenRow& here) {
  if (const auto found = page.read_into.find(id); found != page.read_into.end())
    return fmt::format("{}.at[{}]", found->second, page.index);
  const auto read = page.rows.reads.at(id);
  if (read == RowRead::once) return page.buffer(id);
  if (read == RowRead::vectors && here.value == page.index)
    return fmt::format("{0}[{1} / {2}].at[{1} % {2}]", page.buffer(id), page.index, page.rows.vector);
  if (read == RowRead::vectors) return fmt::format("{}[{}].at[{}]", page.buffer(id), page.vector, page.index);
  const auto text = fmt::format("napkin_global_read({})", input_address(page, from, here));
  if (here.unclamped.empty()) return text;
  const auto type = page.diagram.at(from.array).type;
  return fmt::format("({} < {} ? {} : {})", here.unclamped, page.piece().end, text,
                     code_as_stored(Language::cuda, type, ""));
}

class RowColumnPrinter : public StatementPrinter<RowPage, OpenRow> {
 public:
  explicit RowColumnPrinter(RowPage& page) : StatementPrinter(page, {.fast = true}) {}

  void print(const Compute& compute) {
    const auto from = page_.from(compute);
    if (page_.rows.inlined.contains(compute.to)) return;
    out_.line("// {}", to_text(page_.diagram, compute.column));
    if (!compute.column.fold)
      pointwise(compute);
    else if (reads_window(page_.rows, compute))
      fold_window(compute);
    else
      fold(compute);
  }

  void print(const Save& save) {
    const auto from = page_.from(save.from);
    const auto& buffer = page_.nest.at(save.from);
    if (buffer.level != page_.leaf()) return;
    out_.line("// save {}", page_.diagram.at(buffer.array).name);
    page_.has_lanes(save.from) ? save_vectors(save.from) : save_number(save.from);
  }

 private:
  using Here = OpenRow;

  // Folds

  void fold(const Compute& compute) {
    Here here;
    const int opened = open_cells(compute, here);
    const auto partial = begin_part(compute);
    fold_values(compute, partial, here);
    if (contains(compute.column.over, page_.rows.lanes)) join_lanes(compute, partial);
    finish(compute, partial, here);
    out_.close(opened);
  }

  // Folds the lane's own values. Positions past the end do not count.
  void fold_values(const Compute& compute, const std::string& partial, Here here) {
    int opened = 0;
    if (contains(compute.column.over, page_.rows.lanes)) {
      if (page_.rows.staged)
        open_vector_of(compute.to, here), open_positions_of(compute.to, here), opened += 2;
      else
        open_values(page_, here), ++opened;
      out_.open("if ({})",
                page_.rows.staged ? fmt::format("{} < {}", here.unclamped, page_.piece().end) : is_inside(page_));
      ++opened;
    }
    opened += open_window(page_, compute, here);
    absorb(compute, partial, here);
    out_.close(opened);
  }

  // Folds over a window: at each position of it, all values of a vector.
  void fold_window(const Compute& compute) {
    auto here = whole_row(page_);
    open_vectors(page_, here);
    here.value = fmt::format("{} * {} + {}", page_.vector, page_.rows.vector, page_.index);
    const auto all = page_.pool.fresh("t"), partial = fmt::format("{}[{}]", all, page_.index);
    out_.line("{} {}[{}];", page_.type_of(compute.to), all, page_.rows.vector);
    page_.loop(page_.index, page_.rows.vector);
    assign(partial, identity(compute));
    out_.close(1);
    auto inside = here;
    const int opened = open_window(page_, compute, inside);
    for (const auto& [access, id] : compute.reads)
      if (page_.read_into.contains(id)) read_vector(page_, id, inside);
    open_vector(page_, inside);
    absorb(compute, partial, inside);
    out_.close(1 + opened);
    open_vector(page_, here);
    finish(compute, partial, here);
    out_.close(2);
  }

  // Joins the partial results of all lanes of the row; every lane gets the result.
  void join_lanes(const Compute& compute, const std::string& partial) {
    const auto own = page_.type_of(compute.to);
    const auto join = page_.pool.fresh("join");
    const auto warps = page_.rows.warps_of_row;
    out_.line("const auto {0} = []({1} a, {1} b) {{ {2} return a; }};", join, own,
              code_joined(Language::cuda, *compute.column.fold->combine, "a", "b"));
    out_.line("{0} = napkin_join_lanes({0}, {1});", partial, join);
    if (warps > 1)
      out_.line("{0} = napkin_join_warps<{1}>({0}, {2}, shared_memory, {3});", partial, warps, join, page_.part);
  }

  // Saves

  void save_number(BufferId id) {
    const auto array = page_.nest.at(id).array;
    const auto at = places(page_.diagram.at(array).wires, whole_row(page_));
    out_.line("if ({} == 0) napkin_global_write({}, {});", page_.lane, page_.address(array, at),
              page_.written(array, page_.buffer(id)));
  }

  void save_vectors(BufferId id) {
    const auto& rows = page_.rows;
    const auto array = page_.nest.at(id).array;
    auto here = whole_row(page_);
    rows.staged ? open_vector_of(id, here) : open_vectors(page_, here);
    const auto all = page_.pool.fresh("all");
    out_.line("napkin_values<{}, {}> {};", page_.storage(array), rows.vector, all);
    auto inside = here;
    rows.staged ? open_positions_of(id, inside) : page_.loop(page_.index, rows.vector);
    inside.value = fmt::format("{} * {} + {}", page_.vector, rows.vector, page_.index);
    out_.line("{}.at[{}] = {};", all, page_.index, page_.written(array, slot(id, inside)));
    out_.close(1);
    const auto at = places(page_.diagram.at(array).wires, here);
    out_.line("napkin_write_vector({}, {}, {});", page_.address(array, at), all, page_.left(here));
    out_.close(1);
  }

  // Rows in shared memory. Along them, a lane reads each of its vectors once for all their positions, and computes
  // there everything that a fold or an output needs of the row. These open a vector, read what `to` needs, and open a
  // loop over its positions, where they compute that.

  void open_vector_of(BufferId to, Here& here) {
    open_row(page_, here);
    std::set<BufferId> inputs;
    for (const auto* compute : on_the_way(to))
      for (const auto& [access, id] : compute->reads)
        if (page_.read_into.contains(id)) inputs.insert(id);
    for (const auto id : inputs)
      page_.rows.reads.at(id) == RowRead::staged ? read_staged_vector(page_, id) : read_vector(page_, id, here);
  }
  void open_positions_of(BufferId to, Here& here) {
    open_vector(page_, here);
    for (const auto* compute : on_the_way(to)) {
      if (!page_.rows.inlined.contains(compute->to)) continue;
      const auto text = value(*compute, here);
      assign(fmt::format("const {} {}", page_.type_of(compute->to), page_.buffer(compute->to)),
             rounded(compute->to, text));
    }
  }

  // The columns that an array needs along the row, in order, ending with the one that computes it.
  std::vector<const Compute*> on_the_way(BufferId to) const {
    std::vector<const Compute*> all;
    std::set<BufferId> needed = {to};
    for (auto each = page_.columns.rbegin(); each != page_.columns.rend(); ++each) {
      if (!needed.contains((*each)->to) || ((*each)->to != to && !page_.rows.inlined.contains((*each)->to))) continue;
      for (const auto& read : (*each)->reads) needed.insert(read.second);
      all.insert(all.begin(), *each);
    }
    return all;
  }

  // Values

  int open_cells(const Compute& compute, Here& here) override {
    here = whole_row(page_);
    if (!page_.has_lanes(compute.to)) return 0;
    open_values(page_, here);
    return 1;
  }

  std::string slot(BufferId id, const Here& here) const override {
    return page_.buffer(id) + (page_.has_lanes(id) && !page_.rows.staged ? "[" + here.value + "]" : "");
  }

  Typed read(const Compute& compute, ExprId access_id, const Here& here) override {
    const auto id = compute.read_from(access_id);
    if (!page_.rows.reads.contains(id)) return {slot(id, here), NumberKind::real};
    const auto& from = access(page_.diagram, access_id);
    return page_.read(from.array, input(page_, id, from, here));
  }

  // A value that is only saved is rounded when it is saved.
  std::string rounded(BufferId id, const std::string& text) const override {
    return page_.wanted.contains(id) ? StatementPrinter::rounded(id, text) : without_brackets(text);
  }
};

}  // namespace

void print_column(RowPage& page, const Compute& compute) { RowColumnPrinter(page).print(compute); }
void print_save(RowPage& page, const Save& save) { RowColumnPrinter(page).print(save); }

}  // namespace napkin
