// Groups as the decoding of block numbers, and the pieces that follow.
#include "emit/cuda_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {

std::string GroupPrinter::words(const Split& split) const {
  return fmt::format("{} {} {} at {}", split.kind == SplitKind::group ? "group" : "stream",
                     page_.diagram.at(split.wire).name, split.size, page_.level(split.level));
}

void GroupPrinter::describe(const std::string& below) {
  for (const auto& group : page_.nest.groups)
    page_.out.line(fmt::format("//   {:<24}  {}", words(group), is_block(group) ? "one piece for each block" : below));
  describe(page_.nest.body);
}
void GroupPrinter::describe(const Block& block) {
  for (const auto& step : block.steps)
    if (const auto* loop = std::get_if<For>(&step.node)) {
      page_.out.line(fmt::format("//   {:<24}  one piece after another", words(loop->split)));
      describe(loop->body);
    }
}

std::string GroupPrinter::begin_name(WireId wire) {
  return page_.pool.fresh(fmt::format("{}{}", page_.wires[wire.index], splits_[wire]++));
}

std::vector<GroupPrinter::Entered> GroupPrinter::enter(bool of_blocks) {
  std::vector<Entered> all;
  for (const auto& group : page_.nest.groups) {
    if (is_block(group) != of_blocks) continue;
    auto& piece = page_.own[group.wire.index];
    all.push_back({&group, piece, begin_name(group.wire)});
    const auto& begin = all.back().begin;
    piece = {begin, begin + "_end", std::min(piece.extent, group.size), begin, !of_blocks};
    if (of_blocks) page_.shared[group.wire.index] = piece;
  }
  return all;
}

void GroupPrinter::print(const Entered& entered, const std::string& number) {
  const auto& [group, around, begin] = entered;
  const auto offset = group->size == 1 ? number : fmt::format("{} * {}", number, group->size);
  page_.out.declare(begin, around.is_whole() ? offset : fmt::format("{} + {}", around.begin, offset), words(*group));
  page_.out.declare(begin + "_end", fmt::format("min({} + {}, {})", begin, group->size, around.end));
}

// The fastest group last; a block's number is taken apart from there.
void GroupPrinter::blocks() {
  auto& out = page_.out;
  const auto groups = enter(true);
  if (groups.empty()) return;
  out.line("long long block = blockIdx.x + (long long)blockIdx.y * gridDim.x;");
  std::vector<const Entered*> inner;  // of a wire that another group of blocks splits: printed after that
  for (auto it = groups.rbegin(); it != groups.rend(); ++it) {
    const auto size = page_.size(it->group->wire);
    const auto count =
        it->around.is_whole() ? fmt::format("pieces({}, {})", size, it->group->size) : fmt::format("{}", it->most());
    const auto number = fmt::format("(int)(block % {})", count);
    if (it->around.is_whole()) {
      print(*it, number);
    } else {
      out.declare(it->begin + "_number", number);
      inner.insert(inner.begin(), &*it);
    }
    out.line(fmt::format("block /= {};", count));
  }
  out.line("if (block > 0) return;  // the grid may be larger than the groups are many");
  for (const auto* each : inner) {
    print(*each, each->begin + "_number");
    out.line(fmt::format("if ({} >= {}) return;", each->begin, each->around.end));
  }
  out.line();
}

}  // namespace napkin
