// Expressions with something else in places: wires by sums of wires, arrays and whole expressions by expressions.
#pragma once

#include <map>
#include <set>

#include "napkin/diagram.hpp"

namespace napkin::grad {

using Places = std::map<WireId, Index>;  // an index without a divisor for each wire

// Under a reduction that binds a wire of a replacement, that wire is renamed.
ExprId substituted(Diagram&, ExprId, const Places&);
Index substituted(const Index&, const Places&);

// Every expression that `by` has, by what it says.
ExprId replaced(Diagram&, ExprId, const std::map<ExprId, ExprId>& by);

// A new wire of the same axis, or of a new one.
WireId fresh_wire(Diagram&, WireId like);
WireId fresh_wire(Diagram&, const std::string& axis, std::int64_t size);

Index place(WireId);                       // the wire itself
ExprId number_of(Diagram&, const Index&);  // without a divisor, as a number

}  // namespace napkin::grad
