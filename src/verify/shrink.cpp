// Shrinks a plan to a small one of the same shape. From the finest outwards, the pieces of every wire shrink to a few
// pieces of the next split and a ragged one. There are never more pieces, and none is longer, than planned, so what
// fitted still fits.
#include <algorithm>
#include <map>
#include <optional>

#include "cost/figures/evaluate.hpp"
#include "cost/model/make_cost_model.hpp"
#include "diagram/assume.hpp"
#include "diagram/match.hpp"
#include "napkin/verify.hpp"
#include "verify/sizes.hpp"

namespace napkin {
namespace {

constexpr double most_work = 3e5;  // operations and moved values; this takes some seconds for all numbers and sizes

// The most pieces of each split, and the greatest length of the finest piece. The first measure whose work is small
// enough is used.
struct Measure {
  std::int64_t pieces, finest;
};
constexpr std::int64_t as_planned = INT64_MAX;
constexpr Measure measures[] = {{as_planned, as_planned}, {3, 3}, {3, 2}, {2, 2}, {2, 1}};
constexpr Measure least_measure = measures[4];

// The lengths of one wire in one kernel, outermost first: its axis, then its splits.
struct Chain {
  AxisId axis;
  std::vector<std::int64_t> lengths;
  std::vector<Split*> splits;
};

std::vector<Chain> chains(const Diagram& diagram, std::vector<Partition>& partitions) {
  std::vector<Chain> all;
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w)
    for (auto& partition : partitions) {
      Chain chain{diagram.at(WireId{w}).axis, {*diagram.size(WireId{w})}, {}};
      for (auto& split : partition.splits) {
        if (split.wire != WireId{w}) continue;
        chain.lengths.push_back(split.size);
        chain.splits.push_back(&split);
      }
      all.push_back(std::move(chain));
    }
  return all;
}

// The length of the piece around one that shrank from `inner` to `small`.
std::int64_t around(std::int64_t outer, std::int64_t inner, std::int64_t small, const Measure& measure) {
  const auto pieces = std::min((outer + inner - 1) / inner, measure.pieces);
  if (pieces <= 1) return std::min(small, outer);
  const auto ragged = small - small / 2;
  return std::min((pieces - 1) * small + ragged, outer);
}

// Lengths differ between axes, so that an exchange of axes is noticed.
void shrink(Chain& chain, const Measure& measure) {
  auto& lengths = chain.lengths;
  const bool split = lengths.size() > 1;
  const auto odd = chain.axis.index % 3;
  const auto finest = measure.finest + (split ? (measure.finest > 1 ? odd % 2 : 0) : odd + 2);
  auto inner = lengths.back();
  lengths.back() = std::min(inner, finest);
  for (auto i = lengths.size() - 1; i-- > 0;) {
    const auto planned = lengths[i];
    lengths[i] = around(planned, inner, lengths[i + 1], measure);
    inner = planned;
  }
}

// The first length, from `least` on, at which most wires of the axis end in a ragged piece.
std::int64_t ragged(std::int64_t least, std::int64_t most, const std::vector<const Chain*>& of) {
  const auto is_ragged = [](const Chain* chain, std::int64_t size) {
    return chain->lengths.size() > 1 && chain->lengths[1] > 1 && size > chain->lengths[1] &&
           size % chain->lengths[1] != 0;
  };
  const auto count = [&](std::int64_t size) {
    return std::count_if(of.begin(), of.end(), [&](const Chain* chain) { return is_ragged(chain, size); });
  };
  auto best = least;
  for (auto size = least; size <= std::min(most, least + 3); ++size)
    if (count(size) > count(best)) best = size;
  return best;
}

// Without densities every piece counts, whatever a mask contains, so that counts can be compared.
Diagram without_densities(Diagram diagram) {
  for (auto& array : diagram.arrays) array.density.reset();
  return diagram;
}

bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// An axis that several kernels divide gets the same number and length of parts in all of them.
void share_lengths(Diagram& diagram, const std::vector<Parts>& divided) {
  for (const auto& one : divided)
    for (const auto& other : divided) {
      if (!(one.whole == other.whole)) continue;
      for (const auto of : {&Parts::inside, &Parts::part}) {
        auto& size = diagram.axes[(one.*of).index].size;
        size = std::min(*size, *diagram.at(other.*of).size);
      }
    }
}

// The parts of a divided axis keep their shrunk length, the axis becomes as long as all of them, and no piece is
// longer. Parts of parts come first.
void join_parts(Diagram& diagram, std::vector<Chain>& chains, bool shrunk) {
  auto divided = divided_axes(diagram);
  std::ranges::reverse(divided);
  if (shrunk) share_lengths(diagram, divided);
  for (const auto& parts : divided) {
    set_length(diagram, parts, *diagram.at(parts.inside).size);
    for (auto& chain : chains)
      for (auto* split : chain.splits)
        for (const auto axis : {parts.whole, parts.inside, parts.part})
          if (chain.axis == axis) split->size = std::min(split->size, *diagram.at(axis).size);
  }
}

// The same for blocks with a shorter last one, if their length was chosen. Several axes may be cut into the same
// blocks.
void join_blocks(const Diagram& planned, Diagram& diagram, std::vector<Chain>& chains) {
  std::vector<AxisId> done;
  for (const auto& blocks : ragged_blocks(planned)) {
    if (has_given_length(planned, blocks.inside)) continue;
    const auto size = [&](const Diagram& of, AxisId axis) { return *of.at(axis).size; };
    auto& last = diagram.axes[blocks.last.index].size;
    last = std::min(*last, size(diagram, blocks.inside));
    if (!has(done, blocks.block))
      set_blocks(diagram, blocks, size(planned, blocks.block) * size(planned, blocks.inside));
    done.push_back(blocks.block);
    diagram.axes[blocks.whole.index].size = size(diagram, blocks.block) * size(diagram, blocks.inside) + *last;
    for (auto& chain : chains)
      for (auto* split : chain.splits)
        for (const auto axis : blocks.axes())
          if (chain.axis == axis) split->size = std::min(split->size, size(diagram, axis));
  }
}

// Blocks whose length the file gives keep it, and, with a shorter last one, also their number.
std::vector<AxisId> with_blocks(const Diagram& diagram, std::vector<AxisId> axes) {
  for (const auto& blocks : ragged_blocks(diagram)) {
    if (!has_given_length(diagram, blocks.inside)) continue;
    const auto ragged = with_parts(diagram, blocks.axes());
    axes.insert(axes.end(), ragged.begin(), ragged.end());
  }
  for (const auto& parts : axes_in_blocks(diagram)) axes.push_back(parts.inside);
  return axes;
}

// The plan shrunk by a measure; axes in `single` get one position.
Shrunk measured(const Diagram& diagram, const Plan& plan, const Measure& measure, const std::vector<AxisId>& asked,
                const std::vector<AxisId>& single = {}) {
  Shrunk result{diagram, {}};
  const auto kept = with_blocks(diagram, with_parts(diagram, asked));
  std::vector<Partition> partitions;
  for (const auto& kernel : plan.kernels) partitions.push_back(kernel.partition);
  auto all = chains(diagram, partitions);
  std::map<AxisId, std::vector<const Chain*>> of;
  for (auto& chain : all) {
    if (measure.pieces == as_planned || has(kept, chain.axis)) continue;
    if (has(single, chain.axis))
      std::fill(chain.lengths.begin(), chain.lengths.end(), 1);
    else
      shrink(chain, measure);
    of[chain.axis].push_back(&chain);
    for (std::size_t i = 0; i < chain.splits.size(); ++i) chain.splits[i]->size = chain.lengths[i + 1];
  }
  for (const auto& [axis, group] : of) {
    std::int64_t least = 1;
    for (const auto* chain : group) least = std::max(least, chain->lengths[0]);
    auto& size = result.diagram.axes[axis.index].size;
    size = ragged(least, *size, group);
  }
  join_parts(result.diagram, all, measure.pieces != as_planned);
  join_blocks(diagram, result.diagram, all);
  make_room(result.diagram);
  const auto counted = without_densities(result.diagram);
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const auto& planned = *plan.kernels[i].derivation;
    auto derivation = std::make_shared<const Derivation>(derive(counted, planned.statements, planned.outputs));
    result.plan.kernels.push_back(make_kernel(std::move(derivation), std::move(partitions[i])));
  }
  return result;
}

