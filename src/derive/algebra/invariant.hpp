// Moves constant factors out of sums: `sum[d](Q * K / sqrt(size(d)))` is `sum[d](Q * K) / sqrt(size(d))`.
#pragma once

#include "derive/trace.hpp"

namespace napkin {

// The expression with every sum rewritten in this way; the steps are appended to `trace`.
ExprId invariants_outside(Diagram&, ExprId, std::vector<Rewriting>& trace, ArrayId of);

}  // namespace napkin
