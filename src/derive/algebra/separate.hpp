// Terms as products of what the piece determines and what finished reductions determine.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "derive/algebra/algebra.hpp"

namespace napkin {

struct Shift {
  ExprId base;
  double power;
  bool rounded;  // whether it is inside the term's cast
};
// u * v with u determined by the piece and v by finished reductions, and possibly shifts as further factors.
struct SeparatedTerm {
  Term piece, state;
  std::vector<Shift> shifts{};
  Guards guards{};
};
// If the term does not separate, the expression that mixes them.
std::variant<SeparatedTerm, ExprId> separate(Algebra&, const Term&);

// For a sum of products of pieces and finished reductions: the factor, the same at every position, that multiplies
// everything that varies with the piece.
std::optional<Factors> common_factor(const Algebra&, const Sum&);
// Whether a sum adds pieces and finished reductions, with no term that mixes them except by a factor common to all
// pieces.
bool is_shift(Algebra&, const Sum&);
// Treats exponentials that the piece alone determines as factors like any other.
Sum with_exponentials_as_factors(const Algebra&, Sum);

}  // namespace napkin
