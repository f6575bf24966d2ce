// Finds how long the pieces of an iteration are, along which wire its rows run, and which operand of a contraction has
// the rows.
#include "timing/mainloop/rows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "diagram/contains.hpp"
#include "loops/extents.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

// Shortens the lengths to the pieces of the loops, and returns the number of pieces.
double enter(Lengths& lengths, const std::vector<const For*>& loops) {
  double pieces = 1;
  for (const auto* loop : loops) {
    auto& length = lengths[loop->split.wire.index];
    const auto size = std::min(length, loop->split.size);
    pieces *= static_cast<double>(pieces_of(length, size));
    length = size;
  }
  return pieces;
}

double positions(const Lengths& lengths, const std::vector<WireId>& wires) {
  double all = 1;
  for (const auto wire : wires) all *= static_cast<double>(lengths[wire.index]);
  return all;
}

void measure(MainloopOperation& column, const Lengths& lengths, const Diagram& diagram) {
  column.kept = positions(lengths, diagram.at(column.compute->column.output).wires);
  column.folded = column.kept * positions(lengths, column.compute->column.over);
}

// True if the array that a column computes is longer than the piece for which the column runs.
bool outlasts(const MainloopOperation& column, const Lengths& lengths, const LoopNest& nest) {
  return held_across(nest, column.compute->to, lengths).has_value();
}

// A wire that neither a group nor a loop around the column splits is as long as its axis.
void measure(Mainloop& mainloop) {
  const auto& scratch = mainloop.diagram();
  const auto block = lengths_in_groups(*mainloop.nest);
  mainloop.lengths = block;
  mainloop.steps = enter(mainloop.lengths, mainloop.loops);
  for (auto& column : mainloop.columns) measure(column, mainloop.lengths, scratch);
  mainloop.counts_through_registers = std::ranges::any_of(mainloop.columns, [&](const MainloopOperation& column) {
    return outlasts(column, mainloop.lengths, *mainloop.nest);
  });
  Lengths lengths;
  for (auto& column : mainloop.outside) {
    lengths = block;
    column.around.times = enter(lengths, column.around.loops) / mainloop.steps;
    measure(column, lengths, scratch);
    column.lengths = lengths;
    mainloop.counts_through_registers = mainloop.counts_through_registers || outlasts(column, lengths, *mainloop.nest);
  }
  for (auto& edge : mainloop.edges) {
    lengths = block;
    edge.around.times = enter(lengths, edge.around.loops) / mainloop.steps;
  }
  const double begun = mainloop.output_tiles() * (1 + 1e-9);
  for (auto& edge : mainloop.edges)
    edge.reloaded = contains(mainloop.tiles, edge.buffer) && edge.around.times * mainloop.steps > begun;
}

bool has_contraction(const MainloopOperation& column) { return column.contraction.has_value(); }

// True if the result of the contraction has the wire from only one of the operands.
bool has_row(const MainloopOperation& column, WireId wire) {
  return column.factors[0].has(wire) != column.factors[1].has(wire) && !contains(column.compute->column.over, wire);
}
std::int64_t contractions_with_row(const Mainloop& mainloop, WireId wire) {
  if (mainloop.lengths[wire.index] <= 1) return 0;
  return std::ranges::count_if(mainloop.columns,
                               [&](const auto& column) { return column.contraction && has_row(column, wire); });
}

// Counts the contractions with these rows whose operand along the rows is held in registers: because it was computed,
// or because it has to be widened.
std::int64_t held_with_row(const Mainloop& mainloop, WireId wire, const std::function<bool(const Factor&)>& is_held) {
  return std::ranges::count_if(mainloop.columns, [&](const auto& column) {
    const auto of_row = [&](const Factor& factor) { return is_held(factor) && factor.has(wire); };
    return column.contraction && has_row(column, wire) && std::ranges::any_of(column.factors, of_row);
  });
}
bool is_computed(const Factor& factor) { return !factor.operand.staged; }
bool is_widened(const Factor& factor) { return factor.widened; }

// Returns the operations of contractions without the wire, which every warp would repeat.
double repeated_with_row(const Mainloop& mainloop, WireId wire) {
  double all = 0;
  for (const auto& column : mainloop.columns)
    if (column.contraction && !column.factors[0].has(wire) && !column.factors[1].has(wire)) all += column.folded;
  return all;
}

