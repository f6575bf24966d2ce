// A kernel without its splits below the core -> its innermost loop, column by column.
#include "configure/step.hpp"

#include <algorithm>

#include "diagram/match.hpp"

namespace napkin {
namespace {

bool moves(const std::vector<Index>& at, WireId wire) {
  return std::ranges::any_of(at, [&](const Index& index) {
    return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
  });
}

Kernel down_to(const Kernel& kernel, std::size_t level) {
  Partition partition;
  std::ranges::copy_if(kernel.partition.splits, std::back_inserter(partition.splits),
                       [&](const Split& split) { return split.level <= level; });
  return make_kernel(kernel.derivation, partition);
}

// A body of the nest and the loops around it.
struct Body {
  const Block* block = nullptr;
  std::vector<Split> loops;
  std::size_t contractions = 0;
};

const InstructionShape* fastest_instruction(const Hardware& hardware, Datatype type) {
  const InstructionShape* best = nullptr;
  const auto share = [](const InstructionShape& shape) { return shape.fraction ? shape.fraction->value : 1; };
  for (const auto& shape : hardware.find(Unit::tensor)->instructions)
    if (shape.operands == type && (!best || share(shape) > share(*best))) best = &shape;
  return best;
}

class Reader {
 public:
  Reader(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel), hardware_(hardware) {
    step_.core = *hardware.core;
    step_.nest = std::make_shared<const LoopNest>(lower(down_to(kernel, step_.core), hardware));
  }

  std::optional<BlockStep> run() {
    Body body;
    find_body({&step_.nest->body, {}, 0}, body);
    if (body.contractions == 0) return std::nullopt;
    measure(body.loops);
    for (const auto& step : body.block->steps)
      if (const auto* compute = std::get_if<Compute>(&step.node)) add(*compute);
    const bool any = std::ranges::any_of(step_.columns, [](const auto& c) { return c.contraction.has_value(); });
    if (!any) return std::nullopt;
    choose_row();
    for (auto& column : step_.columns)
      if (column.contraction) orient(column);
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
        inside.loops.push_back(loop->split);
        find_body(std::move(inside), best);
      }
  }

  void measure(const std::vector<Split>& loops) {
    for (std::uint32_t w = 0; w < nest().scratch.wires.size(); ++w)
      step_.lengths.push_back(nest().scratch.size(WireId{w}).value_or(1));
    const auto shrink = [&](const Split& split) {
      auto& length = step_.lengths[split.wire.index];
      length = std::min(length, split.size);
    };
    for (const auto& group : nest().groups) shrink(group);
    for (const auto& loop : loops) shrink(loop);
  }
  double positions(const std::vector<WireId>& wires) const {
    double all = 1;
    for (const auto wire : wires) all *= static_cast<double>(step_.lengths[wire.index]);
    return all;
  }

  void add(const Compute& compute) {
    StepColumn column;
    column.compute = &compute;
    column.name = nest().scratch.at(compute.column.output).name;
    // Of the pieces that are run at all, a mask lets most through as a whole.
    auto open = compute.column;
    if (!compute.masks.empty()) open.value = compute.unmasked;
    column.work = work_of(nest().scratch, open, hardware_);
    column.kept = positions(nest().scratch.at(compute.column.output).wires);
    column.folded = column.kept * positions(compute.column.over);
    for (const auto& work : column.work)
      if (work.unit == Unit::tensor) column.contraction = contraction(compute, work.type);
    step_.columns.push_back(std::move(column));
  }
  std::optional<Contraction> contraction(const Compute& compute, Datatype type) const {
    const auto* instruction = fastest_instruction(hardware_, type);
    if (!instruction) return std::nullopt;
    Contraction made;
    made.instruction = instruction;
    made.over = compute.column.over;
    return made;
  }
  Operand operand(const Compute& compute, ExprId id) const {
    const auto found = std::ranges::find(compute.reads, id, &std::pair<ExprId, BufferId>::first);
    const auto array = nest().at(found->second).array;
    return {found->second, std::ranges::find(nest().inputs, array) != nest().inputs.end()};
  }
  std::pair<const Access*, const Access*> operands(const Compute& compute) const {
    const auto& product = std::get<Apply>(nest().scratch.at(compute.column.value).node);
    const auto access = [&](std::size_t i) { return &std::get<Access>(nest().scratch.at(product.arguments[i]).node); };
    return {access(0), access(1)};
  }

  // What the partition groups below the core; else the longest wire grouped on cores that the result of every
  // contraction carries from one operand alone; else the longest such wire.
  void choose_row() {
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group && split.level > step_.core) {
        step_.row = split.wire;
        return;
      }
    std::int64_t best = 0;
    const auto consider = [&](WireId wire, std::int64_t weight) {
      if (is_row(wire) && weight > best) best = weight, step_.row = wire;
    };
    constexpr std::int64_t grouped_first = std::int64_t{1} << 40;
    for (const auto& group : nest().groups) consider(group.wire, grouped_first + step_.lengths[group.wire.index]);
    for (const auto wire : nest().scratch.at(first_contraction().compute->column.output).wires)
      consider(wire, step_.lengths[wire.index]);
    if (best == 0) step_.row = nest().scratch.at(first_contraction().compute->column.output).wires.front();
  }
  const StepColumn& first_contraction() const {
    return *std::ranges::find_if(step_.columns, [](const auto& c) { return c.contraction.has_value(); });
  }
  bool is_row(WireId wire) const {
    if (step_.lengths[wire.index] <= 1) return false;
    return std::ranges::all_of(step_.columns, [&](const StepColumn& column) {
      if (!column.contraction) return true;
      const auto [a, b] = operands(*column.compute);
      return moves(a->at, wire) != moves(b->at, wire) &&
             std::ranges::find(column.compute->column.over, wire) == column.compute->column.over.end();
    });
  }

  void orient(StepColumn& column) const {
    const auto& compute = *column.compute;
    const auto& product = std::get<Apply>(nest().scratch.at(compute.column.value).node);
    const auto [a, b] = operands(compute);
    const bool first = moves(a->at, step_.row) || !moves(b->at, step_.row);
    auto& made = *column.contraction;
    made.rows = operand(compute, product.arguments[first ? 0 : 1]);
    made.columns = operand(compute, product.arguments[first ? 1 : 0]);
    const auto* rows = first ? a : b;
    const auto* columns = first ? b : a;
    for (const auto wire : nest().scratch.at(compute.column.output).wires)
      if (moves(columns->at, wire) && !moves(rows->at, wire)) made.across = wire;
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

std::int64_t warps_of(const InstructionShape& shape) { return shape.m >= 64 ? 4 : 1; }

bool BlockStep::has_row(BufferId id) const { return moves(nest->at(id).at, row); }

std::vector<std::int64_t> BlockStep::shape(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  auto shape = buffer.extent;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (moves({buffer.at[i]}, row)) shape[i] = std::min(shape[i], rows);
  return shape;
}

std::int64_t BlockStep::values(BufferId id, std::int64_t rows) const {
  std::int64_t all = 1;
  for (const auto extent : shape(id, rows)) all *= extent;
  return all;
}

std::int64_t BlockStep::bytes(BufferId id) const {
  return values(id, lengths[row.index]) * napkin::row(nest->at(id).type).bytes;
}

std::optional<BlockStep> step_of(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core || !hardware.find(Unit::tensor)) return std::nullopt;
  return Reader(kernel, hardware).run();
}

}  // namespace napkin
