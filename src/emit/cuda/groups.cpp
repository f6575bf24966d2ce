// Decodes block numbers into groups, and computes the pieces that follow from them.
#include "emit/cuda/groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagram/assume.hpp"

namespace napkin {

std::optional<WireId> single_in_block(const LoopNest& nest, std::size_t block_level, AxisId axis) {
  for (const auto& group : nest.groups)
    if (group.level <= block_level && group.size == 1 && nest.scratch.at(group.wire).axis == axis) return group.wire;
  return std::nullopt;
}

std::string Digits::next(std::int64_t parts) {
  faster_ /= parts;
  const auto number = faster_ == 1 ? number_ : fmt::format("{} / {}", number_, faster_);
  return std::exchange(slowest_, false) ? number : fmt::format("{} % {}", number, parts);
}

std::string grid_size(const ThreadedKernel& kernel, const CodeNames& names, const TileScheduler& scheduler) {
  std::vector<std::string> counts;
  std::map<WireId, std::int64_t> around;
  for (const auto& group : kernel.nest.groups) {
    if (group.level > kernel.block_level) continue;
    const auto [outer, first] = around.try_emplace(group.wire, group.size);
    const auto size = group.size * (scheduler.along == group.wire ? scheduler.cluster : 1);
    counts.push_back(first ? fmt::format("pieces({}, {})", code_size(kernel.nest.scratch, names, group.wire), size)
                           : fmt::format("{}", pieces_of(outer->second, group.size)));
    outer->second = std::min(outer->second, group.size);
  }
  return counts.empty() ? "1LL" : fmt::format("(long long){}", fmt::join(counts, " * "));
}

std::string GroupPrinter::words(const Split& split) const {
  return to_text(Partition{{split}}, page_.diagram, page_.kernel.hardware);
}

void GroupPrinter::describe(const std::string& below) {
  describe([&](const Split& group) { return is_block(group) ? "one tile for each block" : below; },
           [](const For&) { return ""; });
}
void GroupPrinter::describe(const TilesOf& tiles, const StagesOf& stages) {
  for (const auto& group : page_.nest.groups) page_.out.line("//   {:<24}  {}", words(group), tiles(group));
  for (const auto* loop : all_statements<For>(page_.nest.body))
    page_.out.line("//   {:<24}  one tile after another{}", words(loop->split), stages(*loop));
}

// Makes the piece of a stream the current piece of its wire.
void GroupPrinter::enter(const For& loop, const std::string& begin) {
  const auto& split = loop.split;
  auto& piece = page_.own[split.wire.index];
  piece = {begin, begin + "_end", std::min(piece.extent, split.size), begin};
  if (split.level <= page_.kernel.block_level) page_.shared[split.wire.index] = piece;
}
void GroupPrinter::declare_end(const For& loop, const std::string& begin, const WirePiece& around) {
  page_.out.declare(begin + "_end", fmt::format("min({} + {}, {})", begin, loop.split.size, around.end),
                    words(loop.split));
}
void GroupPrinter::with_piece(const For& loop, const Inside& print) {
  const auto own = page_.own, shared = page_.shared;
  const auto begin = page_.begin_name(loop.split.wire);
  enter(loop, begin);
  print(own[loop.split.wire.index], begin);
  page_.own = own;
  page_.shared = shared;
}
void GroupPrinter::stream(const For& loop, const Inside& inside) {
  with_piece(loop, [&](const WirePiece& around, const std::string& begin) {
    page_.out.steps(begin, around.begin, around.end, loop.split.size);
    declare_end(loop, begin, around);
    inside(around, begin);
    page_.out.close();
  });
}

std::vector<GroupPrinter::Entered> GroupPrinter::enter(bool of_blocks) {
  std::vector<Entered> all;
  for (const auto& group : page_.nest.groups) {
    if (is_block(group) != of_blocks) continue;
    auto& piece = page_.own[group.wire.index];
    all.push_back({&group, piece, page_.begin_name(group.wire)});
    const auto& begin = all.back().begin;
    piece = {begin, begin + "_end", std::min(piece.extent, group.size), begin, !of_blocks};
    if (of_blocks) page_.shared[group.wire.index] = piece;
  }
  if (of_blocks) end_parts();
  return all;
}

// If a block has one part of a divided axis, its end is computed, because the last part may be shorter.
void GroupPrinter::end_parts() {
  for (const auto& [whole, part, inside] : divided_axes(page_.diagram)) {
    const auto of_block = single_in_block(page_.nest, page_.kernel.block_level, part);
    for (std::uint32_t w = 0; of_block && w < page_.own.size(); ++w) {
      auto& piece = page_.own[w];
      if (page_.diagram.at(WireId{w}).axis != inside || !piece.is_whole()) continue;
      piece.end = page_.pool.fresh(page_.wires[w] + "_end");
      ends_.emplace_back(piece.end, fmt::format("min({0}, n.{1} - {0} * {2})", page_.size(WireId{w}),
                                                page_.names.axes[whole.index], page_.own[of_block->index].begin));
      page_.shared[w] = piece;
    }
  }
}

void GroupPrinter::print(const Entered& entered, const std::string& number) {
  const auto& [group, around, begin] = entered;
  const auto offset = group->size == 1 ? number : fmt::format("{} * {}", number, group->size);
  print(entered, offset, group->size);
}
void GroupPrinter::print(const Entered& entered, const std::string& offset, std::int64_t reach) {
  const auto& [group, around, begin] = entered;
  page_.out.declare(begin, around.is_whole() ? offset : fmt::format("{} + {}", around.begin, offset), words(*group));
  page_.out.declare(begin + "_end", fmt::format("min({} + {}, {})", begin, reach, around.end));
}

void GroupPrinter::print(const Entered& entered, Digits& digits) {
  if (entered.around.is_whole()) page_.limit(entered.group->wire);
  const auto number = digits.next(entered.most());
  print(entered, entered.group->size == 1 ? number : in_brackets(number));
}

void GroupPrinter::blocks() {
  if (const auto groups = enter(true); !groups.empty()) take_apart(groups, {});
}

// Decodes a block number, from the fastest group, which is the last, to the slowest.
void GroupPrinter::take_apart(const std::vector<Entered>& groups, const TileScheduler& scheduler,
                              const std::string& tile) {
  auto& out = page_.out;
  const bool is_alone = tile.empty();
  out.line("long long block = {};", is_alone ? "blockIdx.x + (long long)blockIdx.y * gridDim.x" : tile);
  std::vector<const Entered*> inner;  // groups of a wire that another group of blocks splits; printed after it
  const auto take = [&](const Entered& each, std::string number) {
    if (is_along(each, scheduler)) number = fmt::format("({} * {} + {})", number, scheduler.cluster, rank);
    if (each.around.is_whole()) return print(each, number);
    out.declare(each.begin + "_number", number);
    inner.insert(inner.begin(), &each);
  };
  const auto order = ordered(groups, scheduler);
  auto it = order.rbegin();
  if (scheduler.by > 1 && order.size() > 1) {
    run(*order[order.size() - 2], *order.back(), scheduler, take);
    it += 2;
  }
  for (; it != order.rend(); ++it) {
    const bool slowest = std::next(it) == order.rend();
    if (slowest && is_alone)
      out.line("if (block >= {}) return;  // the grid may be larger than the groups are many", count(**it, scheduler));
    take(**it, slowest ? "(int)block" : fmt::format("(int)(block % {})", count(**it, scheduler)));
    if (!slowest) out.line("block /= {};", count(**it, scheduler));
  }
  // A band of tiles decodes two groups at once; these may be all groups.
  if (scheduler.by > 1 && order.size() == 2 && is_alone) out.line("if (block > 0) return;");
  for (const auto* each : inner) {
    print(*each, each->begin + "_number");
    out.line("if ({} >= {}) {};", each->begin, each->around.end, is_alone ? "return" : "continue");
  }
  for (const auto& [name, value] : ends_)
    out.line("[[maybe_unused]] const int {} = {};  // of the block's part", name, value);
  out.line();
}

// Groups that the scheduler's order does not name come first.
std::vector<const GroupPrinter::Entered*> GroupPrinter::ordered(const std::vector<Entered>& groups,
                                                                const TileScheduler& scheduler) const {
  std::vector<const Entered*> all;
  for (const auto& each : groups) all.push_back(&each);
  std::stable_sort(all.begin(), all.end(), [&](const Entered* a, const Entered* b) {
    const auto place = [&](const Entered* each) {
      const auto found = std::find(scheduler.order.begin(), scheduler.order.end(), each->group->wire);
      const bool named = found != scheduler.order.end() && each->group->level == page_.kernel.block_level;
      return named ? found - scheduler.order.begin() : -1;
    };
    return place(a) < place(b);
  });
  return all;
}

// Decodes the last two groups in bands: `by` pieces of the slower group for each piece of the faster one. The last band
// may be narrower.
void GroupPrinter::run(const Entered& slower, const Entered& faster, const TileScheduler& scheduler, const Take& take) {
  auto& out = page_.out;
  const auto by = scheduler.by;
  const auto all = fmt::format("((long long){} * {})", count(slower, scheduler), count(faster, scheduler));
  const auto run = fmt::format("((long long){} * {})", by, count(faster, scheduler));
  const auto at = page_.pool.fresh("at"), first = page_.pool.fresh("first"), wide = page_.pool.fresh("wide");
  out.line("const long long {} = block % {};", at, all);
  out.line("block /= {};", all);
  out.declare(first, fmt::format("(int)({} / {}) * {}", at, run, by), "the first tile of a band");
  out.declare(wide, fmt::format("min({}, {} - {})", by, count(slower, scheduler), first));
  take(slower, fmt::format("({} + (int)({} % {} % {}))", first, at, run, wide));
  take(faster, fmt::format("(int)({} % {} / {})", at, run, wide));
}

// The number of pieces of a group, or of clusters if the clusters lie along it.
std::string GroupPrinter::count(const Entered& each, const TileScheduler& scheduler) const {
  const auto together = is_along(each, scheduler) ? scheduler.cluster : 1;
  return each.around.is_whole()
             ? fmt::format("pieces({}, {})", page_.size(each.group->wire), each.group->size * together)
             : fmt::format("{}", pieces_of(each.most(), together));
}
bool GroupPrinter::is_along(const Entered& each, const TileScheduler& scheduler) {
  return scheduler.along == each.group->wire;
}
}  // namespace napkin
