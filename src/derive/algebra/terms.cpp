// Sums of products: added, scaled, multiplied, compared; see terms.hpp.
#include "derive/algebra/terms.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace napkin {
namespace {

// Whether two terms are equal except for the coefficient.
bool alike(const Term& a, const Term& b) {
  return a.factors == b.factors && a.rounded == b.rounded && a.cast == b.cast && a.guards == b.guards &&
         equal(a.exponent, b.exponent);
}

void append(std::vector<Moved>& to, const std::vector<Moved>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

Sum as_factor(ExprId e, std::vector<Moved> moved) {
  Term term;
  term.factors = {{e, 1}};
  term.moved = std::move(moved);
  return {term};
}

bool integer(double power) { return std::nearbyint(power) == power; }

Factors powers(Factors factors, double power) {
  for (auto& f : factors) f.second *= power;
  return factors;
}

Factors combined(const Factors& a, const Factors& b) {
  Factors all = a;
  for (const auto& [base, power] : b) {
    const auto at = std::lower_bound(all.begin(), all.end(), base, [](const auto& f, ExprId e) { return f.first < e; });
    if (at != all.end() && at->first == base)
      at->second += power;
    else
      all.insert(at, {base, power});
  }
  std::erase_if(all, [](const auto& f) { return f.second == 0; });
  return all;
}

Guards together(const Guards& a, const Guards& b) {
  Guards all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

Term unguarded(Term term) {
  term.guards.clear();
  return term;
}
Sum unguarded(Sum sum) {
  for (auto& term : sum) term.guards.clear();
  return sum;
}

bool equal(const Term& a, const Term& b) { return a.coefficient == b.coefficient && alike(a, b); }

bool equal(const Sum& a, const Sum& b) {
  if (a.size() != b.size()) return false;
  std::vector<bool> used(b.size());
  return std::all_of(a.begin(), a.end(), [&](const Term& term) {
    for (std::size_t i = 0; i < b.size(); ++i)
      if (!used[i] && equal(term, b[i])) return used[i] = true, true;
    return false;
  });
}

std::optional<double> positive_ratio(const Sum& a, const Sum& b) {
  if (a.empty() || a.size() != b.size()) return {};
  for (const auto& term : b) {
    if (!alike(a[0], term)) continue;
    const double ratio = term.coefficient / a[0].coefficient;
    if (ratio > 0 && equal(scale(a, ratio), b)) return ratio;
  }
  return {};
}

Sum add(const Sum& a, const Sum& b) {
  Sum all = a;
  for (const auto& term : b) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Term& t) { return alike(t, term); });
    if (same == all.end())
      all.push_back(term);
    else
      same->coefficient += term.coefficient, append(same->moved, term.moved);
  }
  std::erase_if(all, [](const Term& t) { return t.coefficient == 0; });
  return all;
}

Sum scale(const Sum& sum, double factor) {
  Sum all = sum;
  for (auto& term : all) term.coefficient *= factor;
  return all;
}
Term multiplied(const Term& a, const Term& b) {
  Term all;
  all.coefficient = a.coefficient * b.coefficient;
  all.factors = combined(a.factors, b.factors);
  all.exponent = add(a.exponent, b.exponent);
  all.cast = a.cast ? a.cast : b.cast;
  all.rounded = combined(a.rounded, b.rounded);
  all.unrounded = a.unrounded ? a.unrounded : b.unrounded;
  all.guards = together(a.guards, b.guards);
  all.moved = a.moved;
  append(all.moved, b.moved);
  return all;
}

bool trivial(const Term& term) { return term.coefficient == 1 && term.factors.empty() && term.exponent.empty(); }

Sum times(const Sum& a, const Term& b) {
  Sum all;
  for (const auto& term : a) {
    Term product = term;
    product.moved.clear();
    product.coefficient *= b.coefficient;
    product.factors = combined(product.factors, b.factors);
    product.exponent = add(product.exponent, b.exponent);
    all = add(all, {product});
  }
  return all;
}

std::vector<Moved> moved_in(const Sum& sum) {
  std::vector<Moved> all;
  for (const auto& term : sum) append(all, term.moved);
  return all;
}

}  // namespace napkin
