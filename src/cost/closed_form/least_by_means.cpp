// The least of a sum of monomials by the inequality of arithmetic and geometric means. If weights w with sum w_i = 1
// make the product of the w_i-th powers of the terms a power of `held` alone, then
//
//     sum of c_i u_i >= product of (c_i u_i / w_i)^w_i = product of (c_i / w_i)^w_i * (m / M)^beta,
//
// with equality if all c_i u_i / w_i are equal. The weights and beta solve linear equations, one per piece.
#include <algorithm>
#include <cmath>

#include "cost/closed_form/least_transfers.hpp"

namespace napkin {
namespace {

constexpr double negligible = 1e-9;
using Row = std::vector<double>;  // an equation: coefficients, then the right side

// Turns column `at` into a unit column by the rows from `from` on. Returns false if the column has no pivot.
bool eliminate(std::vector<Row>& rows, std::size_t at) {
  const auto from = rows.begin() + static_cast<std::ptrdiff_t>(std::min(at, rows.size()));
  const auto pivot =
      std::max_element(from, rows.end(), [&](const Row& a, const Row& b) { return std::abs(a[at]) < std::abs(b[at]); });
  if (pivot == rows.end() || std::abs((*pivot)[at]) < negligible) return false;
  std::iter_swap(from, pivot);
  const Row unit = [&] {
    Row row = *from;
    for (auto& entry : row) entry /= (*from)[at];
    return row;
  }();
  for (auto& row : rows) {
    const double times = row[at];
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= times * unit[i];
  }
  rows[at] = unit;
  return true;
}

// Returns the solution of the equations if there is exactly one.
std::optional<Row> solution(std::vector<Row> rows) {
  const auto unknowns = rows.front().size() - 1;
  for (std::size_t at = 0; at < unknowns; ++at)
    if (!eliminate(rows, at)) return std::nullopt;
  Row result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i < unknowns)
      result.push_back(rows[i].back());
    else if (std::abs(rows[i].back()) > negligible)
      return std::nullopt;
  return result;
}

std::vector<Row> equations(const Posynomial& terms, const Monomial& held) {
  auto all = pieces(terms);
  all.merge(pieces(Posynomial{held}));
  std::vector<Row> rows = {Row(terms.size(), 1)};
  rows.front().insert(rows.front().end(), {0, 1});
  for (const auto& piece : all) {
    Row row;
    for (const auto& term : terms) row.push_back(-term.power(piece));
    row.insert(row.end(), {-held.power(piece), 0});
    rows.push_back(std::move(row));
  }
  return rows;
}

Monomial without_pieces(Monomial monomial) {
  std::erase_if(monomial.powers, [](const auto& entry) { return entry.first.kind == SymbolKind::piece; });
  return monomial;
}

}  // namespace

std::optional<Leading> least_by_means(const Posynomial& terms, const Monomial& held) {
  const auto weights = solution(equations(terms, held));
  if (!weights || std::ranges::any_of(*weights, [](double weight) { return weight < negligible; })) return std::nullopt;
  Leading least{power(without_pieces(held), weights->back()), weights->back()};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    auto scaled = without_pieces(terms[i]);
    scaled.factor /= (*weights)[i];
    least.alpha = least.alpha * power(scaled, (*weights)[i]);
  }
  return least;
}

}  // namespace napkin
