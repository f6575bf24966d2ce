// Sums under an equation between positions, where one side of it can be laid out so that the other is read at a place.
#pragma once

#include "grad/algebra.hpp"
#include "grad/reverse.hpp"

namespace napkin::grad {

// sum[u](a * sum[o](b)) as sum[u, o](a * b), with another wire for o where that is taken.
void open(Algebra&, const std::vector<WireId>& taken, Terms&);

// Summed where n * u + rest = at: what varies along u is stored at n * u, with zeros between and on both sides, and
// read at `at - rest`. u is not summed any more. False, and nothing, where it varies along the rest too or a size is
// unknown.
bool spread(Reverse&, const Index&, WireId at, Terms&);

}  // namespace napkin::grad
