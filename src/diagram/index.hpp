// What an index reads along.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// Whether a step along the wire is one of the index, or of any of them.
bool moves(const Index&, WireId);
bool moves(const std::vector<Index>&, WireId);

// The wire that an index is, where it is just one wire's position.
std::optional<WireId> plain_wire(const Index&);

// An access with other wires in its indices.
using Renaming = std::map<WireId, WireId>;
Access renamed(Access, const Renaming&);
// From an array's own wires to those that it is read at; none where an index is more than a wire, or two are the same.
std::optional<Renaming> renaming(const Diagram&, const Access&);

}  // namespace napkin
