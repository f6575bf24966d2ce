#include "derive/split_wire.hpp"

#include <algorithm>

namespace napkin {

WireId add_wire(Diagram& diagram, std::string name, std::int64_t size) {
  while (find_wire(diagram, name)) name += "_";
  diagram.axes.push_back({name, size, {}});
  diagram.wires.push_back({AxisId{static_cast<std::uint32_t>(diagram.axes.size() - 1)}, name});
  return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
}

Index divided(const Index& index, const SplitWire& split) {
  const bool alone = index.terms.size() == 1 && index.terms[0].first == split.whole && index.offset == 0;
  if (alone && index.terms[0].second == 1 && index.divisor % split.length == 0 && index.divisor > 1)
    return {{{split.outer, 1}}, 0, index.divisor / split.length};
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