// The number of evaluations for one position of an expression by the plain meaning, which recomputes reductions at
// every use.
double plain_work(const Diagram& diagram, ExprId id, std::map<ExprId, double>& known) {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const auto work = match(
      diagram.at(id).node, [](const Constant&) { return 1.0; }, [](const Position&) { return 1.0; },
      [](const Size&) { return 1.0; }, [](const Access&) { return 1.0; },
      [&](const Apply& apply) {
        double sum = 1;
        for (const auto argument : apply.arguments) sum += plain_work(diagram, argument, known);
        return sum;
      },
      [&](const Cast& cast) { return 1 + plain_work(diagram, cast.value, known); },
      [&](const Reduce& reduce) {
        double product = 1 + plain_work(diagram, reduce.body, known);
        for (const auto wire : reduce.over) product *= static_cast<double>(*diagram.size(wire));
        return product;
      });
  return known[id] = work;
}

double values(const Diagram& diagram, ArrayId id) {
  double product = 1;
  for (const auto wire : diagram.at(id).wires) product *= static_cast<double>(*diagram.size(wire));
  return product;
}

double work(const Shrunk& shrunk, const Hardware& hardware) {
  double all = 0;
  for (const auto id : shrunk.diagram.inputs) all += values(shrunk.diagram, id);
  std::map<ExprId, double> known;
  for (const auto& statement : shrunk.diagram.statements)
    all += values(shrunk.diagram, statement.output) * plain_work(shrunk.diagram, statement.value, known);
  for (const auto& kernel : shrunk.plan.kernels) {
    std::vector<std::int64_t> sizes;
    for (const auto& split : kernel.partition.splits) sizes.push_back(split.size);
    Figures figures;
    evaluate(make_cost_model(kernel, hardware), sizes, figures);
    if (figures.overflow) return most_work * 2;
    for (const auto operations : figures.operations) all += operations;
    for (const auto& level : figures.levels) all += static_cast<double>(level.transfer_values);
  }
  return all;
}