// Chooses the wire of rows. It is the one that the partition groups below the core, if there is one. Otherwise it is
// the wire that the results of most contractions have from only one operand. Ties are resolved in this order: the least
// work of contractions without the wire; a wire that no loop of the block splits; most contractions with an operand
// that was computed; most with one that is widened; a wire that cores group; the longest wire.
WireId row_of(const Mainloop& mainloop) {
  if (mainloop.given_row) return *mainloop.given_row;
  const auto& wires =
      mainloop.diagram().at(std::ranges::find_if(mainloop.columns, has_contraction)->compute->column.output).wires;
  const auto grouped = [&](WireId wire) {
    return std::ranges::any_of(mainloop.nest->groups, [&](const Split& group) {
      return group.wire == wire && group.size < mainloop.diagram().size(wire).value_or(1);
    });
  };
  const auto whole = [&](WireId wire) {
    return std::ranges::none_of(mainloop.loops, [&](const For* loop) { return loop->split.wire == wire; });
  };
  using Weight = std::tuple<std::int64_t, double, bool, std::int64_t, std::int64_t, bool, std::int64_t>;
  Weight best{0, 0, false, 0, 0, false, 0};
  auto row = wires.front();
  for (const auto wire : wires) {
    const Weight weight{contractions_with_row(mainloop, wire),
                        -repeated_with_row(mainloop, wire),
                        whole(wire),
                        held_with_row(mainloop, wire, is_computed),
                        held_with_row(mainloop, wire, is_widened),
                        grouped(wire),
                        mainloop.lengths[wire.index]};
    if (std::get<0>(weight) > 0 && weight > best) best = weight, row = wire;
  }
  return row;
}

// True if both operands are tiles, and one of them has no dimension of the contracted wire that ends where the pieces
// of the wire end.
bool sums_positions(const MainloopOperation& column, const Lengths& lengths, const Diagram& diagram) {
  if (!column.contraction) return false;
  const auto depth = column.contraction->depth;
  const auto sums = [&](const Factor& factor) {
    return std::ranges::any_of(factor.at, [&](const Index& index) {
      return moves(index, depth) && !is_dimension(index, depth, lengths, diagram, column.contraction->fastest->k);
    });
  };
  const auto is_tile = [](const Factor& factor) { return factor.operand.staged; };
  return std::ranges::all_of(column.factors, is_tile) && std::ranges::any_of(column.factors, sums);
}

// True if the last long axis of a tile is not the one along which it is contracted.
bool is_turned(const Factor& factor, WireId depth, const LoopNest& nest) {
  const auto& buffer = nest.at(factor.operand.buffer);
  for (auto k = buffer.extent.size(); k > 0; --k)
    if (buffer.extent[k - 1] > 1) return !moves(factor.at[k - 1], depth);
  return false;
}
// Finds the operands that lanes read one by one. If an operand of 4 bytes was computed, its columns stay in the lanes
// that hold them, and the other operand is read in their order.
void find_one_by_one(MainloopOperation& column, const Mainloop& mainloop) {
  const auto& made = *column.contraction;
  const bool computed = std::ranges::any_of(column.factors, is_computed);
  for (auto& factor : column.factors) {
    const auto bytes = mainloop.value_bytes(factor.operand.buffer);
    factor.operand.one_by_one = factor.operand.staged && made.parts == 1 &&
                                ((made.mixed && factor.widened) || (bytes == 4 && computed) ||
                                 (bytes != 2 && is_turned(factor, made.depth, *mainloop.nest)));
  }
}

// True if pieces of a product's columns are no whole pairs of tiles of sums, in which warps hold them.
bool cuts_pairs(const MainloopOperation& column, const Mainloop& mainloop) {
  constexpr std::int64_t pair = accumulator_tile.square() * accumulator_tile.columns;
  const auto is_cut = [&](WireId wire) {
    const auto length = mainloop.lengths[wire.index];
    return wire != mainloop.row && length > 1 && length % pair != 0 &&
           length < mainloop.diagram().size(wire).value_or(length);
  };
  return column.contraction && std::ranges::any_of(mainloop.diagram().at(column.compute->column.output).wires, is_cut);
}

// True if warpgroups can issue the instructions. They need more than half of an instruction's rows, along a wire whose
// pieces blocks have, and whole pairs of tiles of columns. The contracted wire of two tiles must be a dimension of both
// that ends where they end. TMA must be able to copy the tiles. No operand may be a sum of two parts, which registers
// hold, or be read value by value.
bool may_issue_together(const Mainloop& mainloop) {
  const auto rows = mainloop.lengths[mainloop.row.index];
  const auto is_short = [&](const MainloopOperation& column) {
    return column.contraction && rows * 2 <= column.contraction->fastest->m;
  };
  const auto sums = [&](const MainloopOperation& column) {
    return sums_positions(column, mainloop.lengths, mainloop.diagram());
  };
  const auto is_read = [](const Factor& factor) { return factor.operand.one_by_one; };
  const auto of_single_warps = [&](const MainloopOperation& column) {
    return mainloop.is_repeated(column) || cuts_pairs(column, mainloop) ||
           std::ranges::any_of(column.factors, is_read) || (column.contraction && column.contraction->parts > 1);
  };
  return mainloop.row_alignment == 16 && std::ranges::none_of(mainloop.columns, is_short) &&
         !mainloop.any(of_single_warps) && std::ranges::none_of(mainloop.columns, sums);
}

