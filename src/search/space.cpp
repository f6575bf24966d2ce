// Builds the space of a search. The wires that may be split follow from the verdicts of the derivation, and the sizes
// worth trying follow from the axes and their divisors.
#include "search/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "diagram/checked.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "search/divisors.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {
namespace {

bool is_in_order(const Verdict& verdict) {
  const auto* stream = std::get_if<Streamable>(&verdict.stream);
  return stream != nullptr && stream->in_order;
}

// If every access to an input has a woven wire, each value is loaded once, streamed or not. A group with pieces of the
// same size loads the same, holds no more, and leaves more to run in parallel.
bool pays_to_stream(const Derivation& derivation, const Verdict& verdict) {
  if (!std::holds_alternative<Streamable>(verdict.stream)) return false;
  if (!verdict.is_woven()) return true;
  const auto& scratch = derivation.scratch;
  const auto lacks_it = [&](ExprId id) {
    const auto* read = std::get_if<Access>(&scratch.at(id).node);
    return read && contains(derivation.inputs, read->array) && !contains(free_wires(scratch, id), verdict.wire);
  };
  return std::ranges::any_of(derivation.columns,
                             [&](const Column& column) { return any_part(scratch, column.value, lacks_it); });
}

// If a level has one child, all groups below a stream but one would wait, each with its carried state. One group of the
// whole piece carries no more.
bool may_group(const Space& space, std::size_t level, std::size_t first_stream) {
  const auto& memory = space.hardware->levels[level];
  return level <= first_stream || memory.shared || memory.count > 1;
}

std::size_t outermost_stream(const Partition& partition) {
  auto level = std::numeric_limits<std::size_t>::max();
  for (const auto& split : partition.splits)
    if (split.kind == SplitKind::stream) level = std::min(level, split.level);
  return level;
}

// Returns the number of streams per level that keeps the number of shapes to some hundreds. It does not depend on
// splits that are written by hand, so that a plan that is completed from its core on gives the same plan.
std::size_t most_streams(const Space& space) {
  constexpr double most_shapes = 300;
  const auto levels = static_cast<int>(space.hardware->levels.size()) - 1;
  const auto wires = static_cast<double>(space.streamed.size());
  for (std::size_t most = levels > 1 ? 2 : 3; most > 1; --most) {
    double orders = 1, here = 1;
    for (std::size_t i = 0; i < most; ++i) orders += here *= std::max(0.0, wires - static_cast<double>(i));
    if (std::pow(orders, levels) <= most_shapes) return most;
  }
  return 1;
}

class Continuations {
 public:
  using Visit = std::function<void(const Kernel&)>;
  Continuations(const Space& space, Partition shape, std::size_t level, const Visit& visit)
      : space_(space), partition_(std::move(shape)), level_(level), visit_(visit) {
    for (const auto& split : partition_.splits)
      if (split.kind == SplitKind::stream) wires_.push_back(split.wire);
  }
  void run() {
    const bool groups = may_group(space_, level_, outermost_stream(partition_));
    for (const auto wire : space_.grouped)
      if (groups && !contains(wires_, wire)) partition_.splits.push_back({SplitKind::group, wire, 1, level_});
    streams(0);
  }

 private:
  void streams(std::size_t count) {
    auto* kernel = space_.kernels->along(wires_);
    if (kernel == nullptr) return;
    kernel->partition = partition_;
    if (leaves_matrices()) visit_(*kernel);
    if (count == space_.most_streams) return;
    for (const auto wire : space_.streamed) {
      if (streamed_here(wire)) continue;
      wires_.push_back(wire);
      partition_.splits.push_back({SplitKind::stream, wire, 1, level_});
      streams(count + 1);
      partition_.splits.pop_back();
      wires_.pop_back();
    }
  }
  // A matrix product sums along one wire. All other summed wires must be streamed, one position at a time.
  bool leaves_matrices() const {
    const auto has_one = [&](const std::vector<WireId>& summed) {
      return std::ranges::count_if(summed, [&](WireId wire) { return !contains(wires_, wire); }) <= 1;
    };
    return level_ != space_.core_level || std::ranges::all_of(space_.summed, has_one);
  }
  bool streamed_here(WireId wire) const {
    return std::ranges::any_of(partition_.splits, [&](const Split& split) {
      return split.kind == SplitKind::stream && split.wire == wire && split.level == level_;
    });
  }