// With very many axes, even two pieces each are too much work: then the longest axes, one after another, get one
// position.
Shrunk with_single_axes(const Diagram& diagram, const Plan& plan, const Hardware& hardware, Shrunk result) {
  std::vector<AxisId> single;
  while (work(result, hardware) > most_work && single.size() < diagram.axes.size()) {
    std::optional<AxisId> longest;
    for (std::uint32_t a = 0; a < diagram.axes.size(); ++a)
      if (!has(single, {a}) && (!longest || *result.diagram.axes[a].size > *result.diagram.at(*longest).size))
        longest = AxisId{a};
    single.push_back(*longest);
    result = measured(diagram, plan, least_measure, {}, single);
  }
  return result;
}

}  // namespace

Shrunk shrink(const Diagram& diagram, const Plan& plan, const Hardware& hardware, std::vector<AxisId> kept) {
  const auto shorter = [&](AxisId a, AxisId b) { return *diagram.at(a).size < *diagram.at(b).size; };
  while (true) {
    Shrunk result;
    for (const auto& measure : measures) {
      result = measured(diagram, plan, measure, kept);
      if (work(result, hardware) <= most_work) return result;
    }
    if (kept.empty()) return with_single_axes(diagram, plan, hardware, std::move(result));
    kept.erase(std::max_element(kept.begin(), kept.end(), shorter));
  }
}

}  // namespace napkin
