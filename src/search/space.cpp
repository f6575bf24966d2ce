// What may be split follows from the derivation's verdicts; the sizes worth trying from the axes and the machine's
// instruction shapes.
#include "search/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "diagram/match.hpp"

namespace napkin {
namespace {

template <class T>
bool has(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void collect_accesses(const Diagram& diagram, ExprId id, std::vector<const Access*>& found) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access& a) { found.push_back(&a); },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect_accesses(diagram, argument, found);
      },
      [&](const Cast& c) { collect_accesses(diagram, c.value, found); },
      [&](const Reduce& r) { collect_accesses(diagram, r.body, found); });
}

bool moves(const Access& access, WireId wire) {
  return std::ranges::any_of(access.at, [&](const Index& index) {
    return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
  });
}

bool is_woven(const Verdict& verdict) {
  const auto* group = std::get_if<Groupable>(&verdict.group);
  return group != nullptr && !group->by_merge;
}

// A woven wire that every access to an input carries loads each value once, streamed or not. Grouped instead, with
// pieces of the same size, it loads the same, holds no more, and leaves more to run side by side.
bool pays_to_stream(const Derivation& derivation, const Verdict& verdict) {
  if (!std::holds_alternative<Streamable>(verdict.stream)) return false;
  if (!is_woven(verdict)) return true;
  for (const auto& column : derivation.columns) {
    std::vector<const Access*> reads;
    collect_accesses(derivation.scratch, column.value, reads);
    for (const auto* read : reads)
      if (has(derivation.inputs, read->array) && !moves(*read, verdict.wire)) return true;
  }
  return false;
}

// The least matrix instruction for operands of one type.
const InstructionShape* least_instruction(const Hardware& hardware, Datatype type) {
  const auto* tensor = hardware.find(Unit::tensor);
  if (tensor == nullptr) return nullptr;
  const InstructionShape* least = nullptr;
  for (const auto& shape : tensor->instructions)
    if (shape.operands == type && (least == nullptr || shape.m * shape.n * shape.k < least->m * least->n * least->k))
      least = &shape;
  return least;
}

// A sum of products of two arrays: the wires that it contracts take multiples of the instruction's k, those of one
// operand only multiples of m and n, whichever way round the operands are put.
void divide_contraction(const Derivation& derivation, const Hardware& hardware, const Column& column,
                        std::vector<std::int64_t>& divisors) {
  const auto& scratch = derivation.scratch;
  const auto* product = std::get_if<Apply>(&scratch.at(column.value).node);
  if (column.fold == nullptr || column.fold->combine->role != Role::add || product == nullptr ||
      product->function->role != Role::multiply)
    return;
  std::vector<const Access*> reads;
  collect_accesses(scratch, column.value, reads);
  if (reads.size() != 2) return;
  const auto types = std::pair(scratch.at(reads[0]->array).type, scratch.at(reads[1]->array).type);
  const auto* shape =
      least_instruction(hardware, row(types.first).bytes > row(types.second).bytes ? types.first : types.second);
  if (shape == nullptr) return;
  for (const auto wire : column.over) divisors[wire.index] = std::lcm(divisors[wire.index], shape->k);
  for (const auto wire : scratch.at(column.output).wires)
    if (moves(*reads[0], wire) != moves(*reads[1], wire))
      divisors[wire.index] = std::lcm(divisors[wire.index], std::max(shape->m, shape->n));
}

std::int64_t size_of(const Diagram& diagram, WireId wire) { return diagram.size(wire).value_or(1); }

class Shapes {
 public:
  Shapes(const Space& space, const std::function<void(const Kernel&)>& visit) : space_(space), visit_(visit) {
    for (const auto& split : space.fixed.splits)
      if (split.kind == SplitKind::stream) wires_.push_back(split.wire);
    splits_ = space.fixed.splits;
  }
  void run() {
    auto program = stream(*space_.derivation, wires_);
    if (const auto* made = std::get_if<Program>(&program)) level(space_.first, *made);
  }

 private:
  void level(std::size_t at, const Program& program) {
    if (at >= space_.hardware->levels.size()) {
      visit_({space_.derivation, {splits_}, program});
      return;
    }
    const auto before = splits_.size();
    for (const auto wire : space_.grouped)
      if (size_of(space_.derivation->scratch, wire) > 1 && !has(wires_, wire))
        splits_.push_back({SplitKind::group, wire, 1, at});
    streams(at, 0, program);
    splits_.resize(before);
  }
  void streams(std::size_t at, std::size_t count, const Program& program) {
    level(at + 1, program);
    if (count == space_.most_streams) return;
    for (const auto wire : space_.streamed) {
      if (size_of(space_.derivation->scratch, wire) == 1 || streamed_at(wire, at)) continue;
      wires_.push_back(wire);
      auto longer = stream(*space_.derivation, wires_);
      if (const auto* made = std::get_if<Program>(&longer)) {
        splits_.push_back({SplitKind::stream, wire, 1, at});
        streams(at, count + 1, *made);
        splits_.pop_back();
      }
      wires_.pop_back();
    }
  }
  bool streamed_at(WireId wire, std::size_t at) const {
    return std::ranges::any_of(splits_, [&](const Split& split) {
      return split.kind == SplitKind::stream && split.wire == wire && split.level == at;
    });
  }

