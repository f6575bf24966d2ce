// Sums whose constant factors wait outside: `sum[d](Q * K / sqrt(size(d)))` is `sum[d](Q * K) / sqrt(size(d))`.
#pragma once

#include "derive/trace.hpp"

namespace napkin {

// The expression with every sum in it rewritten so; the steps join `trace`.
ExprId invariants_outside(Diagram&, ExprId, std::vector<Rewriting>& trace, ArrayId of);

}  // namespace napkin
