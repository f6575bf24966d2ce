// Regions of two wires whose conditions compare them in one direction, as x <= q and x > q - w do. For a row of pieces
// of each wire, a condition depends on one number that grows linearly along both rows. So the pairs of pieces that pass
// are counted like lattice points below a line, without visiting them.
#pragma once

#include <optional>

#include "cost/regions/region.hpp"

namespace napkin {

// Returns none for regions of another kind.
std::optional<std::int64_t> sum_by_rows(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                                        const Footprints&);

// The number of pairs 0 <= i < n and 0 <= j < m with a * i + b * j <= most, for a and b that are not negative. The
// range of the four together must be below 2^50.
std::int64_t pairs_up_to(std::int64_t most, std::int64_t a, std::int64_t n, std::int64_t b, std::int64_t m);

}  // namespace napkin
