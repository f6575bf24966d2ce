// Lower bounds of what every program moves that computes a kernel, for memories of a given capacity.
//
// A product of m x k by k x n moves at least 2mnk/sqrt(S) - 2S values if S values are held, whatever the order of its
// multiplications (Smith, Lowery, Langou, van de Geijn, arXiv 1702.02017). The proof counts any share of the
// multiplications in the same way, so that several memories with S each lose 2S each. Values are as narrow as the
// narrowest array of the product, so that a capacity in bytes holds at most that many of them. For fused contractions,
// no such theorem is known here that gives more than an order of growth: the only proven bound is what must be read and
// written once.
#include "cost/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diagram/operands.hpp"

namespace napkin {
namespace {

// Bytes of one value, or 1 if a level is counted in values.
double width(const Diagram& diagram, ArrayId id, bool in_values) { return in_values ? 1 : diagram.at(id).width(); }

double size_of(const Diagram& diagram, ArrayId id, bool in_values) {
  double all = width(diagram, id, in_values);
  for (const auto wire : diagram.at(id).wires) all *= static_cast<double>(diagram.size(wire).value_or(1));
  return all;
}

double compulsory(const Derivation& derivation, bool in_values) {
  double all = 0;
  for (const auto array : derivation.inputs) all += size_of(derivation.scratch, array, in_values);
  for (const auto array : derivation.outputs) all += size_of(derivation.scratch, array, in_values);
  return all;
}

bool chooses(const Diagram& diagram, ExprId id) {
  return any_part(diagram, id, [&](ExprId part) {
    const auto* apply = std::get_if<Apply>(&diagram.at(part).node);
    return apply && apply->function->role == Role::choose;
  });
}

bool is_own_place(const Index& index) {
  return index.terms.size() == 1 && index.terms[0].second == 1 && index.divisor == 1 && index.offset == 0;
}
bool reads_elsewhere(const Diagram& diagram, ExprId id) {
  return any_part(diagram, id, [&](ExprId part) {
    const auto* access = std::get_if<Access>(&diagram.at(part).node);
    return access && !std::ranges::all_of(access->at, is_own_place);
  });
}

using Wires = std::set<WireId>;

// Returns the wires of an input that is read at its own position; none if it is read otherwise or is computed.
std::optional<Wires> wires_read(const Derivation& derivation, ExprId id) {
  const auto* access = std::get_if<Access>(&derivation.scratch.at(id).node);
  if (!access || std::ranges::find(derivation.inputs, access->array) == derivation.inputs.end()) return std::nullopt;
  Wires wires;
  for (const auto& index : access->at) {
    if (index.terms.size() != 1 || index.terms[0].second != 1 || index.divisor != 1) return std::nullopt;
    if (!wires.insert(index.terms[0].first).second) return std::nullopt;
  }
  return wires;
}

struct Product {
  double m = 1, n = 1, k = 1, times = 1;
  std::vector<ArrayId> operands;
};

bool leaves(const Derivation& derivation, const std::vector<WireId>& wires) {
  return std::ranges::any_of(derivation.outputs, [&](ArrayId output) {
    const auto& there = derivation.scratch.at(output).wires;
    return std::ranges::all_of(wires, [&](WireId wire) { return std::ranges::find(there, wire) != there.end(); });
  });
}

// Returns the product if its operands are two inputs, every value of the result is an output, and nothing may be
// skipped.
std::optional<Product> product(const Derivation& derivation, const Column& column) {
  const auto& diagram = derivation.scratch;
  const auto& apply = std::get<Apply>(diagram.at(column.value).node);
  const auto a = wires_read(derivation, apply.arguments[0]), b = wires_read(derivation, apply.arguments[1]);
  const auto& kept = diagram.at(column.output).wires;
  if (!a || !b || !leaves(derivation, kept)) return std::nullopt;
  // A program may use the symmetry of a product of an array with itself.
  if (std::get<Access>(diagram.at(apply.arguments[0]).node).array ==
      std::get<Access>(diagram.at(apply.arguments[1]).node).array)
    return std::nullopt;
  Product made;
  Wires all = *a;
  all.insert(b->begin(), b->end());
  for (const auto wire : all) {
    const bool in_result = std::ranges::find(kept, wire) != kept.end();
    const bool both = a->contains(wire) && b->contains(wire);
    if (!both && !in_result) return std::nullopt;
    auto& side = !in_result ? made.k : both ? made.times : a->contains(wire) ? made.m : made.n;
    side *= static_cast<double>(diagram.size(wire).value_or(1));
  }
  if (!std::ranges::all_of(kept, [&](WireId wire) { return all.contains(wire); })) return std::nullopt;
  for (const auto argument : apply.arguments)
    made.operands.push_back(std::get<Access>(diagram.at(argument).node).array);
  return made;
}

bool multiplies_and_adds(const Diagram& diagram, const Column& column) {
  const auto* apply = std::get_if<Apply>(&diagram.at(column.value).node);
  return column.fold && column.fold->combine->role == Role::add && apply && apply->function->role == Role::multiply;
}

std::optional<Product> only_product(const Derivation& derivation) {
  const Column* found = nullptr;
  for (const auto& column : derivation.columns) {
    if (chooses(derivation.scratch, column.value)) return std::nullopt;
    if (!column.fold) continue;
    if (found || !multiplies_and_adds(derivation.scratch, column)) return std::nullopt;
    found = &column;
  }
  return found ? product(derivation, *found) : std::nullopt;
}

double narrowest(const Derivation& derivation, const Product& product, bool in_values) {
  auto arrays = product.operands;
  arrays.insert(arrays.end(), derivation.outputs.begin(), derivation.outputs.end());
  double least = width(derivation.scratch, arrays.front(), in_values);
  for (const auto array : arrays) least = std::min(least, width(derivation.scratch, array, in_values));
  return least;
}

// True if a part of an input may not be needed: some column makes a choice, or reads an input at another position than
// its own, in windows or steps.
bool may_leave_out(const Derivation& derivation) {
  const auto& diagram = derivation.scratch;
  return std::ranges::any_of(derivation.columns, [&](const Column& column) {
    return chooses(diagram, column.value) || reads_elsewhere(diagram, column.value);
  });
}

// Returns the capacity of one memory of the level together with the memories below it.
double room_below(const Hardware& hardware, std::size_t level) {
  const auto& memory = hardware.levels[level];
  const double here = memory.capacity ? memory.capacity->value : memory.room();
  if (level + 1 == hardware.levels.size()) return here;
  const auto& below = hardware.levels[level + 1];
  const double each = room_below(hardware, level + 1);
  return here + (below.shared ? each : each * static_cast<double>(below.count));
}

}  // namespace

LowerBound lower_bound(const Derivation& derivation, double room, bool in_values, double memories) {
  LowerBound made{compulsory(derivation, in_values), "each input is read once and each output written once"};
  if (may_leave_out(derivation)) made.why += ", if all of them are needed";
  const auto product = only_product(derivation);
  const auto products = std::ranges::count_if(
      derivation.columns, [&](const Column& column) { return multiplies_and_adds(derivation.scratch, column); });
  if (products > 1) made.why += "; no larger bound is known for fused products";
  if (!product) return made;
  const double one = narrowest(derivation, *product, in_values), held = room / one;
  const double values = 2 * product->m * product->n * product->k / std::sqrt(held);
  const double moved = (product->times * values - 2 * held * memories) * one;
  if (moved > made.moved) made = {moved, "2mnk/sqrt(M) - 2M of a matrix product"};
  return made;
}

namespace {

// Returns the largest number of children that may read each other's memory. Together they are one memory.
std::int64_t most_siblings(const Hardware& hardware, std::size_t level) {
  std::int64_t most = 1;
  for (const auto& sibling : hardware.siblings) {
    if (sibling.level != hardware.levels[level].name) continue;
    if (sibling.largest) most = std::max(most, *sibling.largest);
    for (const auto& [count, rate] : sibling.bandwidth) most = std::max(most, count);
  }
  return std::min(most, hardware.total(level));
}

}  // namespace

LowerBound lower_bound(const Derivation& derivation, const Hardware& hardware) {
  constexpr std::size_t level = 1;
  const auto& memory = hardware.levels[level];
  const auto siblings = most_siblings(hardware, level);
  const auto memories = (hardware.total(level) + siblings - 1) / siblings;
  auto made = lower_bound(derivation, room_below(hardware, level) * static_cast<double>(siblings), memory.in_values,
                          static_cast<double>(memories));
  if (!made.why.starts_with("2mnk")) return made;
  if (memories > 1) made.why += fmt::format(", with 2M for each of {} memories", memories);
  if (siblings > 1) made.why += fmt::format(" of {} {}s that read each other's memory", siblings, memory.unit);
  if (level + 1 < hardware.levels.size()) made.why += ", where M includes the memories below";
  return made;
}

}  // namespace napkin
