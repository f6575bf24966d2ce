// The figures of one choice of sizes, or bounds of them.
#pragma once

#include <limits>
#include <span>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

constexpr std::size_t all_levels = std::numeric_limits<std::size_t>::max();

// `sizes` are by split of the shape's partition. `figures` is reused between calls, so that nothing is allocated.
void evaluate(const CostModel&, std::span<const std::int64_t> sizes, Figures& figures);
// These compute what a search compares, with memory only in what its level counts, values or bytes. evaluate_compared()
// computes all of it. bound_memory() computes memory only, as a lower bound for all larger sizes. bound_transfers()
// computes groups, and transfers, operations and steps as lower bounds for all smaller sizes.
void evaluate_compared(const CostModel&, std::span<const std::int64_t> sizes, Figures& figures);
// The number of groups is that of the sizes `most`, which have the fewest. Only levels down to `last` are computed.
void bound_memory(const CostModel&, std::span<const std::int64_t> sizes, std::span<const std::int64_t> most,
                  Figures& figures, std::size_t last = all_levels);
void bound_memory_at(const CostModel&, std::size_t level, std::span<const std::int64_t> sizes, Figures& figures);
// `held` belongs to the smallest sizes, for which masks let the smallest share of pieces run. If `grains` are given,
// all smaller sizes are multiples of them, and no deeper split cuts pieces further. A grain equals its size if there is
// no other size.
void bound_transfers(const CostModel&, std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                     std::span<const std::int64_t> grains = {});

}  // namespace napkin
