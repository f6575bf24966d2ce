// Equal products are computed once: finds arrays whose factors and sums are a part of a network.
#include <algorithm>

#include "derive/orders/form.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin::orders {
namespace {

// All arrays that an expression reads, with the factors of the network in place of its root.
void add_reads(const Diagram& diagram, ExprId e, ExprId root, const std::vector<ExprId>& factors,
               std::set<ArrayId>& reads) {
  const auto add = [&](ExprId of) {
    const auto all = arrays_read(diagram, of);
    reads.insert(all.begin(), all.end());
  };
  if (e == root) return void(std::ranges::for_each(factors, add));
  const auto& node = diagram.at(e).node;
  if (const auto* apply = std::get_if<Apply>(&node)) {
    for (const auto argument : apply->arguments) add_reads(diagram, argument, root, factors, reads);
  } else if (const auto* cast = std::get_if<Cast>(&node)) {
    add_reads(diagram, cast->value, root, factors, reads);
  } else {
    add(e);
  }
}

// Whether `e` is a factor of the network that the array does not contain yet; if so, it is added to the array's
// factors.
bool takes_factor(const Network& network, ExprId e, Existing& made) {
  for (std::size_t i = 0; i < network.factors.size(); ++i) {
    if (network.factors[i] != e || (made.factors >> i & 1) != 0) continue;
    made.factors |= FactorSet{1} << i;
    return true;
  }
  return false;
}

// The factors of a network that make up a product, each used once. None if a factor of the product is not in the
// network. A factor that is summed in the product must not be outside of the sums of the network.
std::optional<Existing> within(const Network& network, const Network& product, ArrayId array) {
  Existing made{0, array, {}, product.under};
  auto rest = network.outside;
  for (const auto e : product.factors)
    if (!takes_factor(network, e, made)) return std::nullopt;
  for (const auto e : product.outside) {
    if (takes_factor(network, e, made)) continue;
    const auto found = std::ranges::find(rest, e);
    if (found == rest.end()) return std::nullopt;
    made.outside.push_back(e), rest.erase(found);
  }
  for (const auto e : product.under)
    if (!contains(network.under, e)) return std::nullopt;
  return made.factors == 0 ? std::nullopt : std::optional(made);
}

bool has_its_wires(const Diagram& diagram, const Network& network, const Existing& existing) {
  const auto problem = network.problem(diagram);
  const auto left = left_of(problem, existing.factors);
  std::set<WireId> wires;
  for (std::size_t w = 0; w < network.wires.size(); ++w)
    if ((left >> w & 1) != 0) wires.insert(network.wires[w]);
  const auto& own = diagram.at(existing.array).wires;
  return std::set<WireId>(own.begin(), own.end()) == wires;
}

}  // namespace

std::set<ArrayId> needed_besides(const Diagram& diagram, std::size_t statement, const Network& network) {
  auto factors = network.factors;
  factors.insert(factors.end(), network.outside.begin(), network.outside.end());
  factors.insert(factors.end(), network.under.begin(), network.under.end());
  std::set<ArrayId> needed(diagram.outputs.begin(), diagram.outputs.end());
  for (auto i = diagram.statements.size(); i-- > 0;) {
    const auto& one = diagram.statements[i];
    if (!needed.contains(one.output)) continue;
    if (i == statement) {
      add_reads(diagram, one.value, network.root, factors, needed);
      continue;
    }
    const auto reads = arrays_read(diagram, one.value);
    needed.insert(reads.begin(), reads.end());
  }
  return needed;
}

std::vector<Existing> existing(Diagram& diagram, std::size_t statement, const Network& network,
                               const std::set<ArrayId>& arrays) {
  std::vector<Existing> all;
  for (std::size_t i = 0; i < statement; ++i) {
    const auto one = diagram.statements[i];
    if (!arrays.contains(one.output) || rounds(diagram, one)) continue;
    const auto product = network_of(diagram, one, network.of);
    if (!product || product->factors.empty()) continue;
    const auto found = within(network, *product, one.output);
    if (found && has_its_wires(diagram, network, *found) &&
        std::ranges::none_of(all, [&](const Existing& other) { return other.factors == found->factors; }))
      all.push_back(*found);
  }
  return all;
}

}  // namespace napkin::orders
