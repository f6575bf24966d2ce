// Finds why no block can run whatever the capacities are: shapes that instructions or copies do not have.
#include "timing/mainloop/excess.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "diagram/contains.hpp"

namespace napkin {
namespace {

// A fold along an axis that has no place in fragments is unrolled, so that pieces of it are at most this long.
constexpr std::int64_t longest_shuffled = 64;

// Columns that are not matrix products must lie in the fragments of the products, along the rows and one more axis.
// With the rows, a second axis is allowed if it is folded position by position in shuffles between lanes. Without the
// rows, a second axis may be folded along their lanes.
bool fills_fragments(const Mainloop& mainloop, const MainloopOperation& column) {
  const auto& made = column.compute->column;
  if (mainloop.is_repeated(column) && !made.fold && mainloop.loads_matrices) return true;
  const auto& lengths = mainloop.lengths_at(column);
  auto wires = long_wires(mainloop.diagram(), made, column.wires, lengths);
  std::erase(wires, mainloop.row);
  if (wires.size() != 2) return wires.size() < 2;
  if (!mainloop.has_rows(column)) return contains(made.over, wires[1]);
  return shuffled_wire(made, wires, mainloop.row, lengths).has_value();
}

// True if a tile is too long for TMA. All dimensions but the innermost are rows, and a TMA copy has at most 256 of
// them.
bool has_long_tile(const Mainloop& mainloop) {
  const auto is_long = [&](BufferId id) {
    const auto& extent = mainloop.nest->at(id).extent;
    return std::any_of(extent.begin(), extent.end() - std::min<std::ptrdiff_t>(1, std::ssize(extent)),
                       [](std::int64_t rows) { return rows > longest_box; });
  };
  return mainloop.any_tile(is_long);
}

bool has_ragged_pieces(const Mainloop& mainloop, const std::vector<const For*>& around) {
  std::map<WireId, std::int64_t> pieces;
  const auto is_ragged = [&](const Split& split) {
    if (split.level > mainloop.core || split.size >= mainloop.diagram().size(split.wire).value_or(split.size))
      return false;
    const auto [at, fresh] = pieces.try_emplace(split.wire, split.size);
    return std::exchange(at->second, split.size) % split.size != 0;
  };
  return std::ranges::any_of(mainloop.nest->groups, is_ragged) ||
         std::ranges::any_of(around, [&](const For* loop) { return is_ragged(loop->split); });
}

// TMA copies stop at the ends of arrays, but not at the ends of the pieces around them.
bool has_ragged_pieces(const Mainloop& mainloop) {
  if (has_ragged_pieces(mainloop, mainloop.loops)) return true;
  const auto is_ragged = [&](const auto& one) { return has_ragged_pieces(mainloop, one.around.loops); };
  return std::ranges::any_of(mainloop.outside, is_ragged) || std::ranges::any_of(mainloop.edges, is_ragged);
}

// TMA copies do not stop where parts of a divided axis end, either.
bool has_ragged_parts(const Mainloop& mainloop) {
  const auto is_ragged = [&](WireId wire) {
    const auto size = mainloop.diagram().size(wire).value_or(1), piece = mainloop.lengths[wire.index];
    return piece < size && size % piece != 0;
  };
  const auto has_ragged = [&](const Index& index) {
    return index.terms.size() > 1 &&
           std::ranges::any_of(index.terms, [&](const auto& term) { return is_ragged(term.first); });
  };
  return mainloop.any_tile([&](BufferId id) { return std::ranges::any_of(mainloop.nest->at(id).at, has_ragged); });
}

}  // namespace

std::vector<WireId> long_wires(const Diagram& diagram, const Column& column, const std::vector<WireId>& of_value,
                               const Lengths& lengths) {
  std::vector<WireId> wires;
  for (const auto* some : {&diagram.at(column.output).wires, &column.over, &of_value})
    for (const auto wire : *some)
      if (lengths[wire.index] > 1 && !contains(wires, wire)) wires.push_back(wire);
  return wires;
}

std::optional<WireId> shuffled_wire(const Column& column, const std::vector<WireId>& wires, WireId rows,
                                    const Lengths& lengths) {
  const bool first = contains(column.over, wires[0]), second = contains(column.over, wires[1]);
  if (first == second || contains(column.over, rows)) return {};
  const auto wire = wires[first ? 0 : 1];
  return lengths[wire.index] <= longest_shuffled ? std::optional(wire) : std::nullopt;
}

std::optional<Excess> excess_of(const Mainloop& mainloop) {
  const auto is_no_matrix = [&](const Factor& factor) {
    return std::ranges::count_if(factor.wires, [&](WireId wire) { return mainloop.lengths[wire.index] > 1; }) > 2;
  };
  // If napkin emits kernels for the machine, single warps accept column operands that each of them computed as a whole.
  const auto is_repeated = [&](BufferId id) {
    const auto makes = [&](const MainloopOperation& one) { return one.compute->to == id && mainloop.is_repeated(one); };
    return mainloop.any(makes);
  };
  const auto is_computed = [&](const Contraction& made) {
    return !made.columns.staged &&
           !(mainloop.loads_matrices && !mainloop.issues_together() && is_repeated(made.columns.buffer));
  };
  const auto is_too_wide = [&](const Contraction& made) {
    return warps_of(*made.instruction) > 1 && made.across &&
           mainloop.lengths[made.across->index] > made.instruction->n_max;
  };
  for (const auto& column : mainloop.columns) {
    if (std::ranges::any_of(column.factors, is_no_matrix))
      return Excess{"axes of a product", "a matrix has two axes: stream or group the others one position at a time"};
    if (column.contraction && is_computed(*column.contraction))
      return Excess{"computed columns of a product",
                    "registers hold whole rows of a product: make the other axis shorter"};
    if (column.contraction && is_too_wide(*column.contraction))
      return Excess{"columns of an instruction", "one instruction computes all columns of a product: choose fewer"};
  }
  if (mainloop.any([&](const auto& one) { return !one.contraction && !fills_fragments(mainloop, one); }))
    return Excess{"axes beside the rows", "fragments have rows and one more axis: take one position of the others"};
  if (mainloop.counts_through_registers)
    return Excess{"tiles of an array in registers", "registers cannot be indexed by a loop: remove the inner stream"};
  if (std::ranges::any_of(mainloop.loops, [&](const For* loop) { return loop->split.wire == mainloop.row; }))
    return Excess{"rows that a loop cuts",
                  "a loop of the block cuts the rows that warps divide among them: stream another axis"};
  if (!mainloop.issues_together()) return std::nullopt;
  if (has_long_tile(mainloop))
    return Excess{"rows of a copy", "one copy has at most 256 rows: make groups or streams shorter"};
  if (has_ragged_pieces(mainloop) || has_ragged_parts(mainloop))
    return Excess{"tiles that do not divide evenly",
                  "a copy ends only at the end of an array: make groups multiples of the tiles inside"};
  return std::nullopt;
}

}  // namespace napkin
