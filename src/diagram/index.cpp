// What an index reads along.
#include "diagram/index.hpp"

#include <algorithm>

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

}  // namespace napkin
