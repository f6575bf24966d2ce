// Finds which wires of a statement are in scope at the same time and so need different names.
#include "grad/axes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::grad {
namespace {

using Meetings = std::vector<std::vector<WireId>>;

void add_meetings(const Diagram& diagram, ExprId id, Meetings& all) {
  const auto& node = diagram.at(id).node;
  if (const auto* apply = std::get_if<Apply>(&node))
    for (const auto argument : apply->arguments) add_meetings(diagram, argument, all);
  if (const auto* cast = std::get_if<Cast>(&node)) add_meetings(diagram, cast->value, all);
  const auto* reduce = std::get_if<Reduce>(&node);
  if (!reduce) return;
  auto here = reduce->over;
  for (const auto wire : free_wires(diagram, reduce->body))
    if (std::ranges::find(here, wire) == here.end()) here.push_back(wire);
  all.push_back(here);
  add_meetings(diagram, reduce->body, all);
}

}  // namespace

AxisNames::AxisNames(Backward& all) : all_(all) {}

// The axes of the file keep their names; those that the algebra added get names when they are first used.
std::string AxisNames::name(AxisId axis, std::size_t which) {
  auto& names = names_[axis];
  const bool of_file = all_.names.contains(all_.diagram.at(axis).name) && all_.diagram.at(axis).span != nowhere;
  while (names.size() <= which) {
    if (names.empty() && of_file) {
      names.push_back(all_.diagram.at(axis).name);
      continue;
    }
    const auto made = all_.unused(all_.diagram.at(axis).name);
    const auto size = names.empty() ? std::to_string(all_.diagram.at(axis).size.value()) : names.front();
    declarations_.push_back(fmt::format("axis {} = {}", made, size));
    names.push_back(made);
  }
  return names[which];
}

Diagram AxisNames::named(const Statement& statement) {
  Diagram made = all_.diagram;
  Meetings meetings{made.at(statement.output).wires};
  for (const auto wire : free_wires(made, statement.value))
    if (std::ranges::find(meetings[0], wire) == meetings[0].end()) meetings[0].push_back(wire);
  add_meetings(made, statement.value, meetings);
  std::map<WireId, std::size_t> chosen;
  for (const auto& here : meetings) {
    for (const auto wire : here) {
      if (chosen.contains(wire)) continue;
      std::set<std::size_t> taken;
      for (const auto& other : meetings)
        if (std::ranges::find(other, wire) != other.end())
          for (const auto neighbour : other)
            if (chosen.contains(neighbour) && made.at(neighbour).axis == made.at(wire).axis)
              taken.insert(chosen.at(neighbour));
      std::size_t which = 0;
      while (taken.contains(which)) ++which;
      chosen[wire] = which;
    }
  }
  for (const auto& [wire, which] : chosen) {
    const auto axis = made.at(wire).axis;
    made.wires[wire.index].name = name(axis, which);
    made.axes[axis.index].name = name(axis, 0);
  }
  return made;
}

}  // namespace napkin::grad
