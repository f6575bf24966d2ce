// Products of a warpgroup: the second operand is read in place from shared memory, the first one from shared memory or
// registers, and sums are in registers once the warpgroup has waited for them.
#pragma once

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Declares the operands in registers and partial sums outside of the loop in whose iterations they are filled.
void declare_product_ahead(FragmentPage&, const Product&);
// Prints the initial sums, the operands in registers, and the partial sums.
void prepare_product(FragmentStatements&, const Product&);
// Prints everything else. Instead, issue_product() starts the instructions, and finish_product() finishes the sums
// after the wait.
void run_product(FragmentStatements&, const Product&);
void issue_product(FragmentStatements&, const Product&);
void finish_product(FragmentStatements&, const Product&);
// Tells the compiler that the sums may change; needed around products that stay in flight.
void hold_sums(FragmentPage&, const Product&);

}  // namespace napkin
