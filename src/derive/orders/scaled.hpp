// Scales of blocks that multiply an operand before the sum, where a format of matrix units holds every such product.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin::orders {

// A diagram in which the sums of one statement have scaled operands.
struct ScaledOperands {
  Diagram diagram;                // with its other sums in blocks
  std::vector<std::string> made;  // the operands, each a statement of its own
  double operations = 0, values = 0;
};
// None if rule S10 took no sum of the statement in blocks, or if no format holds the products exactly. Every axis must
// have a size.
std::optional<ScaledOperands> scaled_operands(const Diagram& in_blocks, const std::string& statement);

// The first of the formats of matrix units that has every product of values of these formats, apart from products that
// are no normal numbers of f32. `preferred` comes before all others, unless only inputs may have it. None if no format
// has.
std::optional<Datatype> holds_products(const std::vector<Datatype>& factors, std::optional<Datatype> preferred);

}  // namespace napkin::orders
