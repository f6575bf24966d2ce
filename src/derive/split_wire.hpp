// A wire as two: `x` becomes `length * x_part + x_inside`.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

struct SplitWire {
  WireId whole, outer, inside;
  std::int64_t length = 1;  // of the inside
};

// A new wire of an axis of its own; its name gets underscores until it is unique.
WireId add_wire(Diagram&, std::string name, std::int64_t size);
// A new wire of an axis that exists.
WireId add_wire(Diagram&, std::string name, AxisId);
// The same place, by the two wires.
Index divided(const Index&, const SplitWire&);
// The same position as a number.
ExprId position(Diagram&, const SplitWire&);

}  // namespace napkin
