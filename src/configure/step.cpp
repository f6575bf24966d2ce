// A kernel without its splits below the core -> its innermost loop, column by column.
#include "configure/step.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "configure/labels.hpp"
#include "cost/reach.hpp"
#include "loops/extents.hpp"
#include "loops/pieces.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

bool moves(const Index& index, WireId wire) {
  return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
}

// A body of the nest and the loops around it.
struct Body {
  const Block* block = nullptr;
  std::vector<const For*> loops;
  std::size_t contractions = 0;
};

const InstructionShape* fastest_instruction(const Hardware& hardware, Datatype type, std::int64_t most_warps) {
  const InstructionShape* best = nullptr;
  const auto share = [](const InstructionShape& shape) { return shape.fraction ? shape.fraction->value : 1; };
  for (const auto& shape : hardware.find(Unit::tensor)->instructions)
    if (shape.operands == type && warps_of(shape) <= most_warps && (!best || share(shape) > share(*best)))
      best = &shape;
  return best;
}

// Into the pieces of loops; how many pieces there are.
double enter(Lengths& lengths, const std::vector<const For*>& loops) {
  double pieces = 1;
  for (const auto* loop : loops) {
    auto& length = lengths[loop->split.wire.index];
    const auto size = std::min(length, loop->split.size);
    pieces *= static_cast<double>((length + size - 1) / size);
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
  Lengths block;
  for (std::uint32_t w = 0; w < scratch.wires.size(); ++w) block.push_back(scratch.size(WireId{w}).value_or(1));
  for (const auto& group : step.nest->groups) {
    auto& length = block[group.wire.index];
    length = std::min(length, group.size);
  }
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

// Of them, those of which registers hold the operand that has to be widened.
std::int64_t widened_with_row(const BlockStep& step, WireId wire) {
  return std::ranges::count_if(step.columns, [&](const auto& column) {
    const auto of_row = [&](const Factor& factor) { return factor.widened && factor.has(wire); };
    return column.contraction && has_row(column, wire) && std::ranges::any_of(column.factors, of_row);
  });
}

// What the partition groups below the core; else, of the wires that the results of most contractions carry from one
// operand alone, one that no loop of the block cuts, of an operand that is widened, the longest that cores group, or
// the longest.
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
  using Weight = std::tuple<std::int64_t, bool, std::int64_t, bool, std::int64_t>;
  Weight best{0, false, 0, false, 0};
  auto row = wires.front();
  for (const auto wire : wires) {
    const Weight weight{contractions_with_row(step, wire), whole(wire), widened_with_row(step, wire), grouped(wire),
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

// A team of four warps takes more than half of an instruction's rows, of a wire whose pieces blocks have; what two
// tiles are contracted along is a dimension of both, which ends where they do; and TMA can copy the tiles.
bool may_issue_together(const BlockStep& step) {
  const auto rows = step.lengths[step.row.index];
  const auto is_short = [&](const StepColumn& column) {
    return column.contraction && rows * 2 <= column.contraction->fastest->m;
  };
  const auto sums = [&](const StepColumn& column) { return sums_positions(column, step.lengths, step.diagram()); };
  return step.row_alignment == 16 && std::ranges::none_of(step.columns, is_short) &&
         std::ranges::none_of(step.columns, sums);
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
double sectors_of(const BlockStep& step, const Buffer& buffer) {
  const auto& wires = step.diagram().at(buffer.array).wires;
  std::int64_t together = row(buffer.type).bytes;
  for (auto k = buffer.extent.size(); k > 0; --k) {
    const auto& index = buffer.at[k - 1];
    if (index.terms.size() != 1 || !is_along(index, index.terms[0].first)) return 1;
    together *= buffer.extent[k - 1];
    if (buffer.extent[k - 1] < step.diagram().size(wires[k - 1]).value_or(1)) break;
  }
  const Sectors memory(step.sector);
  const auto pieces = step.sector;  // of any length begin everywhere once
  const auto all = memory.sum(pieces, together, [&](std::int64_t at) { return memory.of(at, together); });
  return static_cast<double>(all * step.sector) / static_cast<double>(pieces * together);
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
    if (step.sector > 1 && buffer.level == step.core) volume.sectors = sectors_of(step, buffer);
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
    const bool widened = std::ranges::any_of(column.factors, &Factor::widened);
    column.contraction->rows.kept = column.contraction->rows.outlives && !widened;
  }
}

void deal_rows(BlockStep& step) {
  measure(step);
  step.row = row_of(step);
  const bool together = may_issue_together(step);
  for (auto* columns : {&step.columns, &step.outside})
    for (auto& column : *columns)
      if (column.contraction) orient(column, step, together);
  keep_rows(step);
  measure_volumes(step);
}

class Reader {
 public:
  Reader(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel), hardware_(hardware) {
    step_.core = *hardware.core;
    step_.capability = hardware.cuda_capability();
    if (const auto& sector = hardware.levels[step_.core].sector)
      step_.sector = static_cast<std::int64_t>(sector->value);
    step_.nest = std::make_shared<LoopNest>(lower(down_to(kernel, step_.core), hardware));
  }

  std::optional<BlockStep> run() {
    Body body;
    find_body({&step_.nest->body, {}, 0}, body);
    if (body.contractions == 0) return std::nullopt;
    step_.loops = body.loops;
    step_body_ = body.block;
    std::vector<const For*> loops;
    walk(step_.nest->body, loops);
    const bool any = std::ranges::any_of(step_.columns, [](const auto& c) { return c.contraction.has_value(); });
    if (!any) return std::nullopt;
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group && split.level > step_.core && !step_.given_row) step_.given_row = split.wire;
    sort_tiles(*body.block);
    for (const auto* columns : {&step_.columns, &step_.outside})
      for (const auto& column : *columns) align(column);
    for (auto& column : step_.columns)
      for (auto& factor : column.factors) factor.operand.outlives = is_of_lasting_tile(factor.operand.buffer);
    deal_rows(step_);
    return std::move(step_);
  }

 private:
  const LoopNest& nest() const { return *step_.nest; }

  // The body with most contractions, the innermost of equals.
  void find_body(Body here, Body& best) const {
    for (const auto& step : here.block->steps)
      if (const auto* compute = std::get_if<Compute>(&step.node))
        here.contractions += std::ranges::any_of(work_of(nest().scratch, compute->column, hardware_),
                                                 [](const ColumnWork& work) { return work.unit == Unit::tensor; });
    if (here.contractions >= best.contractions) best = here;
    for (const auto& step : here.block->steps)
      if (const auto* loop = std::get_if<For>(&step.node)) {
        Body inside{&loop->body, here.loops, 0};
        inside.loops.push_back(loop);
        find_body(std::move(inside), best);
      }
  }

  void walk(const Block& block, std::vector<const For*>& loops) {
    for (const auto& step : block.steps) {
      if (const auto* compute = std::get_if<Compute>(&step.node)) add(*compute, loops, &block == step_body_);
      if (const auto* load = std::get_if<Load>(&step.node)) {
        if (load->from) from_.emplace(load->to, *load->from);
        add_edge(load->to, loops, &block == step_body_);
      }
      if (const auto* save = std::get_if<Save>(&step.node)) add_edge(save->from, loops, &block == step_body_);
      const auto* loop = std::get_if<For>(&step.node);
      if (!loop) continue;
      loops.push_back(loop);
      walk(loop->body, loops);
      loops.pop_back();
    }
  }
  // What crosses into the core's memory or out of it, but for what every step loads.
  void add_edge(BufferId id, const std::vector<const For*>& loops, bool inside) {
    const auto& buffer = nest().at(id);
    const bool loaded = std::ranges::find(nest().inputs, buffer.array) != nest().inputs.end();
    if (buffer.level == step_.core && !(inside && loaded)) step_.edges.push_back({id, {loops, 1}, inside});
  }

  void add(const Compute& compute, const std::vector<const For*>& loops, bool inside) {
    StepColumn column;
    column.around.loops = loops;
    column.compute = &compute;
    column.name = nest().scratch.at(compute.column.output).name;
    // Of the pieces that are run at all, a mask lets most through as a whole.
    auto open = compute.column;
    if (!compute.masks.empty()) open.value = compute.unmasked;
    column.work = work_of(nest().scratch, open, hardware_);
    for (const auto& work : column.work)
      if (work.unit == Unit::tensor) contract(column, work.type);
    (inside ? step_.columns : step_.outside).push_back(std::move(column));
  }
  void contract(StepColumn& column, Datatype type) const {
    const auto* instruction = fastest_instruction(hardware_, type, 4);
    if (!instruction) return;
    const auto* by_warp = fastest_instruction(hardware_, type, 1);
    const auto& compute = *column.compute;
    const auto& scratch = nest().scratch;
    const auto& product = std::get<Apply>(scratch.at(compute.column.value).node);
    const auto& first = std::get<Access>(scratch.at(product.arguments[0]).node);
    const auto depth = depth_of(compute.column.over, first, scratch, instruction->k);
    column.contraction = Contraction{{}, {}, instruction, instruction, by_warp ? by_warp : instruction, depth, {}};
    column.factors = {factor(compute, product.arguments[0], type), factor(compute, product.arguments[1], type)};
  }
  Factor factor(const Compute& compute, ExprId id, Datatype type) const {
    const auto found = std::ranges::find(compute.reads, id, &std::pair<ExprId, BufferId>::first);
    const auto array = nest().at(found->second).array;
    const bool staged = std::ranges::find(nest().inputs, array) != nest().inputs.end();
    Factor made{{found->second, staged}, {}, staged && nest().scratch.at(array).type != type};
    made.at = std::get<Access>(nest().scratch.at(id).node).at;
    for (const auto& index : made.at)
      for (const auto& [wire, coefficient] : index.terms) made.wires.push_back(wire);
    return made;
  }

  // Which buffers of the core's memory a step loads anew, which stay, and which leave.
  void sort_tiles(const Block& body) {
    const auto in = [](const std::vector<ArrayId>& arrays, ArrayId array) {
      return std::ranges::find(arrays, array) != arrays.end();
    };
    for (std::uint32_t i = 0; i < nest().buffers.size(); ++i) {
      const auto& buffer = nest().buffers[i];
      if (buffer.level != step_.core) continue;
      const bool loaded = std::ranges::any_of(body.steps, [&](const Nest& step) {
        const auto* load = std::get_if<Load>(&step.node);
        return load && load->to == BufferId{i};
      });
      if (in(nest().inputs, buffer.array))
        (loaded ? step_.streamed : step_.tiles).push_back({i});
      else if (in(nest().outputs, buffer.array))
        step_.outputs.push_back({i});
    }
  }

  void align(const StepColumn& column) {
    for (const auto& factor : column.factors)
      if (factor.operand.staged)
        step_.row_alignment =
            std::min(step_.row_alignment,
                     napkin::row_alignment(nest().scratch, nest().scratch.at(nest().at(factor.operand.buffer).array)));
  }

  bool is_of_lasting_tile(BufferId id) const {
    for (auto from = from_.find(id); from != from_.end(); from = from_.find(id)) id = from->second;
    return std::ranges::find(step_.tiles, id) != step_.tiles.end();
  }

  const Kernel& kernel_;
  const Hardware& hardware_;
  const Block* step_body_ = nullptr;
  std::map<BufferId, BufferId> from_;  // of loads
  BlockStep step_;
};

}  // namespace

WireId depth_of(const std::vector<WireId>& over, const Access& operand, const Diagram& diagram, std::int64_t least) {
  auto depth = over.back();
  for (const auto& index : operand.at)
    for (const auto& [wire, coefficient] : index.terms)
      if (std::ranges::find(over, wire) != over.end())
        if (diagram.size(wire).value_or(1) >= least || diagram.size(depth).value_or(1) < least) depth = wire;
  return depth;
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

bool leads(const StepColumn& column) {
  return !column.compute->carried && !column.compute->column.repair && column.contraction->rows.staged;
}

std::int64_t warps_of(const InstructionShape& shape) { return shape.m >= 64 ? 4 : 1; }

std::vector<std::int64_t> BlockStep::shape(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  auto shape = buffer.extent;
  const auto first = std::ranges::find_if(buffer.at, [&](const Index& index) { return moves(index, row); });
  if (first == buffer.at.end()) return shape;
  auto& along = shape[static_cast<std::size_t>(first - buffer.at.begin())];
  along = rows_held(along, rows);
  return shape;
}

std::int64_t BlockStep::bytes(BufferId id) const {
  return values(id, lengths[row.index]) * napkin::row(nest->at(id).type).bytes;
}

std::int64_t BlockStep::step_bytes(BufferId id) const {
  const auto& volume = volumes[id.index];
  const auto rows = volume.rows > 0 ? std::min(volume.rows, lengths[row.index]) : 1;
  return volume.beside * rows * napkin::row(diagram().at(nest->at(id).array).type).bytes;
}

bool BlockStep::has_rows_first() const {
  return issues_together() || std::ranges::all_of(columns, [&](const auto& one) {
           return !one.contraction || stands_first(row, one, diagram());
         });
}
bool BlockStep::keeps_any() const {
  return std::ranges::any_of(columns, [](const auto& one) { return one.contraction && one.contraction->rows.kept; });
}
bool BlockStep::has_loop_of_its_own(BufferId tile) const {
  return std::ranges::any_of(edges, [&](const Edge& edge) {
    const auto& around = edge.around.loops;
    return edge.buffer == tile && !around.empty() && std::ranges::find(loops, around.back()) == loops.end();
  });
}
bool BlockStep::issues_together() const {
  return std::ranges::any_of(columns, [](const StepColumn& column) {
    return column.contraction && warps_of(*column.contraction->instruction) > 1;
  });
}

double BlockStep::beginnings() const {
  double most = 1;
  for (const auto& edge : edges)
    if (!edge.inside && std::ranges::count(outputs, edge.buffer) > 0) most = std::max(most, edge.around.times * steps);
  return most;
}

void resize(BlockStep& step, const Partition& partition) {
  resize(*step.nest, partition);
  deal_rows(step);
}

std::optional<BlockStep> step_of(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core || !hardware.find(Unit::tensor)) return std::nullopt;
  return Reader(kernel, hardware).run();
}

}  // namespace napkin
