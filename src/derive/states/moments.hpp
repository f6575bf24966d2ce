// Sums of products of shifts, `sum of u * (w + v)^k * (w' + v')^j`: u and w depend on the piece, v on finished
// reductions.
//
// Multiplied out, they would be raw moments of w, which cancel if w is large and its spread is small. Instead, the
// stream carries the moments about a carried centre: the running mean of w, or the extremes that v subtracts. When the
// centre moves, the moments are repaired by the binomial theorem (docs/theory.md, moments).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "derive/algebra/algebra.hpp"
#include "derive/columns.hpp"

namespace napkin {

// A running mean of `body`, with weights that are never negative, over wires; or, without `mean`, carried extremes,
// each with its factor. States are given by their number.
struct Centre {
  Sum body;
  Term weight{};
  std::vector<WireId> over{};
  std::size_t total = 0;  // the state that sums the weights
  std::optional<ArrayId> mean{};
  struct Extreme {
    double factor;
    std::size_t state;
    Sum of, apart;  // the terms it is the extreme of: those that vary, and those that are equal at every position
    // For a logarithm, which is `of`: its argument, which is divided by the extreme, the greatest magnitude of the
    // argument.
    std::optional<ExprId> argument{};
  };
  std::vector<Extreme> extremes{};
};

// A sum of weight * body that is computed from the running mean of body, whose own weights are those of `mean`.
struct Averaged {
  Sum body;
  Term weight, mean;
};
bool equal(const Averaged&, const Averaged&);

using Powers = std::vector<int>;

// What makes a state a moment: its body is multiplied by powers of the distances from centres, inside its cast if
// `rounded`. It is repaired from `lower`, the moments of lower powers. If there are `scales`, carried maxima, the
// distances from a centre are relative to the scale of that centre, if it has one.
struct Moment {
  std::vector<std::size_t> centres;
  Powers powers;
  bool rounded = false;
  std::map<Powers, ArrayId> lower{};
  std::vector<std::optional<std::size_t>> scales{};
  int degree() const;  // the sum of the powers
  bool operator==(const Moment&) const = default;
};

// A term separated as state * piece * product of (factor * (body + offset) + beyond)^power: `beyond` is what could not
// be divided by the factor.
struct Shifted {
  struct Part {
    Sum body, offset;
    int power = 1;
    Term factor{};
    Sum beyond{};
    bool scaled() const { return factor.coefficient != 1 || !factor.factors.empty(); }
  };
  Term piece, state;
  std::vector<Part> parts;
  bool rounded = false;
  Guards guards{};
};

double choose(const Powers& n, const Powers& k);           // product of binomial coefficients
std::vector<Powers> powers_up_to(const Powers& greatest);  // lower ones before higher ones
bool is_zero(const Powers&);
Moment without_zeros(const Moment&);  // without the centres whose power is zero
// Without the factors that are one where a condition holds and zero elsewhere. A distance is zero where a condition
// fails, so it need not be tested again.
Term without_counting(Diagram&, Term);
// The conditions of a term: it is zero where one of them fails.
std::vector<ExprId> conditions_of(const Diagram&, const Term&);
// Separates choices between a value and zero into a factor for the condition and the value.
Sum spread(Algebra&, const Sum&);
// log(a / b) with the logarithm of the extreme, for a positive a that is at most b.
ExprId logarithm_of_share(Diagram&, const Centre::Extreme&, ExprId a, ExprId b);

}  // namespace napkin
