// Intervals of wires, and the positions that an index reaches over them.
#include "loops/pieces.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "diagram/checked.hpp"
#include "diagram/match.hpp"
#include "loops/walk.hpp"

namespace napkin {

std::int64_t evaluate(const Index& index, const std::vector<std::int64_t>& positions) {
  std::int64_t sum = index.offset;
  for (const auto& [wire, coefficient] : index.terms) sum += coefficient * positions.at(wire.index);
  return floor_divide(sum, index.divisor);
}

Interval footprint(const Index& index, const Intervals& wires, std::int64_t array_size) {
  std::int64_t least = index.offset, greatest = index.offset;
  for (const auto& [wire, coefficient] : index.terms) {
    const auto [begin, end] = wires.at(wire.index);
    if (begin >= end) return {};
    least += coefficient * (coefficient > 0 ? begin : end - 1);
    greatest += coefficient * (coefficient > 0 ? end - 1 : begin);
  }
  const auto begin = std::clamp<std::int64_t>(floor_divide(least, index.divisor), 0, array_size);
  const auto end = std::clamp<std::int64_t>(floor_divide(greatest, index.divisor) + 1, begin, array_size);
  return {begin, end};
}

bool holds_somewhere(const Condition& condition, const Intervals& wires) {
  double least = condition.offset, greatest = condition.offset;
  for (const auto& [wire, coefficient] : condition.terms) {
    const auto [begin, end] = wires.at(wire.index);
    const double first = coefficient * static_cast<double>(begin), last = coefficient * static_cast<double>(end - 1);
    least += std::min(first, last);
    greatest += std::max(first, last);
  }
  return (condition.below && least < 0) || (condition.above && greatest > 0) ||
         (condition.at && least <= 0 && greatest >= 0);
}
bool holds_everywhere(const Condition& condition, const Intervals& wires) {
  return !holds_somewhere(condition.negated(), wires);
}
bool all_hold_somewhere(const std::vector<Condition>& conditions, const Intervals& wires) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& c) { return holds_somewhere(c, wires); });
}
bool all_hold_everywhere(const std::vector<Condition>& conditions, const Intervals& wires) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& c) { return holds_everywhere(c, wires); });
}

std::int64_t product_of(const std::vector<std::int64_t>& extents) {
  std::int64_t all = 1;
  for (const auto extent : extents)
    if (__builtin_mul_overflow(all, extent, &all)) return INT64_MAX;
  return all;
}

Index along(WireId wire) { return {.terms = {{wire, 1}}}; }

namespace {
void collect(const Diagram& diagram, ExprId id, std::set<ExprId>& found) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access&) { found.insert(id); },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect(diagram, argument, found);
      },
      [&](const Cast& c) { collect(diagram, c.value, found); },
      [&](const Reduce& r) { collect(diagram, r.body, found); });
}
}  // namespace

std::vector<ExprId> accesses(const Diagram& diagram, ExprId id) {
  std::set<ExprId> found;
  collect(diagram, id, found);
  return {found.begin(), found.end()};
}

const Access& access(const Diagram& diagram, ExprId id) { return std::get<Access>(diagram.at(id).node); }

std::optional<WireId> long_wire(const Index& index, const Lengths& lengths) {
  std::optional<WireId> found;
  for (const auto& [wire, coefficient] : index.terms) {
    if (lengths[wire.index] == 1) continue;
    if (found || coefficient != 1) return {};
    found = wire;
  }
  return index.divisor == 1 ? found : std::nullopt;
}

bool is_dimension(const Index& index, WireId wire, const Lengths& lengths, const Diagram& diagram,
                  std::int64_t instruction) {
  if (plain_wire(index) == wire) return true;
  const auto length = lengths[wire.index];
  return long_wire(index, lengths) == wire && length % instruction == 0 && diagram.size(wire).value_or(1) % length == 0;
}

constexpr std::int64_t longest_copy = 16;  // bytes

std::int64_t row_alignment(const Diagram& diagram, const Array& array) {
  if (array.part_of) return 1;  // a number at a time
  if (array.wires.size() < 2) return longest_copy;
  const auto length = diagram.size(array.wires.back());
  return length ? std::gcd(longest_copy, bytes_of(array.stored(), *length)) : longest_copy;
}

std::int64_t tile_alignment(const LoopNest& nest, const Buffer& buffer, std::size_t column) {
  const auto& array = nest.scratch.at(buffer.array);
  const auto& index = buffer.at[column];
  const auto bytes = row(array.type).bytes;
  if (array.part_of) return longest_copy;  // the kernel tests how far apart parts are
  auto aligned = row_alignment(nest.scratch, array);
  const auto begins_at_multiples = [&](std::int64_t numbers) { aligned = std::gcd(aligned, numbers * bytes); };
  begins_at_multiples(index.divisor == 1 ? index.offset : 1);
  const auto divide = [&](const Split& split) {
    for (const auto& [wire, coefficient] : index.terms)
      if (wire == split.wire && split.level <= buffer.level) begins_at_multiples(coefficient * split.size);
  };
  for (const auto& group : nest.groups) divide(group);
  for (const auto* loop : all_statements<For>(nest.body)) divide(loop->split);
  return aligned;
}

}  // namespace napkin
