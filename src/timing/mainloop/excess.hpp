// Shapes that instructions or copies do not have.
#pragma once

#include <optional>
#include <string_view>

#include "loops/pieces.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

constexpr std::int64_t longest_box = 256;  // positions of a dimension that one TMA copy has

// The wires longer than 1 that a column runs over: those of its result, those that it folds, and those of its value.
std::vector<WireId> long_wires(const Diagram&, const Column&, const std::vector<WireId>& of_value, const Lengths&);
// If exactly one of two wires is folded, lanes may fold it by shuffles, and the other one runs along the columns of
// fragments. `rows` runs along their rows.
std::optional<WireId> shuffled_wire(const Column&, const std::vector<WireId>& wires, WireId rows, const Lengths&);

struct Excess {
  std::string_view of, why;
};
// Why no block can run the mainloop on any core, and which capacity is exceeded; none if a block may run. A matrix
// has two wires, so that an iteration has one position of all others. An instruction of a warpgroup makes all columns
// of a contraction's piece, and its tiles are copied by TMA.
std::optional<Excess> excess_of(const Mainloop&);

}  // namespace napkin
