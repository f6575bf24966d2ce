// How long the pieces of a nest are, apart from where they are loaded and computed: that does not depend on sizes.
#pragma once

#include "napkin/loops.hpp"

namespace napkin {

// The extents of all buffers, from the sizes of groups and loops, and of axes that nothing splits. They hold for axes
// of any other length where something does.
void set_extents(LoopNest&);

// The same nest with pieces of other sizes: those of the partition's splits of the same kind, wire and level.
void resize(LoopNest&, const Partition&);

}  // namespace napkin
