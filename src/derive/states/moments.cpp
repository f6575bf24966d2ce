// Powers and binomials of moments, the conditions under which a term counts, and logarithms near one; see moments.hpp.
#include "derive/states/moments.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "derive/algebra/build.hpp"
#include "derive/algebra/normal.hpp"

namespace napkin {
namespace {

// The condition of `where(condition, e, otherwise)`, if the expression has this form.
std::optional<ExprId> chosen_by(const Diagram& diagram, ExprId e, double otherwise) {
  const auto* apply = std::get_if<Apply>(&diagram.at(e).node);
  if (!apply || apply->function->role != Role::choose) return {};
  const auto* constant = std::get_if<Constant>(&diagram.at(apply->arguments[2]).node);
  return constant && constant->value == otherwise ? std::optional(apply->arguments[0]) : std::nullopt;
}

double binomial(int n, int k) {
  double all = 1;
  for (int i = 1; i <= k; ++i) all = all * (n - k + i) / i;
  return all;
}

}  // namespace

bool equal(const Averaged& a, const Averaged& b) {
  return equal(a.body, b.body) && equal(a.weight, b.weight) && equal(a.mean, b.mean);
}

int Moment::degree() const { return std::accumulate(powers.begin(), powers.end(), 0); }

bool is_zero(const Powers& powers) {
  return std::ranges::all_of(powers, [](int power) { return power == 0; });
}

Moment without_zeros(const Moment& moment) {
  const auto kept = [&](const Powers& powers) {
    Powers all;
    for (std::size_t i = 0; i < powers.size(); ++i)
      if (moment.powers[i] != 0) all.push_back(powers[i]);
    return all;
  };
  Moment made{{}, kept(moment.powers), moment.rounded, {}, {}};
  for (std::size_t i = 0; i < moment.powers.size(); ++i) {
    if (moment.powers[i] == 0) continue;
    made.centres.push_back(moment.centres[i]);
    if (!moment.scales.empty()) made.scales.push_back(moment.scales[i]);
  }
  for (const auto& [powers, array] : moment.lower) made.lower.emplace(kept(powers), array);
  return made;
}

double choose(const Powers& n, const Powers& k) {
  double all = 1;
  for (std::size_t i = 0; i < n.size(); ++i) all *= binomial(n[i], k[i]);
  return all;
}

std::vector<Powers> powers_up_to(const Powers& greatest) {
  std::vector<Powers> all = {Powers(greatest.size(), 0)};
  for (std::size_t i = 0; i < greatest.size(); ++i) {
    const auto before = all;
    for (int power = 1; power <= greatest[i]; ++power)
      for (auto powers : before) {
        powers[i] = power;
        all.push_back(powers);
      }
  }
  return all;
}

Term without_counting(Diagram& diagram, Term term) {
  const ExprId one = diagram.intern(Constant{1}), zero = diagram.intern(Constant{0});
  const auto only_counts = [&](const auto& factor) {
    Term alone;
    alone.factors = {factor};
    const auto conditions = conditions_of(diagram, alone);
    if (conditions.empty()) return false;
    return factor.first == diagram.intern(Apply{find_pointwise("where"), {conditions[0], one, zero}});
  };
  std::erase_if(term.factors, only_counts);
  return term;
}

std::vector<ExprId> conditions_of(const Diagram& diagram, const Term& term) {
  std::vector<ExprId> all;
  const auto look = [&](const Factors& factors, double otherwise) {
    for (const auto& [base, power] : factors)
      if (const auto condition = chosen_by(diagram, base, otherwise); condition && power > 0)
        if (std::ranges::find(all, *condition) == all.end()) all.push_back(*condition);
  };
  look(term.factors, 0);
  look(term.rounded, 0);
  for (const auto& part : term.exponent)
    if (part.coefficient > 0 && part.factors.size() == 1) look(part.factors, -std::numeric_limits<double>::infinity());
  return all;
}

Sum spread(Algebra& algebra, const Sum& sum) {
  auto& diagram = algebra.diagram;
  const ExprId one = diagram.intern(Constant{1}), zero = diagram.intern(Constant{0});
  const auto chooses = [&](const auto& factor) {
    Term alone;
    alone.factors = {factor};
    const auto* apply = std::get_if<Apply>(&diagram.at(factor.first).node);
    return factor.second == 1 && !conditions_of(diagram, alone).empty() && apply->arguments[1] != one;
  };
  Sum all;
  for (const auto& term : sum) {
    const auto masked = std::ranges::find_if(term.factors, chooses);
    if (masked == term.factors.end()) {
      all = add(all, {term});
      continue;
    }
    const auto arguments = std::get<Apply>(diagram.at(masked->first).node).arguments;
    Term rest = term;
    rest.factors = combined(rest.factors, {{masked->first, -1}});
    rest.factors = combined(rest.factors, {{applied(diagram, "where", {arguments[0], one, zero}), 1}});
    all = add(all, spread(algebra, times(normal(algebra, arguments[1]), rest)));
  }
  return all;
}

// log(a / b) near a = b. There the rounded quotient has lost the leading digits of its logarithm, and a - b has not.
// With x = (a - b) / b, log(1 + x) is x * log(w) / (w - 1), where w is 1 + x rounded; the rounding error of w cancels.
ExprId logarithm_of_share(Diagram& diagram, const Centre::Extreme& extreme, ExprId a, ExprId b) {
  const auto& log = *std::get<Apply>(diagram.at(extreme.of[0].factors[0].first).node).function;
  const ExprId one = diagram.intern(Constant{1}), half = diagram.intern(Constant{0.5});
  const ExprId scale = diagram.intern(Constant{log.scale});
  const ExprId difference = applied(diagram, "-", {a, b});
  const ExprId x = applied(diagram, "/", {difference, b});
  const ExprId w = applied(diagram, "+", {one, x});
  const ExprId least = log.scale == 1 ? x : applied(diagram, "/", {x, scale});
  const ExprId of_w = applied(diagram, log.name, {w}), beyond = applied(diagram, "-", {w, one});
  const ExprId ratio = applied(diagram, "/", {x, beyond});
  const ExprId corrected = applied(diagram, "*", {of_w, ratio}), rounded = applied(diagram, "==", {w, one});
  const ExprId close = applied(diagram, "where", {rounded, least, corrected});
  const ExprId quotient = applied(diagram, "/", {a, b});
  const ExprId far = applied(diagram, log.name, {quotient}), half_b = applied(diagram, "*", {half, b});
  const ExprId near_one = applied(diagram, ">", {a, half_b});
  return applied(diagram, "where", {near_one, close, far});
}

}  // namespace napkin
