// Prints the loads, columns and saves of one C++ kernel as loops.
#include "emit/cpp/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/columns.hpp"
#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_cells = 256;  // of a fold's result; these fit in vector registers, with some left

std::string difference(const std::string& place, const std::string& begin) {
  return begin == "0" ? place : place == begin ? "0" : fmt::format("{} - {}", place, begin);
}

// The first or the last place that an index reaches over the pieces.
std::string corner(const Index& index, const CppPieces& pieces, bool last) {
  return code_end(index, last, [&](WireId wire, bool at_end) {
    const auto& piece = pieces[wire.index];
    return at_end ? piece.end() + " - 1" : piece.begin;
  });
}

}  // namespace

// Loads

// Copies a tile from its array, in the array's order.
void CppColumns::print(const Load& load) {
  const auto from = page_.from(load.to);
  if (load.from) return;
  page_.place(load.to);
  auto& place = page_.places.at(load.to);
  const auto& buffer = page_.nest.at(load.to);
  const auto& array = page_.diagram.at(buffer.array);
  out_.line("// load {}", page_.buffer(load.to));
  for (std::size_t i = 0; i < buffer.at.size(); ++i) {
    if (plain_wire(buffer.at[i])) continue;
    place.corner[i] = page_.pool.fresh(page_.buffer(load.to) + "_begin");
    out_.line("const int {} = {};", place.corner[i], corner(buffer.at[i], page_.own, false));
  }
  std::vector<std::string> at, local;
  int opened = 0;
  for (std::size_t i = 0; i < buffer.at.size(); ++i) {
    const bool single = place.extent[i] == 1;
    local.push_back(single ? "0" : fmt::format("i{}", i));
    at.push_back(sum(place.corner[i], local[i]));
    if (single) continue;
    const auto wire = plain_wire(buffer.at[i]);
    const auto count = wire ? page_.own[wire->index].count
                            : fmt::format("{} + 1 - {}", corner(buffer.at[i], page_.own, true), place.corner[i]);
    out_.loop(local[i], "0", count);
    ++opened;
  }
  const auto element = code_element(array, page_.array(buffer.array), page_.offset(buffer.array, at));
  assign(page_.element(load.to, local), filled(page_.type(load.to).read, element));
  out_.close(opened);
}

// Tests the mask in the tile of the first level, which contains the tiles of deeper levels.
void CppColumns::print(const MaskTest& ask) {
  const auto id = outermost_tile(page_.sources, ask.tile);
  const auto& buffer = page_.nest.at(ask.tile);
  const auto& place = page_.places.at(id);
  const auto any = page_.begin_ask(ask);
  std::vector<std::string> at;
  for (std::size_t k = 0; k < buffer.at.size(); ++k) {
    const auto name = fmt::format("at{}", k);
    at.push_back(difference(name, place.corner[k]));
    out_.open("for (int {0} = {1}; {0} <= {2}; ++{0})", name, corner(buffer.at[k], page_.own, false),
              corner(buffer.at[k], page_.own, true));
  }
  const auto element = page_.element(id, at);
  out_.line("{0} = {0} || {1} {2};", any, element, ask.wanted ? "!= 0" : "== 0");
  out_.close(static_cast<int>(at.size()));
  out_.line("if (!{}) continue;", any);
}

// Steps

void CppColumns::print(const Compute& compute) {
  const auto from = page_.from(compute);
  out_.line("// {}{}", to_text(page_.diagram, compute.column), extents(compute));
  if (!compute.column.fold) return pointwise(compute);
  begin(compute);
  if (page_.layout.lanes.at(&compute).folded)
    fold_lanes(compute);
  else
    fold(compute);
  round(compute);
}

void CppColumns::print(const Save& save) {
  const auto from = page_.from(save.from);
  const auto& buffer = page_.nest.at(save.from);
  const auto& array = page_.diagram.at(buffer.array);
  if (page_.is_input(buffer.array) || !page_.places.contains(save.from)) return;
  out_.line("// save {}", array.name);
  Here here;
  int opened = 0;
  for (const auto wire : array.wires) opened += open(wire, 0, here);
  store(buffer.array, slot(save.from, here), here);
  out_.close(opened);
}

// If the result has few cells, it stays in registers during the whole fold. A larger one is folded row by row.
void CppColumns::fold(const Compute& compute) {
  Here here;
  int opened = 0;
  if (cells(wires(compute)) > most_cells) opened += open_rows(compute, here);
  const int rows = opened;
  opened += open_folded(compute, here);
  if (rows == 0) opened += open_rows(compute, here);
  opened += open_lanes(compute, here);
  absorb(compute, slot(compute.to, here), here);
  out_.close(opened);
}

