// The arithmetic in which a nest runs.
#pragma once

#include "napkin/loops.hpp"

namespace napkin {

enum class Arithmetic : std::uint8_t {
  stored,   // doubles, rounded at casts and to the type of the buffer that they are stored in
  exact,    // doubles throughout: no store and no cast rounds
  formats,  // as kernels compute: every operation rounds to f32, or to f64 if its column gives or reads f64 or i32
};

// Runs a nest as the interpret of loops.hpp does, and skips all pieces that masks exclude.
Count interpret(const LoopNest&, const Hardware&, Values& values, Arithmetic);

// A nest that was made for other sizes of the axes, at the sizes of `diagram`. Pieces and buffers do not change, as in
// emitted code.
LoopNest at_sizes(LoopNest, const Diagram& diagram);

// Axes that some buffer holds whole. The nest is valid only up to the sizes of these axes that it was made for.
std::vector<AxisId> whole_axes(const LoopNest&);

}  // namespace napkin
