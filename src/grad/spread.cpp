// Spreads a factor along one wire of an equation between indices into an array of its own.
#include "grad/spread.hpp"

#include <algorithm>

#include "diagram/index.hpp"
#include "grad/reads.hpp"
#include "grad/substitute.hpp"

namespace napkin::grad {
namespace {

bool contains(const std::vector<WireId>& wires, WireId wire) { return std::ranges::find(wires, wire) != wires.end(); }

// Removes the factors that vary along a wire from a product, and returns them.
Product taken(Algebra& algebra, Product& product, WireId wire) {
  Product part;
  for (const auto& [factor, exponent] : Product(product).factors) {
    if (!algebra.free(factor).contains(wire)) continue;
    part.factors[factor] = exponent;
    product.factors.erase(factor);
  }
  return part;
}

// The longest summed wire of the index. None if a factor that varies along it also varies along another wire of the
// index.
std::optional<WireId> wire_to_spread(Algebra& algebra, const Index& index, const Terms& terms) {
  const auto& diagram = algebra.diagram();
  std::optional<WireId> longest;
  for (const auto& [wire, factor] : index.terms) {
    if (!diagram.size(wire)) return std::nullopt;
    if (contains(terms.over, wire) && (!longest || diagram.size(wire) > diagram.size(*longest))) longest = wire;
  }
  if (!longest || index.divisor != 1 || index.terms.size() < 2) return std::nullopt;
  auto rest = terms.product;
  const auto varies = algebra.free(taken(algebra, rest, *longest));
  for (const auto& [wire, factor] : index.terms)
    if (wire != *longest && varies.contains(wire)) return std::nullopt;
  return longest;
}

// A value that is spread along a wire, and the wires and places at which the new array is read.
struct Part {
  std::string name;
  Terms value;
  WireId wire;
  std::vector<WireId> wires;
  std::vector<Index> places;
  std::ptrdiff_t at = 0;  // the position of the wire among the array's wires
};

// If the factor is a plain read of an array along all of the wire, the whole array is spread; its other wires may be
// read anywhere.
std::optional<Part> whole_array(Reverse& all, const Product& value, WireId wire) {
  const auto& diagram = all.algebra.diagram();
  if (value.factors.size() != 1 || value.factors.begin()->second != 1) return std::nullopt;
  const auto* access = std::get_if<Access>(&diagram.at(value.factors.begin()->first).node);
  if (!access) return std::nullopt;
  const auto& array = diagram.at(access->array);
  const auto before = all.laid.find(access->array);
  Part part;
  part.name = before == all.laid.end() ? array.name + "_spread" : array.name;
  part.value = before == all.laid.end() ? Terms{{1, {{all.algebra.read(access->array), 1}}}, {}} : before->second;
  bool found = false;
  for (std::size_t i = 0; i < array.wires.size(); ++i) {
    const auto& index = access->at[i];
    const bool varies = moves(index, wire);
    if (varies && (found || index != place(wire) || diagram.size(array.wires[i]) != diagram.size(wire)))
      return std::nullopt;
    if (varies) {
      found = true;
      part.wire = array.wires[i];
      part.at = static_cast<std::ptrdiff_t>(i);
    } else {
      part.wires.push_back(array.wires[i]);
      part.places.push_back(index);
    }
  }
  return part;
}

Part part_of(Reverse& all, const Product& value, WireId wire) {
  if (auto part = whole_array(all, value, wire)) return *part;
  Part part;
  part.name = "part_spread";
  part.value = {value, {}};
  part.wire = wire;
  for (const auto one : all.algebra.free(value)) {
    if (one == wire) continue;
    part.wires.push_back(one);
    part.places.push_back(place(one));
  }
  part.at = static_cast<std::ptrdiff_t>(part.wires.size());
  return part;
}

}  // namespace

void open(Algebra& algebra, const std::vector<WireId>& taken, Terms& terms) {
  auto& diagram = algebra.diagram();
  for (const auto& [factor, exponent] : Product(terms.product).factors) {
    const auto node = diagram.at(factor).node;
    const auto* reduce = std::get_if<Reduce>(&node);
    if (!reduce || exponent != 1 || reduce->reduction->combine->role != Role::add) continue;
    auto rest = times(terms.product, {1, {{factor, -1}}});
    const auto free = algebra.free(rest);
    Places renamed;
    for (const auto wire : reduce->over) {
      const bool met = free.contains(wire) || contains(terms.over, wire) || contains(taken, wire);
      const auto own = met ? fresh_wire(diagram, wire) : wire;
      if (met) renamed[wire] = place(own);
      terms.over.push_back(own);
    }
    terms.product = times(rest, algebra.single(Sum(algebra.sum_of(substituted(diagram, reduce->body, renamed)))));
  }
}

bool spread(Reverse& all, const Index& index, WireId at, Terms& terms) {
  auto& algebra = all.algebra;
  auto& diagram = algebra.diagram();
  const auto wire = wire_to_spread(algebra, index, terms);
  auto read = wire ? without(index, *wire, at) : Index{};
  const auto reached = wire ? range(diagram, read) : std::nullopt;
  if (!reached) return false;
  const auto factor = std::ranges::find(index.terms, *wire, [](const auto& term) { return term.first; })->second;
  auto part = part_of(all, taken(algebra, terms.product, *wire), *wire);
  const auto axis = diagram.at(diagram.at(*wire).axis).name + "_spread";
  const auto laid = fresh_wire(diagram, axis, reached->second - reached->first + 1);
  const auto from = number_of(diagram, {{{part.wire, factor}}, -reached->first, 1});
  part.value.product.factors[algebra.apply("==", {from, diagram.intern(Position{laid})})] = 1;
  part.value.over.push_back(part.wire);
  read.offset -= reached->first;
  part.wires.insert(part.wires.begin() + part.at, laid);
  part.places.insert(part.places.begin() + part.at, read);
  const auto array = all.stored(part.name, part.wires, algebra.reduced(part.value.over, part.value.product));
  all.laid[array] = part.value;
  terms.product = times(terms.product, {1, {{diagram.intern(Access{array, part.places}), 1}}});
  std::erase(terms.over, *wire);
  return true;
}

}  // namespace napkin::grad
