// The second phase: which columns are products for matrix units, and which wire runs along the rows of their fragments.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// A product sums over one long wire. It multiplies two arrays of which each has one other long wire, and the result has
// both. The operands are still in the order of the text, and only they, the instruction and the wire are known. Throws
// what keeps all columns from being products.
std::vector<Product> find_products(const Lowered&);

// The wire along rows. Every product has it, and every computed operand has it. If several wires fill warpgroups, the
// planned one is taken, else the first. A single warp also makes a product that lacks the wire: each warp makes all of
// it, and takes it as an operand of columns. Throws if there is no such wire, or if
// warpgroups cannot divide it.
WireId find_rows(const Lowered&, const std::vector<Product>&);

bool has_wire(const Diagram&, const Operand&, WireId);

}  // namespace napkin
