// How long the pieces of a step are, which wire its rows run along, and which operand of a contraction has them.
#include <algorithm>
#include <functional>
#include <tuple>

#include "cost/reach.hpp"
#include "loops/extents.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"
#include "napkin/instructions.hpp"
#include "timing/step.hpp"

namespace napkin {
namespace {

// Into the pieces of loops; how many pieces there are.
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

void measure(StepColumn& column, const Lengths& lengths, const Diagram& diagram) {
  column.kept = positions(lengths, diagram.at(column.compute->column.output).wires);
  column.folded = column.kept * positions(lengths, column.compute->column.over);
}

// Whether what a column makes is longer than the piece that it is run for.
bool outlasts(const StepColumn& column, const Lengths& lengths, const LoopNest& nest) {
  const auto& buffer = nest.at(column.compute->to);
  const auto& wires = nest.scratch.at(buffer.array).wires;
  for (std::size_t k = 0; k < wires.size(); ++k)
    if (buffer.extent[k] > lengths[wires[k].index]) return true;
  return false;
}

// Where no loop around a column and no group splits a wire, it is as long as its axis.
void measure(BlockStep& step) {
  const auto& scratch = step.diagram();
  const auto block = lengths_in_groups(*step.nest);
  step.lengths = block;
  step.steps = enter(step.lengths, step.loops);
  for (auto& column : step.columns) measure(column, step.lengths, scratch);
  step.counts_through_registers = std::ranges::any_of(
      step.columns, [&](const StepColumn& column) { return outlasts(column, step.lengths, *step.nest); });
  Lengths lengths;
  for (auto& column : step.outside) {
    lengths = block;
    column.around.times = enter(lengths, column.around.loops) / step.steps;
    measure(column, lengths, scratch);
    column.lengths = lengths;
    step.counts_through_registers = step.counts_through_registers || outlasts(column, lengths, *step.nest);
  }
  for (auto& edge : step.edges) {
    lengths = block;
    edge.around.times = enter(lengths, edge.around.loops) / step.steps;
  }
  const double begun = step.beginnings() * (1 + 1e-9);
  for (auto& edge : step.edges)
    edge.returns = std::ranges::count(step.tiles, edge.buffer) > 0 && edge.around.times * step.steps > begun;
}

bool has_contraction(const StepColumn& column) { return column.contraction.has_value(); }

// A contraction whose result carries the wire from one operand alone.
bool has_row(const StepColumn& column, WireId wire) {
  return column.factors[0].has(wire) != column.factors[1].has(wire) &&
         std::ranges::find(column.compute->column.over, wire) == column.compute->column.over.end();
}
std::int64_t contractions_with_row(const BlockStep& step, WireId wire) {
  if (step.lengths[wire.index] <= 1) return 0;
  return std::ranges::count_if(step.columns,
                               [&](const auto& column) { return column.contraction && has_row(column, wire); });
}

// Of them, those of which registers hold the operand that was computed; and those where one has to be widened.
std::int64_t held_with_row(const BlockStep& step, WireId wire, const std::function<bool(const Factor&)>& is_held) {
  return std::ranges::count_if(step.columns, [&](const auto& column) {
    const auto of_row = [&](const Factor& factor) { return is_held(factor) && factor.has(wire); };
    return column.contraction && has_row(column, wire) && std::ranges::any_of(column.factors, of_row);
  });
}
bool is_computed(const Factor& factor) { return !factor.operand.staged; }
bool is_widened(const Factor& factor) { return factor.widened; }

// What contractions without the wire make of all that is there, which every warp would compute.
double repeated_with_row(const BlockStep& step, WireId wire) {
  double all = 0;
  for (const auto& column : step.columns)
    if (column.contraction && !column.factors[0].has(wire) && !column.factors[1].has(wire)) all += column.folded;
  return all;
}

// What the partition groups below the core; else, of the wires that the results of most contractions carry from one
// operand alone, the one of which the others take least; then one that no loop of the block cuts, of an operand that is
// computed or else widened, the longest that cores group, or the longest.
WireId row_of(const BlockStep& step) {
  if (step.given_row) return *step.given_row;
  const auto& wires =
      step.diagram().at(std::ranges::find_if(step.columns, has_contraction)->compute->column.output).wires;
  const auto grouped = [&](WireId wire) {
    return std::ranges::any_of(step.nest->groups, [&](const Split& group) {
      return group.wire == wire && group.size < step.diagram().size(wire).value_or(1);
    });
  };
  const auto whole = [&](WireId wire) {
    return std::ranges::none_of(step.loops, [&](const For* loop) { return loop->split.wire == wire; });
  };
  using Weight = std::tuple<std::int64_t, double, bool, std::int64_t, std::int64_t, bool, std::int64_t>;
  Weight best{0, 0, false, 0, 0, false, 0};
  auto row = wires.front();
  for (const auto wire : wires) {
    const Weight weight{contractions_with_row(step, wire),
                        -repeated_with_row(step, wire),
                        whole(wire),
                        held_with_row(step, wire, is_computed),
                        held_with_row(step, wire, is_widened),
                        grouped(wire),
                        step.lengths[wire.index]};
    if (std::get<0>(weight) > 0 && weight > best) best = weight, row = wire;
  }
  return row;
}

// Of two tiles, one of which has no dimension of what is contracted that ends where its pieces do.
bool sums_positions(const StepColumn& column, const Lengths& lengths, const Diagram& diagram) {
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

// Whether the last long axis of a tile is another than that along which it is contracted.
bool is_turned(const Factor& factor, WireId depth, const LoopNest& nest) {
  const auto& buffer = nest.at(factor.operand.buffer);
  for (auto k = buffer.extent.size(); k > 0; --k)
    if (buffer.extent[k - 1] > 1) return !moves(factor.at[k - 1], depth);
  return false;
}
// Beside an operand of 4 bytes that was computed, whose columns lanes keep where they are, the other is read in the
// order of those.
void find_one_by_one(StepColumn& column, const LoopNest& nest) {
  const auto& made = *column.contraction;
  const bool computed = std::ranges::any_of(column.factors, is_computed);
  for (auto& factor : column.factors) {
    const auto bytes = row(nest.scratch.at(nest.at(factor.operand.buffer).array).type).bytes;
    factor.operand.one_by_one = factor.operand.staged && made.parts == 1 &&
                                ((made.mixed && factor.widened) || (bytes == 4 && computed) ||
                                 (bytes != 2 && is_turned(factor, made.depth, nest)));
  }
}

// A team of four warps takes more than half of an instruction's rows, of a wire whose pieces blocks have; what two
// tiles are contracted along is a dimension of both, which ends where they do; TMA can copy the tiles; and no operand
// is the sum of two, which registers hold, or read number by number.
bool may_issue_together(const BlockStep& step) {
  const auto rows = step.lengths[step.row.index];
  const auto is_short = [&](const StepColumn& column) {
    return column.contraction && rows * 2 <= column.contraction->fastest->m;
  };
  const auto sums = [&](const StepColumn& column) { return sums_positions(column, step.lengths, step.diagram()); };
  const auto by_parts = [](const StepColumn& column) { return column.contraction && column.contraction->parts > 1; };
  const auto is_repeated = [&](const StepColumn& column) { return step.is_repeated(column); };
  const auto is_read = [](const StepColumn& column) {
    return std::ranges::any_of(column.factors, [](const Factor& factor) { return factor.operand.one_by_one; });
  };
  return step.row_alignment == 16 && std::ranges::none_of(step.columns, is_short) &&
         std::ranges::none_of(step.columns, is_repeated) && std::ranges::none_of(step.outside, is_repeated) &&
         std::ranges::none_of(step.columns, is_read) && std::ranges::none_of(step.outside, is_read) &&
         std::ranges::none_of(step.columns, sums) && std::ranges::none_of(step.columns, by_parts) &&
         std::ranges::none_of(step.outside, by_parts);
}

// Which operand of a contraction has the rows. An instruction of four warps reads that of columns in the core's memory,
// where it is as it is stored.
void orient(StepColumn& column, const BlockStep& step, bool together) {
  const auto &a = column.factors[0], &b = column.factors[1];
  const bool first = a.has(step.row) || !b.has(step.row);
  const auto &rows = first ? a : b, &columns = first ? b : a;
  auto& made = *column.contraction;
  made.rows = rows.operand;
  made.columns = columns.operand;
  made.instruction = columns.widened || !together ? made.registers : made.fastest;
  made.promoted =
      promoted_every(made.instruction->operands, static_cast<int>(warps_of(*made.instruction)), step.capability);
  if (!column.compute->carried && column.folded <= column.kept * static_cast<double>(made.promoted)) made.promoted = 0;
  made.exchanged = std::ranges::find(column.compute->column.over, step.row) != column.compute->column.over.end();
  made.across.reset();
  for (const auto wire : step.diagram().at(column.compute->column.output).wires)
    if (columns.has(wire) && !rows.has(wire) && (!made.across || step.lengths[wire.index] > 1)) made.across = wire;
}

// Of a piece of an array, what lies together is moved in whole sectors: the last dimensions that it has all of, and a
// piece of the one before them.
double sectors_of(const BlockStep& step, BufferId id) {
  const auto& buffer = step.nest->at(id);
  const auto& wires = step.diagram().at(buffer.array).wires;
  std::int64_t together = row(buffer.type).bytes;
  for (auto k = buffer.extent.size(); k > 0; --k) {
    const auto& index = buffer.at[k - 1];
    if (!plain_wire(index)) return 1;
    together *= buffer.extent[k - 1];
    if (buffer.extent[k - 1] < step.diagram().size(wires[k - 1]).value_or(1)) break;
  }
  const auto sector = step.sector * step.share(id);  // in what shares a byte there
  const Sectors memory(sector);
  const auto pieces = sector;  // of any length begin everywhere once
  const auto all = memory.sum(pieces, together, [&](std::int64_t at) { return memory.of(at, together); });
  return static_cast<double>(all * sector) / static_cast<double>(pieces * together);
}

// A second dimension along the rows, as in a band, is taken for one of its own.
void measure_volumes(BlockStep& step) {
  step.volumes.assign(step.nest->buffers.size(), {});
  for (std::size_t i = 0; i < step.nest->buffers.size(); ++i) {
    const auto& buffer = step.nest->buffers[i];
    auto& volume = step.volumes[i];
    for (std::size_t k = 0; k < buffer.extent.size(); ++k)
      if (volume.rows == 0 && moves(buffer.at[k], step.row))
        volume.rows = buffer.extent[k];
      else
        volume.beside *= buffer.extent[k];
    if (step.sector > 1 && buffer.level == step.core)
      volume.sectors = sectors_of(step, {static_cast<std::uint32_t>(i)});
  }
}

bool stands_first(WireId row, const StepColumn& column, const Diagram& diagram) {
  const auto& wires = diagram.at(column.compute->column.output).wires;
  const auto& across = column.contraction->across;
  return !across || std::ranges::find(wires, row) < std::ranges::find(wires, *across);
}

// Instructions of four warps take rows from the core's memory, and so is what is widened read anew for each.
void keep_rows(BlockStep& step) {
  if (!step.keeps || step.issues_together() || !step.has_rows_first()) return;
  for (auto& column : step.columns) {
    if (!column.contraction || column.contraction->exchanged) continue;
    const auto& rows = column.contraction->rows;
    const bool widened = rows.one_by_one || std::ranges::any_of(column.factors, &Factor::widened);
    column.contraction->rows.kept = rows.outlives && !widened;
  }
}

}  // namespace

void deal_rows(BlockStep& step) {
  measure(step);
  step.row = row_of(step);
  if (step.loads_matrices)
    for (auto* columns : {&step.columns, &step.outside})
      for (auto& column : *columns)
        if (column.contraction) find_one_by_one(column, *step.nest);
  const bool together = may_issue_together(step);
  for (auto* columns : {&step.columns, &step.outside})
    for (auto& column : *columns)
      if (column.contraction) orient(column, step, together);
  keep_rows(step);
  measure_volumes(step);
}

std::vector<WireId> row_wires(const BlockStep& step) {
  std::vector<WireId> all;
  std::int64_t most = 1;
  for (std::uint32_t w = 0; w < step.lengths.size(); ++w) {
    const auto count = contractions_with_row(step, WireId{w});
    if (count > most) all.clear(), most = count;
    if (count == most) all.push_back(WireId{w});
  }
  return all;
}

std::vector<std::int64_t> BlockStep::shape(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  auto shape = buffer.extent;
  const auto first = std::ranges::find_if(buffer.at, [&](const Index& index) { return moves(index, row); });
  if (first == buffer.at.end()) return shape;
  auto& along = shape[static_cast<std::size_t>(first - buffer.at.begin())];
  along = rows_held(along, rows);
  return shape;
}

bool BlockStep::has_rows_first() const {
  return issues_together() || std::ranges::all_of(columns, [&](const auto& one) {
           return !one.contraction || stands_first(row, one, diagram());
         });
}

void resize(BlockStep& step, const Partition& partition) {
  resize(*step.nest, partition);
  deal_rows(step);
}

}  // namespace napkin