  const Space& space_;
  const std::function<void(const Kernel&)>& visit_;
  std::vector<WireId> wires_;  // streamed so far
  std::vector<Split> splits_;
};

// Chains of sizes along one wire: each within the piece before it.
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
      for (const auto size : piece_sizes(extent, space_.divisors[split.wire.index]))
        if (split.kind == SplitKind::group || size < extent)
          if (__builtin_add_overflow(all, count(size, at + 1), &all)) all = INT64_MAX;
    }
    return known_[{extent, at}] = all;
  }

 private:
  const Space& space_;
  std::vector<Split> splits_;
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> known_;
};

}  // namespace

Space make_space(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Partition& fixed) {
  Space space;
  space.derivation = std::move(derivation);
  space.hardware = &hardware;
  space.fixed = fixed;
  for (const auto& split : fixed.splits) space.first = std::max(space.first, split.level + 1);
  for (const auto& verdict : space.derivation->verdicts) {
    if (is_woven(verdict)) space.grouped.push_back(verdict.wire);
    if (pays_to_stream(*space.derivation, verdict)) space.streamed.push_back(verdict.wire);
  }
  space.divisors.assign(space.derivation->scratch.wires.size(), 1);
  for (const auto& column : space.derivation->columns)
    divide_contraction(*space.derivation, hardware, column, space.divisors);
  return space;
}

std::string to_text(const Space& space) {
  const auto& scratch = space.derivation->scratch;
  std::set<std::string> multiples;
  for (const auto& verdict : space.derivation->verdicts)
    if (const auto divisor = space.divisors[verdict.wire.index]; divisor > 1)
      multiples.insert(fmt::format("{} by {}", scratch.at(verdict.wire).name, divisor));
  auto text =
      fmt::format("groups of every woven axis and at most {} streams in any order, at each level", space.most_streams);
  if (!space.fixed.splits.empty()) text += " below those written by hand";
  text += "; pieces of every number";
  if (!multiples.empty()) text += fmt::format(", as multiples ({})", fmt::join(multiples, ", "));
  return text;
}

std::vector<std::int64_t> piece_sizes(std::int64_t extent, std::int64_t divisor) {
  std::vector<std::int64_t> sizes{extent};
  if (extent < divisor) {
    if (extent > 1) sizes.push_back(1);
    return sizes;
  }
  // In units of the divisor: the least piece for each number of pieces, found from the number of the piece before.
  const auto pieces = [&](std::int64_t size) { return (extent + size - 1) / size; };
  for (auto size = extent; size > divisor;) {
    const auto number = pieces(size) + 1;
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

void each_shape(const Space& space, const std::function<void(const Kernel& shape)>& visit) {
  Shapes(space, visit).run();
}

std::int64_t count_partitions(const Space& space, const Partition& shape) {
  std::map<WireId, std::vector<Split>> by_wire;
  for (const auto& split : shape.splits) by_wire[split.wire].push_back(split);
  std::int64_t all = 1;
  for (auto& [wire, splits] : by_wire) {
    // Groups stand outside all streams.
    std::ranges::stable_sort(splits, [](const Split& a, const Split& b) { return a.kind < b.kind; });
    const auto chains = Chains(space, splits).count(size_of(space.derivation->scratch, wire));
    if (__builtin_mul_overflow(all, chains, &all)) all = INT64_MAX;
  }
  return all;
}

std::int64_t extent_before(const Diagram& diagram, const std::vector<Split>& splits,
                           std::span<const std::int64_t> sizes, std::size_t at) {
  auto extent = size_of(diagram, splits[at].wire);
  for (std::size_t i = 0; i < at; ++i)
    if (splits[i].wire == splits[at].wire) extent = std::min(extent, sizes[i]);
  return extent;
}

Partition without_idle_labels(const Diagram& diagram, const Partition& partition, std::size_t first) {
  Partition kept;
  std::map<WireId, std::int64_t> pieces;
  for (const auto& split : partition.splits) {
    auto& piece = pieces.try_emplace(split.wire, size_of(diagram, split.wire)).first->second;
    if (split.level < first || split.size < piece) kept.splits.push_back(split);
    piece = std::min(piece, split.size);
  }
  return kept;
}

}  // namespace napkin