  const Space& space_;
  Partition partition_;
  std::size_t level_;
  const Visit& visit_;
  std::vector<WireId> wires_;  // streamed so far
};

// Counts the partitions of the space. Once it is known which wires are streamed at which level, wires are split
// independently of each other, and the streams of a level may have any order.
class Counter {
 public:
  explicit Counter(const Space& space) : space_(space) {
    for (const auto& verdict : space.derivation->verdicts) wires_.push_back(verdict.wire);
    streams_.resize(wires_.size());
  }
  std::int64_t count(std::size_t level, std::size_t wire, std::size_t here) {
    if (level >= space_.end) return sizes();
    if (wire == wires_.size()) return saturating_multiply(orders(here), count(level + 1, 0, 0));
    auto all = count(level, wire + 1, here);
    if (here < space_.most_streams && contains(space_.streamed, wires_[wire])) {
      streams_[wire].push_back(level);
      all = saturating_add(all, count(level, wire + 1, here + 1));
      streams_[wire].pop_back();
    }
    return all;
  }

 private:
  static std::int64_t orders(std::size_t streams) {
    std::int64_t all = 1;
    for (std::size_t i = 2; i <= streams; ++i) all *= static_cast<std::int64_t>(i);
    return all;
  }
  std::int64_t sizes() {
    std::int64_t all = 1;
    auto outermost = outermost_stream(space_.fixed);
    for (const auto& levels : streams_)
      for (const auto level : levels) outermost = std::min(outermost, level);
    for (std::size_t i = 0; i < wires_.size() && all > 0; ++i) {
      const auto [known, fresh] = known_.try_emplace({wires_[i], streams_[i], outermost}, 0);
      if (fresh) known->second = chains(wires_[i], streams_[i], outermost);
      all = saturating_multiply(all, known->second);
    }
    return all;
  }
  std::int64_t chains(WireId wire, const std::vector<std::size_t>& streams, std::size_t first_stream);

  const Space& space_;
  std::vector<WireId> wires_;
  std::vector<std::vector<std::size_t>> streams_;  // by wire, the levels that stream it
  std::map<std::tuple<WireId, std::vector<std::size_t>, std::size_t>, std::int64_t> known_;
};

// Counts the chains of sizes along one wire, in which each size lies within the piece before it. Of more than
// `most_counted` sizes, some stand for their neighbours too.
class Chains {
 public:
  Chains(const Space& space, std::vector<Split> splits) : space_(space), splits_(std::move(splits)) {}
  std::int64_t count(std::int64_t extent, std::size_t at = 0) {
    if (at == splits_.size()) return 1;
    const auto [known, fresh] = known_.try_emplace({extent, at}, 0);
    if (!fresh) return known->second;
    const auto& split = splits_[at];
    std::int64_t all = 0;
    if (split.level < space_.first) {
      all = count(std::min(extent, split.size), at + 1);
    } else {
      const auto sizes = piece_sizes(extent, space_.grain(split));
      const auto step = sizes.size() > most_counted ? sizes.size() / samples : 1;
      for (std::size_t i = 0; i < sizes.size(); i += step)
        if (split.kind == SplitKind::group || sizes[i] < extent)
          all = saturating_add(all, saturating_multiply(count(sizes[i], at + 1), static_cast<std::int64_t>(step)));
    }
    return known_[{extent, at}] = all;
  }

 private:
  static constexpr std::size_t most_counted = 4096, samples = 128;
  const Space& space_;
  std::vector<Split> splits_;
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known_;
};

// Counts the sizes of the splits along one wire, outermost first. Groups lie outside all streams.
std::int64_t Counter::chains(WireId wire, const std::vector<std::size_t>& streams, std::size_t first_stream) {
  std::vector<Split> groups, loops;
  for (const auto& split : space_.fixed.splits)
    if (split.wire == wire) (split.kind == SplitKind::group ? groups : loops).push_back(split);
  const bool fixed = !loops.empty();
  for (auto level = space_.first; level < space_.end; ++level) {
    const bool above = fixed || std::ranges::any_of(streams, [&](std::size_t s) { return s < level; });
    if (contains(space_.grouped, wire) && !above && may_group(space_, level, first_stream))
      groups.push_back({SplitKind::group, wire, 1, level});
    if (contains(streams, level)) loops.push_back({SplitKind::stream, wire, 1, level});
  }
  groups.insert(groups.end(), loops.begin(), loops.end());
  return Chains(space_, groups).count(space_.derivation->scratch.size(wire).value_or(1));
}

bool is_copied_by_tma(const std::shared_ptr<const Derivation>& derivation, const Hardware& hardware) {
  const auto step = mainloop_of(make_kernel(derivation, {}), hardware);
  return !step || step->row_alignment == 16;
}

}  // namespace

