// What normal forms consist of: sums of terms, each a product of powers of atoms and one exponential.
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
// Conditions on positions, sorted. Where they hold together at none, what they guard counts for nothing, whatever its
// finished factors are.
using Guards = std::vector<ExprId>;

// coefficient * product of factors * exp(exponent); `rounded` factors (and the exponential) go through a cast first.
struct Term {
  double coefficient = 1;
  Factors factors;
  Sum exponent;
  std::optional<Datatype> cast;
  Factors rounded;
  std::optional<Datatype> unrounded{};  // a cast that is left out, since the term is one of several inside it
  Guards guards{};
  std::vector<Moved> moved;  // what the term is worth only if roundings and factors may change places
};
// A cast that the file has around `rounded * waiting` and the term around `rounded` alone. Each is one term.
struct Moved {
  Datatype type;
  Sum rounded, waiting;
};
bool equal(const Term&, const Term&);
bool equal(const Sum&, const Sum&);
// b = c * a for a positive c, if there is one.
std::optional<double> positive_ratio(const Sum& a, const Sum& b);

Sum as_factor(ExprId);  // the expression alone
bool integer(double power);
Factors combined(const Factors&, const Factors&);  // of a product
Factors powers(Factors, double power);             // all of them raised
Guards together(const Guards&, const Guards&);
Term unguarded(Term);
Sum unguarded(Sum);
Term multiplied(const Term&, const Term&);
Sum add(const Sum&, const Sum&);
Sum scale(const Sum&, double factor);
std::vector<Moved> moved_in(const Sum&);

}  // namespace napkin
