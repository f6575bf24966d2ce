// What the instructions of products accumulate in: the sums themselves, or partial sums with fewer bits, which are
// promoted, that is, added to the sums in f32 after some products.
#pragma once

#include <string>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Declares partial sums, all of them 0, and sets them to 0 again.
void declare_partial_sums(FragmentPage&, const Product&);
void clear_partial_sums(FragmentPage&, const Product&);
// Adds partial sums to the sums; prints nothing for a product without them.
void promote(FragmentStatements&, const Product&);
// The array that the product's instructions accumulate in.
std::string accumulators(const FragmentPage&, const Product&);

}  // namespace napkin
