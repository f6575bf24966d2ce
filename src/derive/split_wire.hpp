// Splits a wire in two: `x` becomes `length * x_part + x_inside`.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

struct SplitWire {
  WireId whole, outer, inside;
  std::int64_t length = 1;  // positions of the inside wire
};

// A new wire with its own axis; its name gets underscores until it is unique.
WireId add_wire(Diagram&, std::string name, std::int64_t size);
// A new wire of an existing axis.
WireId add_wire(Diagram&, std::string name, AxisId);
// The same place as an index of the two wires.
Index divided(const Index&, const SplitWire&);
// The same position as an expression.
ExprId position(Diagram&, const SplitWire&);

}  // namespace napkin
