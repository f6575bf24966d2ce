// Sums of products of shifts, `sum of u * (w + v)^k * (w' + v')^j`: u and w of the piece, v of finished reductions.
//
// Multiplied out they would be raw moments of w, which cancel where w is large and its spread small. Instead the
// moments about a centre that is carried are: the running mean of w, or the extremes that v subtracts. When the centre
// moves they are repaired by the binomial theorem (docs/theory.md, moments).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "derive/algebra/algebra.hpp"
#include "derive/columns.hpp"

namespace napkin {

// A running mean of `body`, with weights that are never negative, over wires; or, with no `mean`, extremes that are
// carried, each with its factor. States are told by their number.
struct Centre {
  Sum body;
  Term weight{};
  std::vector<WireId> over{};
  std::size_t total = 0;  // adds up the weights
  std::optional<ArrayId> mean{};
  struct Extreme {
    double factor;
    std::size_t state;
    Sum of, apart;  // what it is the extreme of: the terms that vary, and those that are the same at every position
    // Of a logarithm, which is `of`: its argument is divided by the extreme, which is the greatest magnitude of that.
    std::optional<ExprId> argument{};
  };
  std::vector<Extreme> extremes{};
};

// A sum of weight * body that is made of the running mean of body, whose own weights are those of `mean`.
struct Averaged {
  Sum body;
  Term weight, mean;
};
bool equal(const Averaged&, const Averaged&);

// log(a / b) of the extreme's logarithm, for an a above zero that is at most b.
ExprId logarithm_of_share(Algebra&, Diagram&, const Centre::Extreme&, ExprId a, ExprId b);

using Powers = std::vector<int>;

// What makes a state a moment: the distances from centres join its body as factors, inside its cast where `rounded`.
// `lower` are the moments of lower powers, by which it is repaired. Where there are `scales`, maxima that are carried,
// the distances from each centre are taken relative to its own, as far as it has one.
struct Moment {
  std::vector<std::size_t> centres;
  Powers powers;
  bool rounded = false;
  std::map<Powers, ArrayId> lower{};
  std::vector<std::optional<std::size_t>> scales{};
  int degree() const;  // the sum of the powers
  bool operator==(const Moment&) const = default;
};

// A term taken apart as state * piece * product of (factor * (body + offset) + beyond)^power: `beyond` is what could
// not be divided by the factor.
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
// Without the factors that are one where a condition holds and zero elsewhere: a distance is zero where one fails,
// which then need not be asked again.
Term without_counting(Diagram&, Term);
// Where one of them fails the term is zero.
std::vector<ExprId> conditions_of(const Diagram&, const Term&);

}  // namespace napkin
