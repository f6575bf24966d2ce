// A kernel without its splits below the core -> its innermost loop, column by column.
#include "configure/step.hpp"

#include <algorithm>

#include "loops/extents.hpp"

namespace napkin {
namespace {

bool moves(const Index& index, WireId wire) {
  return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
}
bool moves(const std::vector<Index>& at, WireId wire) {
  return std::ranges::any_of(at, [&](const Index& index) { return moves(index, wire); });
}

// A body of the nest and the loops around it.
struct Body {
  const Block* block = nullptr;
  std::vector<const For*> loops;
  std::size_t contractions = 0;
};

const InstructionShape* fastest_instruction(const Hardware& hardware, Datatype type) {
  const InstructionShape* best = nullptr;
  const auto share = [](const InstructionShape& shape) { return shape.fraction ? shape.fraction->value : 1; };
  for (const auto& shape : hardware.find(Unit::tensor)->instructions)
    if (shape.operands == type && (!best || share(shape) > share(*best))) best = &shape;
  return best;
}

// Where no loop of the step and no group leaves a wire to split further, it is as long as its axis.
void measure(BlockStep& step) {
  const auto& scratch = step.diagram();
  step.lengths.clear();
  for (std::uint32_t w = 0; w < scratch.wires.size(); ++w) step.lengths.push_back(scratch.size(WireId{w}).value_or(1));
  const auto shrink = [&](const Split& split) {
    auto& length = step.lengths[split.wire.index];
    length = std::min(length, split.size);
  };
  for (const auto& group : step.nest->groups) shrink(group);
  for (const auto* loop : step.loops) shrink(loop->split);
  const auto positions = [&](const std::vector<WireId>& wires) {
    double all = 1;
    for (const auto wire : wires) all *= static_cast<double>(step.lengths[wire.index]);
    return all;
  };
  for (auto& column : step.columns) {
    column.kept = positions(scratch.at(column.compute->column.output).wires);
    column.folded = column.kept * positions(column.compute->column.over);
  }
}

bool has_contraction(const StepColumn& column) { return column.contraction.has_value(); }

bool is_row(const BlockStep& step, WireId wire) {
  if (step.lengths[wire.index] <= 1) return false;
  return std::ranges::all_of(step.columns, [&](const StepColumn& column) {
    if (!column.contraction) return true;
    return column.factors[0].has(wire) != column.factors[1].has(wire) &&
           std::ranges::find(column.compute->column.over, wire) == column.compute->column.over.end();
  });
}

// What the partition groups below the core; else the longest wire in groups of cores that the result of every
// contraction carries from one operand alone; else the longest such wire.
WireId row_of(const BlockStep& step) {
  if (step.given_row) return *step.given_row;
  const auto& wires =
      step.diagram().at(std::ranges::find_if(step.columns, has_contraction)->compute->column.output).wires;
  std::int64_t best = 0;
  auto row = wires.front();
  const auto consider = [&](WireId wire, std::int64_t weight) {
    if (weight > best && is_row(step, wire)) best = weight, row = wire;
  };
  constexpr std::int64_t grouped_first = std::int64_t{1} << 40;
  for (const auto& group : step.nest->groups)
    if (group.size < step.diagram().size(group.wire).value_or(1))
      consider(group.wire, grouped_first + step.lengths[group.wire.index]);
  for (const auto wire : wires) consider(wire, step.lengths[wire.index]);
  return row;
}

// Which operand of a contraction has the rows.
void orient(StepColumn& column, const BlockStep& step) {
  const auto &a = column.factors[0], &b = column.factors[1];
  const bool first = a.has(step.row) || !b.has(step.row);
  const auto &rows = first ? a : b, &columns = first ? b : a;
  auto& made = *column.contraction;
  made.rows = rows.operand;
  made.columns = columns.operand;
  made.across.reset();
  for (const auto wire : step.diagram().at(column.compute->column.output).wires)
    if (columns.has(wire) && !rows.has(wire)) made.across = wire;
}

void deal_rows(BlockStep& step) {
  measure(step);
  step.row = row_of(step);
  for (auto& column : step.columns)
    if (column.contraction) orient(column, step);
}

class Reader {
 public:
  Reader(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel), hardware_(hardware) {
    step_.core = *hardware.core;
    step_.nest = std::make_shared<LoopNest>(lower(down_to(kernel, step_.core), hardware));
  }

  std::optional<BlockStep> run() {
    Body body;
    find_body({&step_.nest->body, {}, 0}, body);
    if (body.contractions == 0) return std::nullopt;
    step_.loops = body.loops;
    for (const auto& step : body.block->steps)
      if (const auto* compute = std::get_if<Compute>(&step.node)) add(*compute);
    const bool any = std::ranges::any_of(step_.columns, [](const auto& c) { return c.contraction.has_value(); });
    if (!any) return std::nullopt;
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group && split.level > step_.core && !step_.given_row) step_.given_row = split.wire;
    deal_rows(step_);
    sort_tiles(*body.block);
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

  void add(const Compute& compute) {
    StepColumn column;
    column.compute = &compute;
    column.name = nest().scratch.at(compute.column.output).name;
    // Of the pieces that are run at all, a mask lets most through as a whole.
    auto open = compute.column;
    if (!compute.masks.empty()) open.value = compute.unmasked;
    column.work = work_of(nest().scratch, open, hardware_);
    for (const auto& work : column.work)
      if (work.unit == Unit::tensor) contract(column, work.type);
    step_.columns.push_back(std::move(column));
  }
  void contract(StepColumn& column, Datatype type) const {
    const auto* instruction = fastest_instruction(hardware_, type);
    if (!instruction) return;
    const auto& compute = *column.compute;
    column.contraction = Contraction{{}, {}, instruction, compute.column.over, {}};
    const auto& product = std::get<Apply>(nest().scratch.at(compute.column.value).node);
    column.factors = {factor(compute, product.arguments[0]), factor(compute, product.arguments[1])};
  }
  Factor factor(const Compute& compute, ExprId id) const {
    const auto found = std::ranges::find(compute.reads, id, &std::pair<ExprId, BufferId>::first);
    const auto array = nest().at(found->second).array;
    Factor made{{found->second, std::ranges::find(nest().inputs, array) != nest().inputs.end()}, {}};
    for (const auto& index : std::get<Access>(nest().scratch.at(id).node).at)
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

  const Kernel& kernel_;
  const Hardware& hardware_;
  BlockStep step_;
};

}  // namespace

Kernel down_to(const Kernel& kernel, std::size_t level) {
  Partition partition;
  std::ranges::copy_if(kernel.partition.splits, std::back_inserter(partition.splits),
                       [&](const Split& split) { return split.level <= level; });
  return make_kernel(kernel.derivation, partition);
}

std::int64_t warps_of(const InstructionShape& shape) { return shape.m >= 64 ? 4 : 1; }

bool BlockStep::has_row(BufferId id) const { return moves(nest->at(id).at, row); }

std::vector<std::int64_t> BlockStep::shape(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  auto shape = buffer.extent;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (moves(buffer.at[i], row)) shape[i] = std::min(shape[i], rows);
  return shape;
}

std::int64_t BlockStep::values(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  std::int64_t all = 1;
  for (std::size_t i = 0; i < buffer.extent.size(); ++i)
    all *= moves(buffer.at[i], row) ? std::min(buffer.extent[i], rows) : buffer.extent[i];
  return all;
}

std::int64_t BlockStep::bytes(BufferId id) const {
  return values(id, lengths[row.index]) * napkin::row(nest->at(id).type).bytes;
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
