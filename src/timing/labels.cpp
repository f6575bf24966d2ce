// Removes the splits on which a launch does not depend: those below a level, and those with a single piece.
#include "timing/labels.hpp"

#include <algorithm>
#include <iterator>

namespace napkin {
namespace {

// True if the split leaves the piece of the splits before it in one piece.
bool is_idle(const Diagram& diagram, const Partition& partition, std::size_t at) {
  const auto& split = partition.splits[at];
  auto piece = diagram.size(split.wire).value_or(1);
  for (std::size_t i = 0; i < at; ++i)
    if (partition.splits[i].wire == split.wire) piece = std::min(piece, partition.splits[i].size);
  return split.size >= piece;
}

bool nests(const Derivation& derivation, const Partition& partition) {
  return std::holds_alternative<Program>(stream(derivation, streamed_wires(partition)));
}

}  // namespace

Kernel down_to(const Kernel& kernel, std::size_t level) {
  const auto deeper = [&](const Split& split) { return split.level > level; };
  if (std::ranges::none_of(kernel.partition.splits, deeper)) return kernel;
  Partition partition;
  std::ranges::copy_if(kernel.partition.splits, std::back_inserter(partition.splits),
                       [&](const Split& split) { return !deeper(split); });
  return make_kernel(kernel.derivation, partition);
}

Partition without_idle_labels(const Diagram& diagram, const Partition& partition, std::size_t first) {
  Partition kept;
  for (std::size_t i = 0; i < partition.splits.size(); ++i)
    if (partition.splits[i].level < first || !is_idle(diagram, partition, i))
      kept.splits.push_back(partition.splits[i]);
  return kept;
}

// Loops may nest only inside a loop of one piece. Such a loop is removed only if the loops inside nest without it.
Kernel without_idle_labels(const Kernel& kernel) {
  const auto& derivation = *kernel.derivation;
  auto kept = kernel.partition;
  for (auto at = kept.splits.size(); at-- > 0;) {
    if (!is_idle(derivation.scratch, kept, at)) continue;
    auto shorter = kept;
    shorter.splits.erase(shorter.splits.begin() + static_cast<std::ptrdiff_t>(at));
    if (kept.splits[at].kind == SplitKind::group || nests(derivation, shorter)) kept = std::move(shorter);
  }
  return kept == kernel.partition ? kernel : make_kernel(kernel.derivation, std::move(kept));
}

}  // namespace napkin
