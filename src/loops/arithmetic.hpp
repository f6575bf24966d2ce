// In which numbers a nest is run.
#pragma once

#include "napkin/loops.hpp"

namespace napkin {

enum class Arithmetic : std::uint8_t {
  stored,   // doubles, rounded to the type of the buffer that they are stored in, and at casts
  exact,    // doubles throughout: no store and no cast rounds
  formats,  // as kernels compute: every operation rounds to f32, or to f64 where a column gives or reads f64 or i32
};

// Runs a nest as the interpret of loops.hpp does, passing over what masks allow.
Count interpret(const LoopNest&, const Hardware&, Values& values, Arithmetic);

// Where a nest that was made for some sizes of the axes is run at those of `diagram`: pieces and buffers stay, as in
// code that was printed.
LoopNest at_sizes(LoopNest, const Diagram& diagram);

// Axes that a nest holds for up to the size that it was made for: where a buffer takes all of one.
std::vector<AxisId> whole_axes(const LoopNest&);

}  // namespace napkin
