// Finds the computed buffers that may be inlined: collects every column with its body, and every save, and then who
// reads each buffer.
#include "loops/passing.hpp"

#include <algorithm>

#include "diagram/match.hpp"

namespace napkin {
namespace {

class Passing {
 public:
  Passing(const LoopNest& nest, const std::function<bool(const Compute*)>& is_product)
      : nest_(nest), is_product_(is_product) {
    visit(nest.body);
  }

  std::map<BufferId, const Compute*> run() const {
    std::map<BufferId, const Compute*> all;
    for (const auto& [compute, block] : columns_)
      if (!compute->column.fold && !compute->column.carried && is_made_once(compute->to) && passes(*compute, block))
        all[compute->to] = compute;
    return all;
  }

 private:
  void visit(const LoopBody& block) {
    for (const auto& step : block.steps)
      match(
          step.node, [](const Load&) {}, [](const MaskTest&) {},
          [&](const Compute& compute) { columns_.emplace_back(&compute, &block); },
          [&](const Save& save) { saves_.emplace_back(save.from, &block); },
          [&](const For& loop) { visit(loop.body); });
  }
  bool is_made_once(BufferId id) const {
    return std::ranges::count_if(columns_, [&](const auto& one) { return one.first->to == id; }) == 1;
  }
  bool passes(const Compute& compute, const LoopBody* block) const {
    std::vector<std::pair<const Compute*, const LoopBody*>> readers;
    for (const auto& one : columns_)
      if (reads(*one.first, compute.to)) readers.push_back(one);
    if (std::ranges::count(nest_.outputs, nest_.at(compute.to).array) > 0)
      return readers.empty() && std::ranges::count(saves_, std::pair{compute.to, block}) > 0;
    return readers.size() == 1 && readers[0].second == block && is_product_(readers[0].first) &&
           !repairs(*readers[0].first, compute.to);
  }
  // A value by which the carried sum is rescaled is not an operand.
  bool repairs(const Compute& reader, BufferId id) const {
    if (!reader.column.repair) return false;
    const auto read = arrays_read(nest_.scratch, *reader.column.repair);
    return std::ranges::find(read, nest_.at(id).array) != read.end();
  }

  const LoopNest& nest_;
  const std::function<bool(const Compute*)>& is_product_;
  std::vector<std::pair<const Compute*, const LoopBody*>> columns_;
  std::vector<std::pair<BufferId, const LoopBody*>> saves_;
};

}  // namespace

bool reads(const Compute& compute, BufferId id) {
  return compute.carried == id || std::ranges::count(compute.reads, id, &std::pair<ExprId, BufferId>::second) > 0;
}

bool may_trail(const LoopBody& block, const Compute& own) {
  const auto touches = [&](const LoopStatement& step) {
    if (const auto* save = std::get_if<Save>(&step.node)) return save->from == own.to;
    const auto* compute = std::get_if<Compute>(&step.node);
    return compute && compute != &own && (compute->to == own.to || reads(*compute, own.to));
  };
  return own.carried == own.to && std::ranges::none_of(block.steps, touches);
}

std::map<BufferId, const Compute*> passing(const LoopNest& nest,
                                           const std::function<bool(const Compute*)>& is_product) {
  return Passing(nest, is_product).run();
}

}  // namespace napkin
