// Changes a nest to other sizes of the axes.
#include <algorithm>
#include <set>

#include "loops/arithmetic.hpp"

namespace napkin {
namespace {

void set_offset(Condition& condition, const Diagram& diagram) {
  condition.offset = condition.constant;
  for (const auto& [axis, coefficient] : condition.sizes)
    condition.offset += coefficient * static_cast<double>(diagram.at(axis).size.value());
}

void set_offsets(LoopBody& block, const Diagram& diagram) {
  for (auto& step : block.steps) {
    if (auto* compute = std::get_if<Compute>(&step.node))
      for (auto& mask : compute->masks) set_offset(mask, diagram);
    auto* loop = std::get_if<For>(&step.node);
    if (!loop) continue;
    for (auto& need : loop->needs) set_offset(need, diagram);
    set_offsets(loop->body, diagram);
  }
}

class WholeAxes {
 public:
  explicit WholeAxes(const LoopNest& nest) : nest_(nest) {
    for (const auto& group : nest.groups) around_.push_back(&group);
  }
  std::vector<AxisId> run() {
    visit(nest_.body);
    return {found_.begin(), found_.end()};
  }

 private:
  void visit(const LoopBody& block) {
    for (const auto id : block.buffers)
      for (const auto& index : nest_.at(id).at)
        for (const auto& [wire, coefficient] : index.terms)
          if (!is_split(wire, nest_.at(id).level)) found_.insert(nest_.scratch.at(wire).axis);
    for (const auto& step : block.steps)
      if (const auto* loop = std::get_if<For>(&step.node)) {
        around_.push_back(&loop->split);
        visit(loop->body);
        around_.pop_back();
      }
  }
  bool is_split(WireId wire, std::size_t level) const {
    return std::any_of(around_.begin(), around_.end(), [&](const Split* split) {
      return split->wire == wire && split->level <= level && split->size < nest_.scratch.size(wire);
    });
  }

  const LoopNest& nest_;
  std::vector<const Split*> around_;
  std::set<AxisId> found_;
};

}  // namespace

LoopNest at_sizes(LoopNest nest, const Diagram& diagram) {
  for (std::size_t a = 0; a < diagram.axes.size(); ++a) nest.scratch.axes.at(a).size = diagram.axes[a].size;
  set_offsets(nest.body, diagram);
  return nest;
}

std::vector<AxisId> whole_axes(const LoopNest& nest) { return WholeAxes(nest).run(); }

}  // namespace napkin