// Chooses which operand of a contraction has the rows. An instruction of four warps reads the column operand directly
// from the core's memory, so that it must not need widening.
void orient(MainloopOperation& column, const Mainloop& mainloop, bool together) {
  const auto &a = column.factors[0], &b = column.factors[1];
  const bool first = a.has(mainloop.row) || !b.has(mainloop.row);
  const auto &rows = first ? a : b, &columns = first ? b : a;
  auto& made = *column.contraction;
  made.rows = rows.operand;
  made.columns = columns.operand;
  made.instruction = columns.widened || !together ? made.registers : made.fastest;
  made.promoted =
      promoted_every(made.instruction->operands, static_cast<int>(warps_of(*made.instruction)), mainloop.capability);
  if (!column.compute->carried && column.folded <= column.kept * static_cast<double>(made.promoted)) made.promoted = 0;
  made.exchanged = contains(column.compute->column.over, mainloop.row);
  made.across.reset();
  for (const auto wire : mainloop.diagram().at(column.compute->column.output).wires)
    if (columns.has(wire) && !rows.has(wire) && (!made.across || mainloop.lengths[wire.index] > 1)) made.across = wire;
}

// Returns by what factor whole sectors exceed the piece of an array. Contiguous parts of the piece are moved in whole
// sectors: the last dimensions that the piece has completely, and a piece of the dimension before them.
double sectors_of(const Mainloop& mainloop, BufferId id) {
  const auto& buffer = mainloop.nest->at(id);
  const auto& wires = mainloop.diagram().at(buffer.array).wires;
  std::int64_t together = row(buffer.type).bytes;
  for (auto k = buffer.extent.size(); k > 0; --k) {
    const auto& index = buffer.at[k - 1];
    if (!plain_wire(index)) return 1;
    together *= buffer.extent[k - 1];
    if (buffer.extent[k - 1] < mainloop.diagram().size(wires[k - 1]).value_or(1)) break;
  }
  const auto sector = mainloop.sector * mainloop.share(id);  // positions, if several share a byte there
  // Counts the sectors of many pieces in a row, whose beginnings are equally often at each possible offset.
  const auto all = together + sector - std::gcd(sector, together);
  return static_cast<double>(all * sector) / static_cast<double>(sector * together);
}

// A second dimension along the rows, as in a band, counts as a dimension of its own.
void measure_volumes(Mainloop& mainloop) {
  mainloop.volumes.assign(mainloop.nest->buffers.size(), {});
  for (std::size_t i = 0; i < mainloop.nest->buffers.size(); ++i) {
    const auto& buffer = mainloop.nest->buffers[i];
    auto& volume = mainloop.volumes[i];
    for (std::size_t k = 0; k < buffer.extent.size(); ++k)
      if (volume.rows == 0 && moves(buffer.at[k], mainloop.row))
        volume.rows = buffer.extent[k];
      else
        volume.beside *= buffer.extent[k];
    if (mainloop.sector > 1 && buffer.level == mainloop.core)
      volume.sectors = sectors_of(mainloop, {static_cast<std::uint32_t>(i)});
  }
}

bool stands_first(WireId row, const MainloopOperation& column, const Diagram& diagram) {
  const auto& wires = diagram.at(column.compute->column.output).wires;
  const auto& across = column.contraction->across;
  return !across || std::ranges::find(wires, row) < std::ranges::find(wires, *across);
}

bool has_rows_first(const Mainloop& mainloop) {
  return mainloop.issues_together() || std::ranges::all_of(mainloop.columns, [&](const auto& one) {
           return !one.contraction || stands_first(mainloop.row, one, mainloop.diagram());
         });
}

// Marks resident row operands. Instructions of four warps read rows from the core's memory, and widened operands are
// read again in each iteration, so that neither is resident.
void keep_rows(Mainloop& mainloop) {
  if (!mainloop.keeps || mainloop.issues_together() || !mainloop.has_rows_first) return;
  for (auto& column : mainloop.columns) {
    if (!column.contraction || column.contraction->exchanged) continue;
    const auto& rows = column.contraction->rows;
    const bool widened = rows.one_by_one || std::ranges::any_of(column.factors, &Factor::widened);
    column.contraction->rows.kept = rows.outlives && !widened;
  }
}

}  // namespace

void divide_rows(Mainloop& mainloop) {
  measure(mainloop);
  mainloop.row = row_of(mainloop);
  if (mainloop.loads_matrices)
    mainloop.each([&](MainloopOperation& column) {
      if (column.contraction) find_one_by_one(column, mainloop);
    });
  const bool together = may_issue_together(mainloop);
  mainloop.each([&](MainloopOperation& column) {
    if (column.contraction) orient(column, mainloop, together);
  });
  mainloop.has_rows_first = has_rows_first(mainloop);
  keep_rows(mainloop);
  measure_volumes(mainloop);
}

std::vector<WireId> row_wires(const Mainloop& mainloop) {
  std::vector<WireId> all;
  std::int64_t most = 1;
  for (std::uint32_t w = 0; w < mainloop.lengths.size(); ++w) {
    const auto count = contractions_with_row(mainloop, WireId{w});
    if (count > most) all.clear(), most = count;
    if (count == most) all.push_back(WireId{w});
  }
  return all;
}

void resize(Mainloop& mainloop, const Partition& partition) {
  resize(*mainloop.nest, partition);
  divide_rows(mainloop);
}

}  // namespace napkin
