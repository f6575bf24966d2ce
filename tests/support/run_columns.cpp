#include "support/run_columns.hpp"

#include <array>
#include <limits>

#include "diagram/match.hpp"

namespace napkin::testing {

std::vector<double>& ColumnRunner::values(ArrayId array) {
  auto& all = arrays.at(array.index);
  if (all.empty()) {
    std::int64_t size = 1;
    for (const auto wire : diagram.at(array).wires) size *= diagram.size(wire).value();
    all.assign(static_cast<std::size_t>(size), std::numeric_limits<double>::quiet_NaN());
  }
  return all;
}

ColumnRunner::Range ColumnRunner::range(WireId wire) const {
  const auto found = ranges.find(wire);
  return found == ranges.end() ? Range{0, diagram.size(wire).value()} : found->second;
}

std::size_t ColumnRunner::place(const Access& access, const Positions& at) const {
  const auto& wires = diagram.at(access.array).wires;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < wires.size(); ++i) {
    std::int64_t index = access.at[i].offset;
    for (const auto& [wire, coefficient] : access.at[i].terms) index += coefficient * at.at(wire);
    place = place * diagram.size(wires[i]).value() + index / access.at[i].divisor;
  }
  return static_cast<std::size_t>(place);
}

double ColumnRunner::value(ExprId e, const Positions& at) {
  return match(
      diagram.at(e).node, [](const Constant& c) { return c.value; },
      [&](const Position& p) { return static_cast<double>(at.at(p.wire)); },
      [&](const Size& s) { return static_cast<double>(diagram.at(s.axis).size.value()); },
      [&](const Access& a) { return values(a.array).at(place(a, at)); },
      [&](const Apply& a) {
        std::array<double, 3> arguments{};
        for (std::size_t i = 0; i < a.arguments.size(); ++i) arguments[i] = value(a.arguments[i], at);
        return a.function->value(arguments.data());
      },
      [&](const Cast& c) { return value(c.value, at); }, [](const Reduce&) { return 0.0; });
}

template <class Visit>
void ColumnRunner::each(const std::vector<WireId>& wires, std::size_t depth, Positions& at, const Visit& visit) {
  if (depth == wires.size()) return visit();
  for (auto [i, end] = range(wires[depth]); i < end; ++i) {
    at[wires[depth]] = i;
    each(wires, depth + 1, at, visit);
  }
}

void ColumnRunner::update(const Column& column, Positions& at) {
  Access own{column.output, {}};
  for (const auto wire : diagram.at(column.output).wires) own.at.push_back({{{wire, 1}}, 0, 1});
  double result = 0;
  if (column.fold) {
    double sofar = column.fold->identity;
    each(column.over, 0, at, [&] {
      const std::array<double, 2> two = {sofar, value(column.value, at)};
      sofar = column.fold->combine->value(two.data());
    });
    own.array = column.carried.value_or(column.output);
    double old = column.carried ? values(own.array).at(place(own, at)) : column.fold->identity;
    if (column.repair) old *= value(*column.repair, at);
    const std::array<double, 2> two = {old, sofar};
    result = column.fold->combine->value(two.data());
    own.array = column.output;
  } else {
    result = value(column.value, at);
  }
  values(column.output).at(place(own, at)) = result;
}

void ColumnRunner::run(const Column& column) {
  Positions at;
  each(diagram.at(column.output).wires, 0, at, [&] { update(column, at); });
}

void ColumnRunner::run(const std::vector<Column>& columns) {
  for (const auto& column : columns) run(column);
}

void ColumnRunner::run(const std::vector<Step>& steps, const std::vector<std::int64_t>& sizes) {
  for (const auto& step : steps) {
    if (const auto* column = std::get_if<Column>(&step)) {
      run(*column);
      continue;
    }
    const auto& loop = std::get<Loop>(step);
    const auto [begin, end] = range(loop.wire);
    const auto outer = ranges;
    for (auto i = begin; i < end; i += sizes.at(loop.label)) {
      ranges[loop.wire] = {i, std::min(end, i + sizes.at(loop.label))};
      run(loop.body, sizes);
      ranges = outer;
    }
  }
}

}  // namespace napkin::testing
