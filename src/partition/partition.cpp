// A partition as text, and the kernel that follows from it.
#include "napkin/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "diagram/assume.hpp"

namespace napkin {
namespace {

std::string_view word(SplitKind kind) { return kind == SplitKind::group ? "group " : "stream "; }

// The word holds until the next one, as in the language.
std::string label(const Split& split, const Split* before, const Diagram& diagram) {
  const bool again = before != nullptr && before->kind == split.kind;
  return fmt::format("{}{} {}", again ? "" : word(split.kind), diagram.at(split.wire).name, split.size);
}

}  // namespace

std::string to_text(const Partition& partition, const Diagram& diagram, const Hardware& hardware) {
  std::string text;
  const Split* before = nullptr;
  for (const auto& split : partition.splits) {
    const bool here = before != nullptr && before->level == split.level;
    if (before != nullptr) text += here ? ", " : fmt::format(" at {}; ", hardware.levels.at(before->level).name);
    text += label(split, here ? before : nullptr, diagram);
    before = &split;
  }
  if (before != nullptr) text += " at " + hardware.levels.at(before->level).name;
  return text;
}

std::vector<WireId> streamed_wires(const Partition& partition) {
  std::vector<WireId> wires;
  for (const auto& split : partition.splits)
    if (split.kind == SplitKind::stream) wires.push_back(split.wire);
  return wires;
}

Kernel make_kernel(std::shared_ptr<const Derivation> derivation, Partition partition) {
  auto program = stream(*derivation, streamed_wires(partition));
  if (const auto* refused = std::get_if<Refused>(&program))
    throw std::logic_error("a kernel of an illegal partition: " + refused->reason);
  return {std::move(derivation), std::move(partition), std::get<Program>(std::move(program))};
}

void assume_sizes(Diagram& diagram, const Kernel& kernel) {
  for (const auto& split : kernel.partition.splits) {
    if (split.kind != SplitKind::stream) continue;
    const auto* verdict = kernel.derivation->find(split.wire);
    const auto* stream = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
    if (!stream || !stream->in_order) continue;
    for (const auto& [kept, reduced] : stream->same_size) assume_same_size(diagram, kept, reduced);
  }
}

void allow_whole_pieces(Kernel& kernel) {
  auto& diagram = kernel.program.scratch;
  for (const auto& split : kernel.partition.splits) {
    auto& size = diagram.axes[diagram.at(split.wire).axis.index].size;
    size = std::max(size.value_or(1), split.size);
  }
}

}  // namespace napkin
