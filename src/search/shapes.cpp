// Continues a shape by the groups of the next level and by every order of streams that the derivation allows.
#include "search/shapes.hpp"

#include <algorithm>
#include <set>

#include "diagram/index.hpp"
#include "loops/turns.hpp"

namespace napkin {
namespace {

std::vector<WireId> streamed(const Partition& partition) {
  std::vector<WireId> wires;
  for (const auto& split : partition.splits)
    if (split.kind == SplitKind::stream) wires.push_back(split.wire);
  return wires;
}

// Streaming along some wires changes the operations: a factor moves behind the sum, a state is rescaled, pieces that a
// mask leaves empty are skipped. Streaming along the other wires only divides a program into pieces.
bool rewrites(const Derivation& derivation, WireId wire) {
  const auto* programs = std::get_if<Streamable>(&derivation.find(wire)->stream);
  const auto& exprs = derivation.scratch.exprs;
  const auto asked_for = [&](const Expr& expr) {
    if (const auto* position = std::get_if<Position>(&expr.node)) return position->wire == wire;
    const auto* access = std::get_if<Access>(&expr.node);
    return access != nullptr && derivation.scratch.at(access->array).type == Datatype::boolean &&
           moves(access->at, wire);
  };
  if (programs == nullptr) return false;
  return std::any_of(exprs.begin(), exprs.end(), asked_for) || std::ranges::any_of(programs->rules, [](Rule rule) {
           return rule == Rule::cascade || rule == Rule::invariant || rule == Rule::prefix || rule == Rule::cast ||
                  rule == Rule::moments;
         });
}

// Only carried states count, because tiles that a deeper stream moves are loaded at that level. The model has a holding
// for every buffer of the nest, in the order of the buffers.
std::vector<std::vector<std::size_t>> kept_across(const Kernel& kernel, std::size_t level, const Hardware& hardware) {
  std::vector<std::vector<std::size_t>> all;
  const auto leaf = hardware.levels.size() - 1;
  const auto nest = lower(kernel, hardware);
  std::set<BufferId> states;
  for (const auto& column : held(nest))
    if (column.compute->carried) states.insert(*column.compute->carried);
  const auto add = [&](const std::vector<BufferId>& buffers) {
    std::vector<std::size_t> kept;
    for (const auto id : buffers)
      if (nest.at(id).level == leaf && states.contains(id)) kept.push_back(id.index);
    if (!kept.empty() && std::ranges::find(all, kept) == all.end()) all.push_back(std::move(kept));
  };
  for (const auto& column : turns(nest))
    for (const auto& turn : column)
      if (turn.level == level + 1) add(turn.before), add(turn.after);
  return all;
}

bool has_streams(const Partition& partition) {
  return std::ranges::any_of(partition.splits, [](const Split& split) { return split.kind == SplitKind::stream; });
}

}  // namespace

double kept_share(const Shape& shape, const Figures& held, const Hardware& hardware) {
  const auto leaf = hardware.levels.size() - 1;
  double room = shape.model.rooms.of_all[leaf], most = 0;
  for (auto level = shape.level + 1; level <= leaf; ++level)
    if (level < leaf || !hardware.levels[level].shared) room *= static_cast<double>(hardware.levels[level].count);
  for (const auto& kept : shape.kept) {
    double all = 0;
    for (const auto i : kept) {
      const auto width = hardware.levels[leaf].in_values ? 1 : shape.model.holdings[i].bytes;
      all += static_cast<double>(held.holdings[i]) * width;
    }
    most = std::max(most, all / room);
  }
  return most;
}

void Shapes::add(const Kernel& kernel, std::size_t level, std::vector<std::size_t>& to) {
  const auto wires = streamed(kernel.partition);
  const bool operations = std::ranges::none_of(space_.streamed, [&](WireId wire) {
    return std::ranges::find(wires, wire) == wires.end() && rewrites(*space_.derivation, wire);
  });
  to.push_back(all_.size());
  all_.push_back({.partition = kernel.partition,
                  .level = level,
                  .root = all_.size(),
                  .model = space_.kernels->model(kernel),
                  .whole = level + 1 >= space_.end,
                  .operations = operations});
  if (!all_.back().whole && has_streams(kernel.partition))
    all_.back().kept = kept_across(kernel, level, *space_.hardware);
  if (space_.launches && level >= space_.launches->level())
    all_.back().launches = &space_.launches->shape(kernel.partition);
}

std::vector<std::size_t> Shapes::continued(const Partition& partition, std::size_t level) {
  std::vector<std::size_t> made;
  each_continuation(space_, partition, level, [&](const Kernel& longer) { add(longer, level, made); });
  return made;
}

const std::vector<std::size_t>& Shapes::roots() {
  if (!roots_.empty()) return roots_;
  if (space_.first < space_.end) return roots_ = continued(space_.fixed, space_.first);
  if (auto* kernel = space_.kernels->along(streamed(space_.fixed))) {
    kernel->partition = space_.fixed;
    add(*kernel, space_.end - 1, roots_);
  }
  return roots_;
}

const std::vector<std::size_t>& Shapes::next(std::size_t shape) {
  if (!all_[shape].continued) {
    auto made = continued(all_[shape].partition, all_[shape].level + 1);
    for (const auto next : made) all_[next].root = all_[shape].root;
    all_[shape].next = std::move(made);
    all_[shape].continued = true;
  }
  return all_[shape].next;
}

}  // namespace napkin
