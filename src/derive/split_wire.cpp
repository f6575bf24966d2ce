#include "derive/split_wire.hpp"

#include <algorithm>

namespace napkin {

namespace {

std::string unique(const Diagram& diagram, std::string name) {
  while (find_wire(diagram, name)) name += "_";
  return name;
}

}  // namespace

WireId add_wire(Diagram& diagram, std::string name, std::int64_t size) {
  name = unique(diagram, std::move(name));
  diagram.axes.push_back({name, size, {}});
  return add_wire(diagram, name, AxisId{static_cast<std::uint32_t>(diagram.axes.size() - 1)});
}

WireId add_wire(Diagram& diagram, std::string name, AxisId axis) {
  diagram.wires.push_back({axis, unique(diagram, std::move(name))});
  return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
}

Index divided(const Index& index, const SplitWire& split) {
  Index all{{}, index.offset, index.divisor};
  for (const auto& [wire, factor] : index.terms) {
    if (wire != split.whole) {
      all.terms.emplace_back(wire, factor);
      continue;
    }
    all.terms.emplace_back(split.outer, factor * split.length);
    all.terms.emplace_back(split.inside, factor);
  }
  std::ranges::sort(all.terms);
  return all;
}

ExprId position(Diagram& diagram, const SplitWire& split) {
  const auto apply = [&](std::string_view name, std::vector<ExprId> arguments) {
    return diagram.intern(Apply{find_pointwise(name), std::move(arguments)});
  };
  const ExprId outer = diagram.intern(Position{split.outer}), inside = diagram.intern(Position{split.inside});
  const ExprId length = diagram.intern(Constant{static_cast<double>(split.length)});
  return apply("+", {apply("*", {length, outer}), inside});
}

}  // namespace napkin
