// A shape is continued by the groups of the next level and every order of streams that the derivation allows.
#include "search/shapes.hpp"

#include <algorithm>

namespace napkin {
namespace {

std::vector<WireId> streamed(const Partition& partition) {
  std::vector<WireId> wires;
  for (const auto& split : partition.splits)
    if (split.kind == SplitKind::stream) wires.push_back(split.wire);
  return wires;
}

// Streaming along some wires changes what is computed: a factor moves behind the sum, a state is repaired, pieces that
// a mask leaves empty are passed over. Along the others a program only comes apart into pieces.
bool rewrites(const Derivation& derivation, WireId wire) {
  const auto* programs = std::get_if<Streamable>(&derivation.find(wire)->stream);
  const auto& exprs = derivation.scratch.exprs;
  const auto asked_for = [&](const Expr& expr) {
    if (const auto* position = std::get_if<Position>(&expr.node)) return position->wire == wire;
    const auto* access = std::get_if<Access>(&expr.node);
    return access != nullptr && derivation.scratch.at(access->array).type == Datatype::boolean &&
           std::ranges::any_of(access->at, [&](const Index& index) {
             return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
           });
  };
  if (programs == nullptr) return false;
  return std::any_of(exprs.begin(), exprs.end(), asked_for) || std::ranges::any_of(programs->rules, [](Rule rule) {
           return rule == Rule::cascade || rule == Rule::invariant || rule == Rule::cast || rule == Rule::moments;
         });
}

}  // namespace

void Shapes::add(const Kernel& kernel, std::size_t level, std::vector<std::size_t>& to) {
  const auto wires = streamed(kernel.partition);
  const bool operations = std::ranges::none_of(space_.streamed, [&](WireId wire) {
    return std::ranges::find(wires, wire) == wires.end() && rewrites(*space_.derivation, wire);
  });
  to.push_back(all_.size());
  all_.push_back({.partition = kernel.partition,
                  .level = level,
                  .model = CostModel(kernel, *space_.hardware),
                  .whole = level + 1 >= space_.hardware->levels.size(),
                  .operations = operations});
  if (space_.launches && level >= space_.launches->level())
    all_.back().launches = &space_.launches->shape(kernel.partition);
}

std::vector<std::size_t> Shapes::continued(const Partition& partition, std::size_t level) {
  std::vector<std::size_t> made;
  each_continuation(space_, streamed_, partition, level, [&](const Kernel& longer) { add(longer, level, made); });
  return made;
}

const std::vector<std::size_t>& Shapes::roots() {
  if (!roots_.empty()) return roots_;
  if (space_.first < space_.hardware->levels.size()) return roots_ = continued(space_.fixed, space_.first);
  if (auto* kernel = streamed_.along(streamed(space_.fixed))) {
    kernel->partition = space_.fixed;
    add(*kernel, space_.hardware->levels.size() - 1, roots_);
  }
  return roots_;
}

const std::vector<std::size_t>& Shapes::next(std::size_t shape) {
  if (!all_[shape].continued) {
    auto made = continued(all_[shape].partition, all_[shape].level + 1);
    all_[shape].next = std::move(made);
    all_[shape].continued = true;
  }
  return all_[shape].next;
}

}  // namespace napkin
