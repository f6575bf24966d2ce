// If an array is contiguous along a stream, a stream of short pieces copies its tiles one number at a time. Its pieces
// are made longer at the first level, as far as they fit, and the planned stream moves to the next level. This does not
// move anything more often, because there are fewer of the longer pieces.
#include "emit/cpp/tiles.hpp"

#include <algorithm>

#include "napkin/cost.hpp"

namespace napkin {
namespace {

constexpr std::int64_t long_pieces[] = {256, 128, 64, 32, 16};

bool lies_together(const Kernel& kernel, WireId wire) {
  return std::ranges::any_of(kernel.program.inputs, [&](ArrayId id) {
    const auto& wires = kernel.program.scratch.at(id).wires;
    return !wires.empty() && wires.back() == wire;
  });
}

Partition lengthened(const Partition& partition, std::size_t at, std::int64_t size) {
  auto longer = partition;
  const auto planned = longer.splits[at];
  longer.splits[at].size = size;
  const auto next = planned.level + 1;
  const auto known = [&](const Split& s) {
    return s.kind == SplitKind::stream && s.wire == planned.wire && s.level == next;
  };
  if (std::ranges::any_of(longer.splits, known)) return longer;
  const auto behind = [&](const Split& s) {
    return s.level > next || (s.level == next && s.kind == SplitKind::stream);
  };
  longer.splits.insert(std::ranges::find_if(longer.splits, behind),
                       {SplitKind::stream, planned.wire, planned.size, next});
  return longer;
}

bool fits(const Kernel& kernel, const Hardware& hardware) {
  return estimate(kernel, hardware, Model::machine).overruns.empty();
}

Kernel lengthened(const Kernel& planned, const Hardware& hardware) {
  auto kernel = planned;
  if (hardware.levels.size() <= 2 || !fits(planned, hardware)) return kernel;
  for (std::size_t i = 0; i < kernel.partition.splits.size(); ++i) {
    const auto split = kernel.partition.splits[i];
    if (split.kind != SplitKind::stream || split.level != 1 || !lies_together(kernel, split.wire)) continue;
    for (const auto size : long_pieces) {
      if (size < 2 * split.size) break;
      const auto partition = lengthened(kernel.partition, i, size);
      if (!illegal(*kernel.derivation, hardware, partition).empty()) continue;
      auto longer = make_kernel(kernel.derivation, partition);
      if (!fits(longer, hardware)) continue;
      kernel = std::move(longer);
      break;
    }
  }
  return kernel;
}

}  // namespace

Kernel with_long_tiles(const Kernel& planned, const Hardware& hardware) {
  auto kernel = lengthened(planned, hardware);
  allow_whole_pieces(kernel);
  return kernel;
}

}  // namespace napkin
