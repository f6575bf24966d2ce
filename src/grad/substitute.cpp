// Rebuilds an expression with other indices in place of some wires.
#include "grad/substitute.hpp"

#include <algorithm>

#include "diagram/match.hpp"

namespace napkin::grad {
namespace {

ExprId apply(Diagram& diagram, std::string_view function, std::vector<ExprId> arguments) {
  return diagram.intern(Apply{find_pointwise(function), std::move(arguments)});
}

bool binds_one_of(const Reduce& reduce, WireId wire) {
  return std::ranges::find(reduce.over, wire) != reduce.over.end();
}

// The places that apply below a reduction. Its own wires are not replaced, and are renamed if a replacement reads them.
Places below(Diagram& diagram, Reduce& reduce, const Places& places) {
  Places inner;
  const auto inside = free_wires(diagram, reduce.body);
  for (const auto& [wire, index] : places)
    if (!binds_one_of(reduce, wire) && std::ranges::binary_search(inside, wire)) inner[wire] = index;
  std::set<WireId> read;
  for (const auto& [wire, index] : inner)
    for (const auto& term : index.terms) read.insert(term.first);
  for (auto& wire : reduce.over) {
    if (!read.contains(wire)) continue;
    const auto other = fresh_wire(diagram, wire);
    inner[wire] = place(other);
    wire = other;
  }
  std::ranges::sort(reduce.over);
  return inner;
}

// (n * a + r) / n is a where r stays below n at all sizes: where it is the place within a block.
Index divided(const Diagram& diagram, const Index& index) {
  Index whole{{}, 0, 1};
  auto most = index.offset;
  for (const auto& [wire, factor] : index.terms) {
    const auto size = diagram.size(wire);
    if (factor % index.divisor == 0) {
      whole.terms.emplace_back(wire, factor / index.divisor);
    } else if (factor > 0 && size && diagram.at(diagram.at(wire).axis).span == nowhere) {
      most += factor * (*size - 1);
    } else {
      return index;
    }
  }
  return index.divisor > 1 && index.offset >= 0 && most < index.divisor ? whole : index;
}

}  // namespace

Index place(WireId wire) { return {{{wire, 1}}, 0, 1}; }

WireId fresh_wire(Diagram& diagram, WireId like) {
  diagram.wires.push_back(diagram.at(like));
  return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
}
WireId fresh_wire(Diagram& diagram, const std::string& axis, std::int64_t size) {
  diagram.axes.push_back({axis, size, nowhere});
  diagram.wires.push_back({{static_cast<std::uint32_t>(diagram.axes.size() - 1)}, axis});
  return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
}

Index substituted(const Index& index, const Places& places) {
  std::map<WireId, std::int64_t> terms;
  Index made{{}, index.offset, index.divisor};
  for (const auto& [wire, factor] : index.terms) {
    const auto found = places.find(wire);
    const auto instead = found == places.end() ? place(wire) : found->second;
    made.offset += factor * instead.offset;
    for (const auto& [other, own] : instead.terms) terms[other] += factor * own;
  }
  for (const auto& term : terms)
    if (term.second != 0) made.terms.push_back(term);
  return made;
}

ExprId number_of(Diagram& diagram, const Index& index) {
  std::optional<ExprId> sum;
  const auto add = [&](ExprId term, bool minus) {
    if (sum) {
      sum = apply(diagram, minus ? "-" : "+", {*sum, term});
    } else {
      sum = minus ? apply(diagram, "neg", {term}) : term;
    }
  };
  const auto number = [&](std::int64_t value) { return diagram.intern(Constant{static_cast<double>(value)}); };
  for (const auto& [wire, factor] : index.terms) {
    const auto size = factor < 0 ? -factor : factor;
    const auto at = diagram.intern(Position{wire});
    add(size == 1 ? at : apply(diagram, "*", {number(size), at}), factor < 0);
  }
  if (index.offset != 0 || !sum) add(number(index.offset < 0 ? -index.offset : index.offset), index.offset < 0);
  return *sum;
}

ExprId substituted(Diagram& diagram, ExprId id, const Places& places) {
  if (places.empty()) return id;
  auto node = diagram.at(id).node;
  return match(
      node,
      [&](Position& position) {
        const auto found = places.find(position.wire);
        return found == places.end() ? id : number_of(diagram, found->second);
      },
      [&](Access& access) {
        for (auto& index : access.at) index = divided(diagram, substituted(index, places));
        return diagram.intern(access);
      },
      [&](Apply& apply) {
        for (auto& argument : apply.arguments) argument = substituted(diagram, argument, places);
        return diagram.intern(apply);
      },
      [&](Cast& cast) {
        cast.value = substituted(diagram, cast.value, places);
        return diagram.intern(cast);
      },
      [&](Reduce& reduce) {
        reduce.body = substituted(diagram, reduce.body, below(diagram, reduce, places));
        return diagram.intern(reduce);
      },
      [&](Constant&) { return id; }, [&](Size&) { return id; });
}

ExprId replaced(Diagram& diagram, ExprId id, const std::map<ExprId, ExprId>& by) {
  if (const auto found = by.find(id); found != by.end()) return found->second;
  auto node = diagram.at(id).node;
  if (auto* apply = std::get_if<Apply>(&node)) {
    for (auto& argument : apply->arguments) argument = replaced(diagram, argument, by);
  } else if (auto* cast = std::get_if<Cast>(&node)) {
    cast->value = replaced(diagram, cast->value, by);
  } else if (auto* reduce = std::get_if<Reduce>(&node)) {
    reduce->body = replaced(diagram, reduce->body, by);
  } else {
    return id;
  }
  return diagram.intern(std::move(node));
}

}  // namespace napkin::grad
