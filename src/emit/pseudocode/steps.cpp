// Turns a loop nest into the lines of pseudocode; each shows what a step handles in one whole piece.
#include "emit/pseudocode/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/columns.hpp"
#include "diagram/match.hpp"
#include "emit/shared/text.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

class Writer {
 public:
  Writer(const LoopNest& nest, const Hardware& hardware)
      : nest_(nest), hardware_(hardware), pieces_(whole_lengths(nest.scratch)) {}

  Pseudocode run() {
    Pseudocode code;
    code.outputs = listed(nest_.outputs, ", ", [&](ArrayId id) { return nest_.scratch.at(id).name; });
    for (const auto& buffer : nest_.buffers) code.variables.push_back(variable(buffer));
    std::stable_sort(code.variables.begin(), code.variables.end(), [&](const auto& a, const auto& b) {
      return hardware_.level(a.level).value_or(0) < hardware_.level(b.level).value_or(0);
    });
    auto* steps = &code.steps;
    for (const auto& group : nest_.groups) {
      steps->push_back(split(group));
      steps = &steps->back().body;
    }
    *steps = write(nest_.body);
    return code;
  }

 private:
  const std::string& level(std::size_t index) const { return hardware_.levels.at(index).name; }

  PseudoVariable variable(const Buffer& buffer) const {
    return {buffer.name,         nest_.scratch.at(buffer.array).name,
            level(buffer.level), buffer.type,
            buffer.extent,       product_of(buffer.extent) * row(buffer.type).bytes};
  }

  // Narrows the piece of the wire that the split divides.
  PseudoStep split(const Split& split) {
    auto& piece = pieces_[split.wire.index];
    PseudoStep step;
    step.kind = split.kind == SplitKind::group ? "group" : "stream";
    step.axis = nest_.scratch.at(split.wire).name;
    step.level = level(split.level);
    step.size = std::min(piece, split.size);
    step.pieces = pieces_of(piece, split.size);
    step.text = fmt::format("{} {} {} at {}", step.kind, step.axis, split.size, step.level);
    piece = step.size;
    return step;
  }

  PseudoStep of(std::string kind, BufferId id, std::vector<std::int64_t> shape) const {
    const auto& buffer = nest_.at(id);
    PseudoStep step;
    step.kind = std::move(kind);
    step.variable = buffer.name;
    step.level = level(buffer.level);
    step.type = buffer.type;
    step.bytes = product_of(shape) * row(buffer.type).bytes;
    step.shape = std::move(shape);
    step.span = nest_.scratch.at(buffer.array).span;
    return step;
  }
  std::vector<std::int64_t> cells(const std::vector<WireId>& wires) const {
    std::vector<std::int64_t> all;
    for (const auto wire : wires) all.push_back(pieces_[wire.index]);
    return all;
  }

  std::vector<PseudoStep> write(const LoopBody& block) {
    std::vector<PseudoStep> steps;
    for (const auto& step : block.steps)
      steps.push_back(match(
          step.node, [&](const Load& load) { return write(load); }, [&](const MaskTest& ask) { return write(ask); },
          [&](const Compute& compute) { return write(compute); }, [&](const Save& save) { return write(save); },
          [&](const For& loop) { return write(loop); }));
    return steps;
  }

  PseudoStep write(const For& loop) {
    const auto around = pieces_;
    auto step = split(loop.split);
    for (const auto& condition : loop.needs) step.needs.push_back(to_text(nest_.scratch, condition));
    if (!step.needs.empty()) step.text += fmt::format(", where {}", fmt::join(step.needs, " and "));
    step.body = write(loop.body);
    pieces_ = around;
    return step;
  }
  PseudoStep write(const Load& load) const {
    auto step = of("load", load.to, nest_.at(load.to).extent);
    step.from = load.from ? nest_.at(*load.from).name : nest_.scratch.at(nest_.at(load.to).array).name;
    step.text = fmt::format("load {} from {}", step.variable, step.from);
    const auto& array = nest_.scratch.at(nest_.at(load.to).array);
    if (!load.from && array.packed)
      step.type = array.stored(), step.bytes = bytes_of(step.type, product_of(step.shape));
    return step;
  }
  PseudoStep write(const MaskTest& ask) const {
    auto step = of("ask", ask.tile, nest_.at(ask.tile).extent);
    step.text = fmt::format("skip unless {} is {} somewhere in {}", to_text(nest_.scratch, ask.access), ask.wanted,
                            step.variable);
    return step;
  }
  PseudoStep write(const Save& save) const {
    const auto array = nest_.at(save.from).array;
    auto step = of("save", save.from, cells(nest_.scratch.at(array).wires));
    step.from = step.variable;
    step.variable = save.to ? nest_.at(*save.to).name : nest_.scratch.at(array).name;
    step.level = level(nest_.at(save.from).level - 1);
    step.text = fmt::format("save {} from {}", step.variable, step.from);
    return step;
  }
  PseudoStep write(const Compute& compute) const {
    const auto& wires = nest_.scratch.at(compute.column.output).wires;
    auto step = of("compute", compute.to, cells(wires));
    step.text = to_text(nest_.scratch, compute.column);
    step.span = origin(nest_.scratch, compute.column);
    const auto positions = static_cast<double>(product_of(step.shape));
    const auto folded = positions * static_cast<double>(product_of(cells(compute.column.over)));
    for (const auto& work : work_of(nest_.scratch, compute.column, hardware_))
      step.operations[work.unit] += work.operations * (work.folded ? folded : positions);
    return step;
  }

  const LoopNest& nest_;
  const Hardware& hardware_;
  Lengths pieces_;  // at the leaf
};

}  // namespace

Pseudocode pseudocode(const LoopNest& nest, const Hardware& hardware) { return Writer(nest, hardware).run(); }

}  // namespace napkin
