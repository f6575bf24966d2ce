// Which wires an index reads along.
#include "diagram/index.hpp"

#include <algorithm>
#include <set>

namespace napkin {

bool moves(const Index& index, WireId wire) {
  return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
}
bool moves(const std::vector<Index>& at, WireId wire) {
  return std::ranges::any_of(at, [&](const Index& index) { return moves(index, wire); });
}

std::optional<WireId> plain_wire(const Index& index) {
  const bool plain = index.terms.size() == 1 && index.terms[0].second == 1 && index.offset == 0 && index.divisor == 1;
  return plain ? std::optional(index.terms[0].first) : std::nullopt;
}

Access renamed(Access read, const Renaming& to) {
  for (auto& index : read.at) {
    for (auto& [wire, factor] : index.terms)
      if (const auto found = to.find(wire); found != to.end()) wire = found->second;
    std::ranges::sort(index.terms);
  }
  return read;
}

std::optional<Renaming> renaming(const Diagram& diagram, const Access& read) {
  const auto& wires = diagram.at(read.array).wires;
  Renaming to;
  std::set<WireId> met;
  for (std::size_t i = 0; i < wires.size(); ++i) {
    const auto wire = plain_wire(read.at[i]);
    if (!wire || !met.insert(*wire).second) return std::nullopt;
    to[wires[i]] = *wire;
  }
  return to;
}

}  // namespace napkin
