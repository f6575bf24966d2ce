// The lengths of the pieces of a nest. The places where they are loaded and computed do not depend on them.
#pragma once

#include <optional>

#include "loops/pieces.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Sets the extents of all buffers from the sizes of groups and loops, and from the sizes of axes that no split divides.
// They stay valid for any other length of an axis that is split.
void set_extents(LoopNest&);

// The first wire along which a buffer is longer than the piece at a place of the nest, because the buffer outlives a
// loop around that place; none if there is no such wire.
std::optional<WireId> held_across(const LoopNest&, BufferId, const Lengths&);

// Changes the sizes of the pieces to those of the partition's splits of the same kind, wire and level.
void resize(LoopNest&, const Partition&);

}  // namespace napkin