// Folds into one number at a time, with vector lanes along a folded wire.
void CppColumns::fold_lanes(const Compute& compute) {
  const auto& combine = *compute.column.fold->combine;
  const auto lanes = *page_.layout.lanes.at(&compute).wire;
  Here here;
  int opened = open_rows(compute, here);
  const auto to = slot(compute.to, here);
  const auto total = page_.pool.fresh("total");
  out_.line("{} {} = {};", is_wide(compute) ? "double" : "float", total, to);
  int inner = 0;
  for (const auto wire : compute.column.over)
    if (wire != lanes) inner += open(wire, 0, here);
  const bool sign = combine.role == Role::add || combine.role == Role::multiply;
  out_.line("#pragma omp simd reduction({} : {})", sign ? combine.name : compute.column.fold->name, total);
  inner += open(lanes, 0, here);
  absorb(compute, total, here);
  out_.close(inner);
  assign(to, total);
  out_.close(opened);
}

// Loops

int CppColumns::open(WireId wire, std::int64_t constant, Here& here) {
  const auto& piece = page_.own[wire.index];
  if (page_.is_single(wire)) {
    here.counter[wire] = "0";
    here.position[wire] = piece.begin;
    return 0;
  }
  const auto& counter = here.counter[wire] = piece.is_whole() ? page_.wires[wire.index] : page_.counters[wire.index];
  here.position[wire] = page_.wires[wire.index];
  const auto end = constant > 0 ? fmt::format("{}", constant) : piece.count;
  out_.loop(counter, "0", end);
  if (!piece.is_whole()) out_.declare(page_.wires[wire.index], sum(piece.begin, counter));
  return 1;
}

int CppColumns::open_rows(const Compute& compute, Here& here) {
  int opened = 0;
  for (const auto wire : wires(compute))
    if (page_.layout.lanes.at(&compute).wire != wire) opened += open(wire, steady(compute, wire), here);
  return opened;
}

int CppColumns::open_cells(const Compute& compute, Here& here) {
  const int rows = open_rows(compute, here);
  return rows + open_lanes(compute, here);
}

// Without the pragma, compilers may unroll the lanes before they vectorize them.
int CppColumns::open_lanes(const Compute& compute, Here& here) {
  const auto lanes = page_.layout.lanes.at(&compute);
  if (!lanes.wire || lanes.folded) return 0;
  out_.line("#pragma omp simd");
  return open(*lanes.wire, steady(compute, *lanes.wire), here);
}

int CppColumns::open_folded(const Compute& compute, Here& here) {
  int opened = 0;
  for (const auto wire : compute.column.over) opened += open(wire, 0, here);
  return opened;
}

// The constant length of a loop over a kept wire, or 0. It is constant if everything that the loop accesses was
// allocated for the current piece.
std::int64_t CppColumns::steady(const Compute& compute, WireId wire) const {
  if (page_.own[wire.index].is_whole()) return 0;
  auto least = steady(compute.to, page_.nest.at(compute.to).at, wire);
  const auto consider = [&](BufferId id, const std::vector<Index>& at) {
    least = std::min(least, steady(outermost_tile(page_.sources, id), at, wire));
  };
  if (compute.carried) consider(*compute.carried, page_.nest.at(*compute.carried).at);
  for (const auto& [expr, id] : compute.reads) consider(id, access(page_.diagram, expr).at);
  return least == INT64_MAX ? page_.own[wire.index].extent : least;
}

std::int64_t CppColumns::steady(BufferId id, const std::vector<Index>& at, WireId wire) const {
  const auto& place = page_.places.at(id);
  std::int64_t least = INT64_MAX;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!moves(at[i], wire)) continue;
    const bool same = plain_wire(at[i]) == wire && place.scope[wire.index].begin == page_.own[wire.index].begin;
    least = std::min(least, same ? place.extent[i] : 0);
  }
  return least;
}

// Values

std::string CppColumns::slot(BufferId id, const std::vector<Index>& at, const Here& here) const {
  const auto& place = page_.places.at(id);
  std::vector<std::string> local;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto wire = plain_wire(at[i]);
    if (wire && place.corner[i] == page_.own[wire->index].begin)
      local.push_back(here.counter.at(*wire));
    else
      local.push_back(difference(code_index(at[i], [&](WireId w) { return here.position.at(w); }), place.corner[i]));
  }
  return page_.element(id, local);
}
Typed CppColumns::read(const Compute& compute, ExprId access_id, const Here& here) {
  const auto& from = access(page_.diagram, access_id);
  return {slot(outermost_tile(page_.sources, compute.read_from(access_id)), from.at, here), NumberKind::real};
}

}  // namespace napkin
