// Prints the columns of one row: every lane loops over its own values, folds end in an exchange between lanes and
// warps, and inputs and outputs are loaded and stored as vectors.
#include "emit/cuda/rows/row_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/columns.hpp"
#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"

namespace napkin {

RowColumnPrinter::RowColumnPrinter(Page& page, const RowNest& rows)
    : StatementPrinter(page, {.language = Language::cuda, .fast = true}),
      lane(page.pool.fresh("lane")),
      part(page.pool.fresh("slot")),
      rows_(rows),
      index_(page.pool.fresh("i")),
      vector_(page.pool.fresh("v")),
      value_(index_) {
  each_step(page_.nest.body, [&](const LoopStatement& step) {
    const auto* compute = std::get_if<Compute>(&step.node);
    if (!compute) return;
    columns_.push_back(compute);
    for (const auto& [id, buffer] : compute->reads)
      if (rows_.reads.contains(buffer))
        read_as_[buffer] = &access(page_.diagram, id);
      else
        wanted_.insert(buffer);
    if (compute->column.fold) wanted_.insert(compute->to);
    if (compute->carried) wanted_.insert(*compute->carried);
  });
}

// Steps

void RowColumnPrinter::print(const Load& load) {
  const auto of = page_.from(load.to);
  const auto found = rows_.reads.find(load.to);
  if (found == rows_.reads.end() || found->second == RowRead::in_place) return;
  const auto& from = *read_as_.at(load.to);
  const auto& name = page_.diagram.at(from.array).name;
  Here here = row();
  const auto place = [&] { return page_.address(from.array, places(from.at, here)); };
  if (found->second == RowRead::once) {
    out_.line(fmt::format("{} = napkin_read_once<{}>({});", page_.buffer(load.to), rows_.warps_of_row * lanes_of_warp,
                          place()));
    return;
  }
  if (found->second == RowRead::passing || found->second == RowRead::window) return;
  out_.line(fmt::format("// load {}", name));
  if (found->second == RowRead::staged) {
    open_row(here);
    out_.line(fmt::format("napkin_shared_write({} + {}, napkin_read_vector<{}>({}, {}));", page_.buffer(load.to),
                          vector_, rows_.vector, place(), left(here)));
    return out_.close(1);
  }
  const auto& piece = page_.own[rows_.lanes.index];
  if (piece.is_whole()) page_.limit(rows_.lanes);
  const auto first = fmt::format("{} * {}", lane, rows_.vector);
  here.unclamped = here.position[rows_.lanes] =
      piece.begin == "0" ? first : fmt::format("({} + {})", piece.begin, first);
  out_.line(fmt::format("napkin_read_vectors<{}>({}, {}, {});", rows_.warps_of_row * lanes_of_warp * rows_.vector,
                        page_.buffer(load.to), place(), left(here)));
}

void RowColumnPrinter::print(const Compute& compute) {
  const auto from = out_.from(origin(page_.diagram, compute.column));
  if (rows_.inlined.contains(compute.to)) return;
  out_.line(fmt::format("// {}", to_text(page_.diagram, compute.column)));
  if (compute.column.fold)
    fold(compute);
  else
    pointwise(compute);
}

void RowColumnPrinter::print(const Save& save) {
  const auto of = page_.from(save.from);
  const auto& buffer = page_.nest.at(save.from);
  if (buffer.level != page_.leaf()) return;
  const auto& wires = page_.diagram.at(buffer.array).wires;
  out_.line(fmt::format("// save {}", page_.diagram.at(buffer.array).name));
  Here here = row();
  const auto place = [&] { return page_.address(buffer.array, places(wires, here)); };
  if (!has_lanes(save.from)) {
    out_.line(fmt::format("if ({} == 0) napkin_global_write({}, {});", lane, place(),
                          written(buffer.array, page_.buffer(save.from))));
    return;
  }
  if (rows_.staged)
    open_row(here), read_row(save.from, here);
  else
    open_vectors(here);
  const auto all = page_.pool.fresh("all");
  out_.line(fmt::format("napkin_values<{}, {}> {};", page_.storage(buffer.array), rows_.vector, all));
  if (rows_.staged) {
    auto inside = here;
    open_vector(inside), compute_along(save.from, inside);
  } else {
    page_.loop(index_, rows_.vector);
  }
  const auto from = rows_.staged
                        ? slot(save.from, here)
                        : fmt::format("{}[{} * {} + {}]", page_.buffer(save.from), vector_, rows_.vector, index_);
  out_.line(fmt::format("{}.at[{}] = {};", all, index_, written(buffer.array, from)));
  out_.close(1);
  out_.line(fmt::format("napkin_write_vector({}, {}, {});", place(), all, left(here)));
  out_.close(1);
}

// Folds

void RowColumnPrinter::fold(const Compute& compute) {
  if (reads_window(compute)) return fold_window(compute);
  Here here;
  const int opened = open_cells(compute, here);
  const bool along = contains(compute.column.over, rows_.lanes);
  const auto partial = begin_part(compute);
  fold_values(compute, partial, along, here);
  if (along) join_lanes(compute, partial);
  finish(compute, partial, here);
  out_.close(opened);
}

// Folds the lane's own values. Positions past the end do not count.
void RowColumnPrinter::fold_values(const Compute& compute, const std::string& partial, bool along, Here here) {
  int opened = 0;
  if (along) {
    if (rows_.staged)
      open_row(here), read_row(compute.to, here), open_vector(here), compute_along(compute.to, here), ++opened;
    else
      open_values(here);
    out_.open(fmt::format("if ({})", rows_.staged ? fmt::format("{} < {}", here.unclamped, end()) : is_inside()));
    opened += 2;
  }
  opened += open_window(compute, here);
  absorb(compute, partial, here);
  out_.close(opened);
}

// Joins the partial results of all lanes of the row; every lane gets the result.
void RowColumnPrinter::join_lanes(const Compute& compute, const std::string& partial) {
  const auto own = type_of(compute.to);
  const auto join = page_.pool.fresh("join");
  out_.line(fmt::format("const auto {0} = []({1} a, {1} b) {{ {2} return a; }};", join, own,
                        code_joined(Language::cuda, *compute.column.fold->combine, "a", "b")));
  out_.line(fmt::format("{0} = napkin_join_lanes({0}, {1});", partial, join));
  if (rows_.warps_of_row > 1)
    out_.line(fmt::format("{0} = napkin_join_warps<{1}>({0}, {2}, shared_memory, {3});", partial, rows_.warps_of_row,
                          join, part));
}

// Loops

RowColumnPrinter::Here RowColumnPrinter::row() const {
  Here here;
  for (std::uint32_t w = 0; w < page_.own.size(); ++w)
    if (WireId{w} != rows_.lanes) here.position[WireId{w}] = page_.own[w].begin;
  return here;
}

int RowColumnPrinter::open_cells(const Compute& compute, Here& here) {
  here = row();
  if (!has_lanes(compute.to)) return 0;
  open_values(here);
  return 1;
}

// Value `i` of a lane is in its vector `i / length`; the vectors of all lanes are adjacent in memory.
void RowColumnPrinter::open_values(Here& here) {
  const auto& piece = page_.own[rows_.lanes.index];
  if (piece.is_whole()) page_.limit(rows_.lanes);
  page_.loop(index_, rows_.values());
  here.unclamped = page_.wires[rows_.lanes.index] + "_at";
  const auto& position = here.position[rows_.lanes] = page_.wires[rows_.lanes.index];
  const auto length = rows_.vector, all = rows_.warps_of_row * lanes_of_warp;
  out_.declare(here.unclamped,
               sum(piece.begin, fmt::format("({0} / {1} * {2} + {3}) * {1} + {0} % {1}", index_, length, all, lane)));
  out_.declare(position, fmt::format("min({}, {} - 1)", here.unclamped, piece.end));
}
void RowColumnPrinter::open_vectors(Here& here) {
  const auto& piece = page_.own[rows_.lanes.index];
  if (piece.is_whole()) page_.limit(rows_.lanes);
  page_.loop(vector_, rows_.vectors);
  here.unclamped = here.position[rows_.lanes] = page_.wires[rows_.lanes.index];
  out_.declare(here.unclamped, sum(piece.begin, fmt::format("({} * {} + {}) * {}", vector_,
                                                            rows_.warps_of_row * lanes_of_warp, lane, rows_.vector)));
}
// Opens loops over the other wires of a fold.
int RowColumnPrinter::open_window(const Compute& compute, Here& here) {
  int opened = 0;
  for (const auto wire : compute.column.over) {
    if (wire == rows_.lanes) continue;
    const auto& piece = page_.own[wire.index];
    const auto& counter = here.position[wire] = page_.wires[wire.index];
    out_.loop(counter, piece.begin, piece.end);
    ++opened;
  }
  return opened;
}
std::string RowColumnPrinter::end() const { return page_.own[rows_.lanes.index].end; }
std::string RowColumnPrinter::left(const Here& here) const { return fmt::format("{} - {}", end(), here.unclamped); }
// Whether a lane's value is inside the row. Its distance from the lane's first value is a constant, so no value needs a
// register for its position.
std::string RowColumnPrinter::is_inside() const {
  const auto& begin = page_.own[rows_.lanes.index].begin;
  return fmt::format("{0} / {1} * {2} + {0} % {1} < {3}{4} - {5} * {1}", index_, rows_.vector,
                     rows_.warps_of_row * lanes_of_warp * rows_.vector, end(), begin == "0" ? "" : " - " + begin, lane);
}

// Values

bool RowColumnPrinter::has_lanes(BufferId id) const {
  return contains(page_.diagram.at(page_.nest.at(id).array).wires, rows_.lanes);
}
std::string RowColumnPrinter::type_of(BufferId id) const {
  const auto& buffer = page_.nest.at(id);
  const auto read = rows_.reads.find(id);
  if (read == rows_.reads.end()) return std::string(code_type(Language::cuda, buffer.type).own);
  if (read->second == RowRead::once) return std::string(page_.storage(buffer.array));
  return fmt::format("napkin_values<{}, {}>", page_.storage(buffer.array), rows_.vector);
}
std::string RowColumnPrinter::declared(BufferId id) const {
  const auto read = rows_.reads.find(id);
  if (rows_.inlined.contains(id)) return "";
  if (read == rows_.reads.end()) return page_.buffer(id) + (has_lanes(id) ? fmt::format("[{}]", rows_.values()) : "");
  if (read->second != RowRead::vectors && read->second != RowRead::once) return "";
  return page_.buffer(id) + (read->second == RowRead::vectors ? fmt::format("[{}]", rows_.vectors) : "");
}
std::string RowColumnPrinter::slot(BufferId id, const Here&) const {
  return page_.buffer(id) + (has_lanes(id) && !rows_.staged ? "[" + value_ + "]" : "");
}
std::string RowColumnPrinter::written(ArrayId id, const std::string& text) const {
  const auto type = page_.diagram.at(id).type;
  return code_as_stored(Language::cuda, type, without_brackets(filled(code_type(Language::cuda, type).write, text)));
}

Typed RowColumnPrinter::read(const Compute& compute, ExprId access_id, const Here& here) {
  const auto& from = access(page_.diagram, access_id);
  const auto id = compute.read_from(access_id);
  const auto found = rows_.reads.find(id);
  if (found == rows_.reads.end()) return {slot(id, here), NumberKind::real};
  const auto type = page_.diagram.at(from.array).type;
  auto text = page_.buffer(id);
  if (found->second == RowRead::vectors)
    text += value_ == index_ ? fmt::format("[{0} / {1}].at[{0} % {1}]", index_, rows_.vector)
                             : fmt::format("[{}].at[{}]", vector_, index_);
  if (along_.contains(id)) text = fmt::format("{}.at[{}]", along_.at(id), index_);
  if (found->second == RowRead::in_place) {
    text = fmt::format("napkin_global_read({})", page_.address(from.array, places(from.at, here)));
    if (!here.unclamped.empty())
      text = fmt::format("({} < {} ? {} : {})", here.unclamped, end(), text, code_as_stored(Language::cuda, type, ""));
  }
  return {filled(code_type(Language::cuda, type).read, text),
          type == Datatype::boolean ? NumberKind::boolean : NumberKind::real};
}

}  // namespace napkin