Space make_space(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Goal& goal) {
  Space space;
  space.derivation = std::move(derivation);
  if (!is_copied_by_tma(space.derivation, hardware))
    space.single_warps = std::make_shared<const Hardware>(of_single_warps(hardware));
  space.hardware = space.single_warps ? space.single_warps.get() : &hardware;
  space.kernels = std::make_shared<Streamed>(space.derivation, *space.hardware);
  space.fixed = goal.fixed;
  for (const auto& split : space.fixed.splits) space.first = std::max(space.first, split.level + 1);
  for (const auto& verdict : space.derivation->verdicts) {
    if (space.derivation->scratch.size(verdict.wire).value_or(1) == 1) continue;
    if (verdict.is_woven()) space.grouped.push_back(verdict.wire);
    if (is_in_order(verdict)) space.in_order.insert(verdict.wire);
    if (pays_to_stream(*space.derivation, verdict)) space.streamed.push_back(verdict.wire);
  }
  space.most_streams = most_streams(space);
  space.end = space.held = hardware.levels.size();
  divide_by_instructions(space);
  if (goal.objective != Objective::transfers && goal.model == Model::machine)
    time_launches(space), cut_between_sectors(space);
  if (space.launches) space.end = space.core_level + 1, space.held = *hardware.core + 1;
  divide_where_it_fits(space);
  return space;
}

std::optional<Space> coarser_part(const Space& space) {
  if (space.coarser.empty()) return std::nullopt;
  auto made = space;
  made.core_divisors = std::move(made.coarser.back());
  made.coarser.pop_back();
  return made;
}

std::set<std::string> multiples_of(const Space& space, const std::vector<std::int64_t>& divisors) {
  std::set<std::string> multiples;
  for (const auto& verdict : space.derivation->verdicts)
    if (const auto divisor = divisors[verdict.wire.index]; divisor > 1)
      multiples.insert(fmt::format("{} by {}{}", space.derivation->scratch.at(verdict.wire).name, divisor,
                                   space.single.contains(verdict.wire) ? " or 1" : ""));
  return multiples;
}

std::string to_text(const Space& space) {
  const auto multiples = multiples_of(space, space.divisors), to_core = multiples_of(space, space.core_divisors);
  auto text = fmt::format("groups of every axis that can group and at most {} streams in any order, at each level",
                          space.most_streams);
  if (!space.fixed.splits.empty()) text += " below those given by hand";
  text += "; every number of tiles";
  const auto is_long = [&](const Verdict& verdict) {
    return space.derivation->scratch.size(verdict.wire).value_or(1) > 2 * finest_pieces * finest_pieces;
  };
  if (std::ranges::any_of(space.derivation->verdicts, is_long))
    text += fmt::format(", beyond {} in steps of 1 / {}", 2 * finest_pieces, finest_pieces);
  const bool core = space.core_level > 0 && space.first <= space.core_level && !to_core.empty();
  if (core)
    text += fmt::format(", of multiples down to {} ({})", space.hardware->levels[space.core_level].name,
                        fmt::join(to_core, ", "));
  if (!multiples.empty())
    text += fmt::format(", of multiples{} ({})", core ? " below" : "", fmt::join(multiples, ", "));
  return text;
}

namespace {

void take_whole_fragments(std::vector<std::int64_t>& sizes, std::int64_t fragment) {
  for (auto& size : sizes)
    if (size > fragment && size < sizes.front())
      size = std::min(sizes.front(), (size + fragment - 1) / fragment * fragment);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

std::vector<std::int64_t> multiples_for_numbers(std::int64_t extent, std::int64_t divisor) {
  std::vector<std::int64_t> sizes{extent};
  if (extent < divisor) {
    if (extent > 1) sizes.push_back(1);
    return sizes;
  }
  // Finds, in multiples of the divisor, the least piece for each number of pieces, starting from the number of the
  // piece before.
  const auto pieces = [&](std::int64_t size) { return (extent + size - 1) / size; };
  for (auto size = extent; size > divisor;) {
    const auto number = pieces(size) + std::max<std::int64_t>(1, pieces(size) / finest_pieces);
    const auto least = (extent + number - 1) / number;
    auto next = (least + divisor - 1) / divisor * divisor;
    if (next >= size) next = (size - 1) / divisor * divisor;
    const auto same = (extent + pieces(next) - 1) / pieces(next);
    next = std::max(divisor, (same + divisor - 1) / divisor * divisor);
    sizes.push_back(next);
    size = next;
  }
  return sizes;
}

}  // namespace

std::vector<std::int64_t> piece_sizes(std::int64_t extent, Grain grain) {
  if (grain.in_order) return {1};
  auto sizes = multiples_for_numbers(extent, grain.divisor);
  take_whole_fragments(sizes, grain.fragment);
  if (grain.single && sizes.back() > 1) sizes.push_back(1);
  return sizes;
}

const std::vector<std::int64_t>& PieceSizes::of(std::int64_t extent, Grain grain) {
  const auto [at, fresh] = known_.try_emplace({extent, grain});
  if (fresh) at->second = piece_sizes(extent, grain);
  return at->second;
}

void each_continuation(const Space& space, const Partition& shape, std::size_t level,
                       const std::function<void(const Kernel&)>& visit) {
  Continuations(space, shape, level, visit).run();
}

std::int64_t count_partitions(const Space& space) { return Counter(space).count(space.first, 0, 0); }

}  // namespace napkin
