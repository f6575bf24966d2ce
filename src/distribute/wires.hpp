// Products of two arrays as a nest has them, and what of them a machine's matrix units take.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagram/contains.hpp"
#include "loops/pieces.hpp"
#include "napkin/distribute.hpp"

namespace napkin {

using Extents = Lengths;

// The column as a product that an instruction takes: a sum over one long wire of two arrays, each of which carries one
// other long wire that the result has. Its operands stand in the order of the text. By instructions of a warp, or of a
// warpgroup of so many.
std::optional<Product> as_product(const Diagram&, const Compute&, const Extents&, const Hardware&, int warpgroup);
// Where a column sums products of two arrays along more wires than that: the wires of which it is such a product at
// each position. The longest of those that are summed, and that either array has alone, are left.
std::vector<WireId> beside_product(const Diagram&, const Compute&, const Extents&, const Hardware&, int warpgroup);

}  // namespace napkin
