// Finds how wires are cut at places of a nest, and builds the products of the cost model from them.
#include "cost/model/places.hpp"

#include <algorithm>

#include "diagram/checked.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

bool takes_steps(const Index& index) {
  return index.terms.size() == 1 && index.terms[0].second > 0 && index.terms[0].second <= index.divisor;
}

}  // namespace

std::int64_t bytes_of(const Diagram& diagram, ArrayId array) {
  std::int64_t all = row(diagram.at(array).stored()).bytes;
  for (const auto wire : diagram.at(array).wires)
    if (__builtin_mul_overflow(all, diagram.size(wire).value_or(1), &all)) return INT64_MAX / 4;
  return bytes_of(diagram.at(array).stored(), all / row(diagram.at(array).stored()).bytes);
}

std::size_t Places::split_index(const Split& split) const {
  const auto& all = partition_.splits;
  const auto same = [&](const Split& s) {
    return s.kind == split.kind && s.wire == split.wire && s.level == split.level;
  };
  return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), same) - all.begin());
}

std::vector<std::size_t> Places::splits(WireId wire, std::size_t level, const std::vector<Split>& loops) const {
  std::vector<std::size_t> all;
  for (const auto& group : nest_.groups)
    if (group.wire == wire && group.level <= level) all.push_back(split_index(group));
  for (const auto& loop : loops)
    if (loop.wire == wire && loop.level <= level) all.push_back(split_index(loop));
  return all;
}

std::size_t Places::cut(WireId wire, std::vector<std::size_t> splits) {
  auto& all = model_.cuts;
  const auto same = [&](const CostModel::Cut& c) { return c.wire == wire && c.splits == splits; };
  const auto at = static_cast<std::size_t>(std::find_if(all.begin(), all.end(), same) - all.begin());
  if (at == all.size()) all.push_back({wire, std::move(splits)});
  return at;
}

std::size_t Places::cut_at(WireId wire, std::size_t level, const std::vector<Split>& loops) {
  return cut(wire, splits(wire, level, loops));
}

void Places::reach(CostModel::Product& product, const std::vector<Index>& at, ArrayId array, std::size_t level,
                   const std::vector<Split>& loops, bool all_pieces) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (is_plain(at, i)) {
      const auto wire = at[i].terms[0].first;
      if (all_pieces)
        product.whole.push_back(wire);
      else
        product.lengths.push_back(cut_at(wire, level, loops));
    } else {
      left.push_back(i);
    }
  while (!left.empty()) product.footprints.push_back(footprint(at, array, left, level, loops, all_pieces));
}

bool Places::is_plain(const std::vector<Index>& at, std::size_t i) {
  const auto wire = plain_wire(at[i]);
  if (!wire) return false;
  for (std::size_t j = 0; j < at.size(); ++j)
    if (j != i && moves(at[j], *wire)) return false;
  return true;
}

// Builds one footprint of the first remaining dimension and all dimensions that share its wires.
std::size_t Places::footprint(const std::vector<Index>& at, ArrayId array, std::vector<std::size_t>& left,
                              std::size_t level, const std::vector<Split>& loops, bool all_pieces) {
  CostModel::Footprint made;
  made.all_pieces = all_pieces;
  std::set<WireId> wires;
  const auto take = [&](std::size_t i) {
    made.indices.emplace_back(at[i], diagram_.size(diagram_.at(array).wires[i]).value_or(1));
    for (const auto& term : at[i].terms) wires.insert(term.first);
    std::erase(left, i);
  };
  take(left.front());
  for (bool more = true; more;) {
    more = false;
    for (const auto i : std::vector<std::size_t>(left))
      if (std::any_of(wires.begin(), wires.end(), [&](WireId w) { return moves(at[i], w); })) take(i), more = true;
  }
  for (const auto wire : wires) made.cuts.push_back(cut_at(wire, level, loops));
  made.inside = made.indices.size() == 1 && stays_inside(made.indices[0].first, made.indices[0].second);
  made.steps = made.inside && takes_steps(made.indices[0].first);
  model_.footprints.push_back(std::move(made));
  return model_.footprints.size() - 1;
}

bool Places::stays_inside(const Index& index, std::int64_t size) const {
  if (index.terms.empty()) return false;
  std::int64_t least = index.offset, greatest = index.offset;
  for (const auto& [wire, coefficient] : index.terms)
    (coefficient < 0 ? least : greatest) += coefficient * (diagram_.size(wire).value_or(1) - 1);
  return floor_divide(least, index.divisor) >= 0 && floor_divide(greatest, index.divisor) < size;
}

void Places::repeat(CostModel::Product& product, const std::set<WireId>& shaped, std::size_t level,
                    const std::vector<Split>& loops) {
  std::set<WireId> around;
  for (const auto& group : nest_.groups)
    if (group.level <= level) around.insert(group.wire);
  for (const auto& loop : loops)
    if (loop.level <= level) around.insert(loop.wire);
  for (const auto wire : around)
    if (!shaped.contains(wire)) product.counts.push_back(cut_at(wire, level, loops));
}

std::set<WireId> Places::wires_in(const std::vector<Index>& at) {
  std::set<WireId> all;
  for (const auto& index : at)
    for (const auto& term : index.terms) all.insert(term.first);
  return all;
}

}  // namespace napkin
