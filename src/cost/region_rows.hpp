// Regions along two wires whose conditions compare them in one direction, as x <= q and x > q - w do. Of a row of
// pieces of either wire, what a condition says depends on one number that grows evenly along both: so the pairs of
// pieces that pass are counted, as points below a line are, and none is looked at.
#pragma once

#include <optional>

#include "cost/region.hpp"

namespace napkin {

// None where a region is of another kind.
std::optional<std::int64_t> sum_by_rows(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                                        const Footprints&);

// How many pairs of 0 <= i < n and 0 <= j < m have a * i + b * j <= most, for a and b no less than zero. What the four
// span together is below 2^50.
std::int64_t pairs_up_to(std::int64_t most, std::int64_t a, std::int64_t n, std::int64_t b, std::int64_t m);

}  // namespace napkin
