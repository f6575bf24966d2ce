// The five kinds of columns; see kinds.hpp.
#include "derive/streams/kinds.hpp"

#include <algorithm>

#include "diagram/contains.hpp"
#include "diagram/index.hpp"

namespace napkin {
namespace {

Index plain(WireId wire) { return {{{wire, 1}}, 0, 1}; }

}  // namespace

ColumnKind Kinds::classify(const Column& column, Dependence depends) {
  const bool keeps = contains(scratch_.at(column.output).wires, wire_);
  if (column.carried && states_.contains(*column.carried)) depends.state = true;
  if (contains(column.over, wire_)) return states_.insert(column.output), ColumnKind::reduction;
  if (keeps && depends.state) return mixed_.insert(column.output), ColumnKind::mixed;
  if (keeps || depends.piece) return pieces_.insert(column.output), ColumnKind::piece;
  if (depends.state) return states_.insert(column.output), ColumnKind::finish;
  return ColumnKind::free;
}

Dependence Kinds::of(const Access& access) const {
  return {moves(access.at, wire_), state(access.array) || mixed(access.array) || elsewhere(access)};
}

bool Kinds::elsewhere(const Access& access) const {
  if (!pieces_.contains(access.array)) return false;
  const auto& wires = scratch_.at(access.array).wires;
  for (std::size_t i = 0; i < wires.size(); ++i)
    if (wires[i] == wire_ && access.at[i] != plain(wire_)) return true;
  return false;
}

bool Kinds::whole(const Access& access) const {
  const auto& wires = scratch_.at(access.array).wires;
  for (std::size_t i = 0; i < wires.size(); ++i)
    if (access.at[i] != plain(wires[i])) return false;
  return true;
}

}  // namespace napkin
