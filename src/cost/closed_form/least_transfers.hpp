// The least of a posynomial H over the sizes of pieces, where a posynomial M may not exceed a room.
//
// To leading order it is one more monomial, alpha * M^-beta: by the inequality of the arithmetic and the geometric mean
// where that answers, else by solving the geometric program for numbers.
#pragma once

#include <optional>

#include "cost/closed_form/posynomial.hpp"

namespace napkin {

struct Leading {
  Monomial alpha;
  double beta = 0;
};

// The least of `terms` (each with pieces in its denominator) where the one monomial `held` is the room. None where the
// terms do not determine it.
std::optional<Leading> least_by_means(const Posynomial& terms, const Monomial& held);

// The same for any `held`, with numbers: pieces lie between 1 and `largest`, symbols that are no pieces are already
// replaced by their values. `beta` is the exponent at that room. None where nothing fits.
struct NumericLeast {
  double value = 0, beta = 0;
  Assignment pieces;
};
std::optional<NumericLeast> least_by_numbers(const Posynomial& terms, const Posynomial& held, double room,
                                             const Assignment& largest);

}  // namespace napkin
