#include "verify/sizes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "diagram/assume.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

// Calls `visit` with every index of every access, and the wire of the array that it is along.
template <class Visit>
void for_each_index(const Diagram& diagram, const Visit& visit) {
  for (const auto& expr : diagram.exprs)
    if (const auto* read = std::get_if<Access>(&expr.node))
      for (std::size_t i = 0; i < read->at.size(); ++i) visit(read->at[i], diagram.at(read->array).wires[i]);
}

// The greatest or the least place that an index reaches.
std::int64_t extreme(const Diagram& diagram, const Index& index, bool greatest) {
  std::vector<std::int64_t> at(diagram.wires.size());
  for (const auto& [wire, coefficient] : index.terms)
    at[wire.index] = (coefficient > 0) == greatest ? *diagram.size(wire) - 1 : 0;
  return evaluate(index, at);
}

bool is_possible(const Diagram& diagram) {
  bool possible = true;
  for_each_index(diagram, [&](const Index& index, WireId wire) {
    possible &= extreme(diagram, index, false) >= 0 && extreme(diagram, index, true) < *diagram.size(wire);
  });
  return possible;
}

// Axes of blocks with a shorter last one; they keep their sizes.
std::set<AxisId> ragged_axes(const Diagram& diagram) {
  std::set<AxisId> all;
  for (const auto& blocks : ragged_blocks(diagram))
    for (const auto axis : blocks.axes()) all.insert(axis);
  return all;
}

bool keeps_limits(const Diagram& diagram, const Diagram& changed, const std::vector<AxisId>& limited) {
  return std::ranges::all_of(limited, [&](AxisId axis) { return *changed.at(axis).size <= *diagram.at(axis).size; });
}

// Changes the number of parts, and keeps their length.
void join(const Diagram& diagram, const std::vector<AxisId>& limited, const Parts& parts, Diagram& changed) {
  auto& number = changed.axes[parts.part.index].size;
  const auto most = *diagram.at(parts.part).size, length = *diagram.at(parts.inside).size;
  if (std::ranges::find(limited, parts.whole) != limited.end()) number = std::min(*number, most);
  changed.axes[parts.inside.index].size = length;
  changed.axes[parts.whole.index].size = *number * length;
}

// Axes that several kernels divide into parts of different lengths; they keep their sizes.
std::set<AxisId> divided_differently(const Diagram& diagram) {
  std::set<AxisId> all;
  const auto divided = divided_axes(diagram);
  for (const auto& one : divided)
    for (const auto& other : divided)
      if (one.whole == other.whole && diagram.at(one.inside).size != diagram.at(other.inside).size)
        all.insert({one.whole, one.part, one.inside});
  return all;
}

using Change = std::function<std::int64_t(std::int64_t size, std::uint32_t axis)>;

Diagram changed(const Diagram& diagram, const std::vector<AxisId>& limited, const std::set<AxisId>& kept,
                const Change& change) {
  constexpr double most_growth = 4;  // of the work; if there are very many axes, not all of them grow
  auto result = diagram;
  const auto fixed = divided_differently(diagram);
  std::map<AxisId, std::int64_t> numbers;  // number of parts, by divided axis
  double growth = 1;
  for (std::uint32_t a = 0; a < diagram.axes.size(); ++a) {
    const auto now = *diagram.axes[a].size, next = change(now, a);
    const bool is_limited = std::ranges::find(limited, AxisId{a}) != limited.end();
    const double grown = growth * std::max(1.0, static_cast<double>(next) / static_cast<double>(now));
    if (kept.contains(AxisId{a}) || fixed.contains(AxisId{a}) || (next > now && (is_limited || grown > most_growth)))
      continue;
    result.axes[a].size = next;
    growth = grown;
  }
  for (const auto& [a, b] : axes_of_one_size(diagram)) {
    auto &one = result.axes[a.index].size, &other = result.axes[b.index].size;
    one = other = std::min(*one, *other);
  }
  auto divided = divided_axes(diagram);
  std::ranges::reverse(divided);
  for (const auto& parts : divided) {
    if (fixed.contains(parts.whole)) continue;
    auto& number = result.axes[parts.part.index].size;
    number = numbers.try_emplace(parts.whole, *number).first->second;
    join(diagram, limited, parts, result);
  }
  return result;
}

// The changed sizes, with arrays enlarged for the windows that read them. If that is not possible, axes that are read
// at sums of positions keep their sizes.
Diagram possible(const Diagram& diagram, const std::vector<AxisId>& limited, const Change& change) {
  const auto ragged = ragged_axes(diagram);
  auto result = changed(diagram, limited, ragged, change);
  make_room(result);
  if (is_possible(result) && keeps_limits(diagram, result, limited)) return result;
  auto kept = tied_axes(diagram);
  kept.insert(ragged.begin(), ragged.end());
  return changed(diagram, limited, kept, change);
}

}  // namespace

std::vector<AxisId> with_parts(const Diagram& diagram, std::vector<AxisId> axes) {
  for (const auto& parts : divided_axes(diagram))
    if (std::ranges::find(axes, parts.whole) != axes.end()) axes.insert(axes.end(), {parts.part, parts.inside});
  for (const auto& blocks : ragged_blocks(diagram))
    if (std::ranges::find(axes, blocks.whole) != axes.end())
      axes.insert(axes.end(), {blocks.block, blocks.inside, blocks.last});
  return axes;
}

void make_room(Diagram& diagram) {
  constexpr int most_rounds = 16;  // an array that is read at twice its own positions is never large enough
  bool changed = true;
  for (int round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for_each_index(diagram, [&](const Index& index, WireId wire) {
      auto& size = diagram.axes[diagram.at(wire).axis.index].size;
      const auto needed = extreme(diagram, index, true) + 1;
      changed |= *size < needed;
      size = std::max(*size, needed);
    });
  }
}

std::vector<Diagram> at_other_sizes(const Diagram& diagram, const std::vector<AxisId>& of_user) {
  const auto limited = with_parts(diagram, of_user);
  const Change changes[] = {
      [](std::int64_t, std::uint32_t) { return std::int64_t{1}; },
      [](std::int64_t size, std::uint32_t axis) { return std::max<std::int64_t>(1, (size + axis % 2) / 2); },
      [](std::int64_t size, std::uint32_t axis) { return size + 2 + axis % 3; },
  };
  std::vector<Diagram> all;
  for (const auto& change : changes) all.push_back(possible(diagram, limited, change));
  return all;
}

}  // namespace napkin
