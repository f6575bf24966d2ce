// A draft: a diagram in which every binding of an axis is a separate wire, and the pairs of wires that meet.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

struct Draft {
  Diagram diagram;  // its wires are uses; its expressions are trees without sharing
  std::vector<std::pair<WireId, WireId>> meetings;
  std::vector<std::vector<WireId>> bound;  // by statement: the uses that its reductions bind, in order of the text
  std::set<AxisId> assumed;                // axes whose sizes indices contain as numbers

  WireId new_use(AxisId axis) {
    diagram.wires.push_back({axis, diagram.at(axis).name});
    return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
  }
};

// Joins the uses that meet into wires, names them (`d`, `d'`) in order of appearance, and shares equal expressions.
Diagram join(const Draft&);

}  // namespace napkin
