// Queries on indices: the wires that they depend on.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// Whether a step along the wire changes the index, or any of the indices.
bool moves(const Index&, WireId);
bool moves(const std::vector<Index>&, WireId);

// The wire of an index that is just the position of one wire.
std::optional<WireId> plain_wire(const Index&);

// An access with the wires in its indices renamed.
using Renaming = std::map<WireId, WireId>;
Access renamed(Access, const Renaming&);
// Maps the wires of the array to those that it is read at; none if an index is not a single wire, or if two are the
// same.
std::optional<Renaming> renaming(const Diagram&, const Access&);

}  // namespace napkin
