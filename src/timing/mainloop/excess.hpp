// Shapes that instructions or copies do not have.
#pragma once

#include <optional>
#include <string_view>

#include "timing/mainloop/mainloop.hpp"

namespace napkin {

struct Excess {
  std::string_view of, why;
};
// Why no block can run the mainloop on any core, and which capacity is exceeded; none if a block may run. A matrix
// has two wires, so that an iteration has one position of all others. An instruction of a warpgroup makes all columns
// of a contraction's piece, and its tiles are copied by TMA.
std::optional<Excess> excess_of(const Mainloop&);

}  // namespace napkin
