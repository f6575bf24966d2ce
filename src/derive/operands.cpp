#include "derive/operands.hpp"

#include <algorithm>

#include "diagram/contains.hpp"

namespace napkin {
namespace {

using Wires = std::vector<WireId>;

bool within(const Wires& some, const Wires& all) {
  return std::ranges::all_of(some, [&](WireId wire) { return contains(all, wire); });
}

// Whether each operand has a wire of the result that the other lacks, and both have a wire that is summed.
bool is_matrix_product(const Diagram& diagram, const Column& column, const Wires& a, const Wires& b) {
  const auto& kept = diagram.at(column.output).wires;
  const auto alone = [&](const Wires& one, const Wires& other) {
    return std::ranges::any_of(kept, [&](WireId wire) { return contains(one, wire) && !contains(other, wire); });
  };
  const auto summed = [&](WireId wire) { return contains(a, wire) && contains(b, wire); };
  return alone(a, b) && alone(b, a) && std::ranges::any_of(column.over, summed);
}

}  // namespace

std::optional<TwoOperands> two_operands(const Diagram& diagram, const Column& column,
                                        const std::vector<ExprId>& factors) {
  if (!column.fold || column.fold->combine->role != Role::add) return std::nullopt;
  std::vector<Wires> wires;
  for (const auto factor : factors) wires.push_back(free_wires(diagram, factor));
  std::optional<TwoOperands> best;
  std::size_t fewest = 0;
  for (std::size_t scaled = 0; scaled < factors.size(); ++scaled)
    for (std::size_t read = 0; read < factors.size(); ++read) {
      if (!std::holds_alternative<Access>(diagram.at(factors[read]).node)) continue;
      if (!is_matrix_product(diagram, column, wires[scaled], wires[read])) continue;
      TwoOperands made{{}, factors[read]};
      for (std::size_t i = 0; i < factors.size(); ++i)
        if (i != read && within(wires[i], wires[scaled])) made.computed.push_back(factors[i]);
      if (made.computed.size() + 1 != factors.size() || (best && fewest <= wires[scaled].size())) continue;
      best = std::move(made), fewest = wires[scaled].size();
    }
  return best;
}

}  // namespace napkin
