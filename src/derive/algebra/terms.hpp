// The parts of normal forms: sums of terms, each a product of powers of atoms and one exponential.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Term;
struct Moved;
using Sum = std::vector<Term>;
using Factors = std::vector<std::pair<ExprId, double>>;  // atoms with their powers, sorted by atom
// Conditions on positions, sorted. If no position satisfies them all, the guarded value counts for nothing, whatever
// its finished factors are.
using Guards = std::vector<ExprId>;

// coefficient * product of factors * exp(exponent). The `rounded` factors (and the exponential) are cast first.
struct Term {
  double coefficient = 1;
  Factors factors;
  Sum exponent;
  std::optional<Datatype> cast;
  Factors rounded;
  std::optional<Datatype> unrounded{};  // a cast that is omitted, because the term is one of several inside it
  Guards guards{};
  std::vector<Moved> moved;  // the casts that must commute with factors for the term to be valid
};
// The file casts `rounded * waiting`, but the term casts only `rounded`. Each of the two is one term.
struct Moved {
  Datatype type;
  Sum rounded, waiting;
};
bool equal(const Term&, const Term&);
bool equal(const Sum&, const Sum&);
// b = c * a for a positive c, if there is one.
std::optional<double> positive_ratio(const Sum& a, const Sum& b);

Sum as_factor(ExprId, std::vector<Moved> = {});  // the expression as a single factor
bool integer(double power);
Factors combined(const Factors&, const Factors&);  // the factors of a product
Factors powers(Factors, double power);             // all factors raised to a power
Guards together(const Guards&, const Guards&);
Term unguarded(Term);
Sum unguarded(Sum);
Term multiplied(const Term&, const Term&);
Sum add(const Sum&, const Sum&);
Sum scale(const Sum&, double factor);
bool trivial(const Term&);           // true if it multiplies by one
Sum times(const Sum&, const Term&);  // ignoring the casts of the factor; whatever moved was checked before
std::vector<Moved> moved_in(const Sum&);

}  // namespace napkin
