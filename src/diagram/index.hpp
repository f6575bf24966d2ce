// What an index reads along.
#pragma once

#include <optional>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// Whether a step along the wire is one of the index, or of any of them.
bool moves(const Index&, WireId);
bool moves(const std::vector<Index>&, WireId);

// The wire that an index is, where it is just one wire's position.
std::optional<WireId> plain_wire(const Index&);

}  // namespace napkin
