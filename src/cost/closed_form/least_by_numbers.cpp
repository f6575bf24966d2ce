// Solves a geometric program numerically. It is convex in the logarithms of its variables. Newton's method minimizes
// the objective with a barrier that becomes steeper step by step. The slope of the barrier at the capacity is the
// exponent beta.
#include <algorithm>
#include <cmath>

#include "cost/closed_form/least_transfers.hpp"

namespace napkin {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// log of a posynomial, over the logarithms of the pieces.
struct LogSum {
  std::vector<Vector> exponents;  // by term, by piece
  Vector offsets;                 // by term

  LogSum(const Posynomial& sum, const std::vector<Symbol>& pieces) {
    for (const auto& term : sum) {
      exponents.emplace_back();
      for (const auto& piece : pieces) exponents.back().push_back(term.power(piece));
      offsets.push_back(std::log(term.factor));
    }
  }
  // Returns the value at y, and sets its slope and curvature.
  double at(const Vector& y, Vector& slope, Matrix& curvature) const {
    Vector logs = offsets;
    for (std::size_t k = 0; k < logs.size(); ++k)
      for (std::size_t i = 0; i < y.size(); ++i) logs[k] += exponents[k][i] * y[i];
    const double largest = *std::ranges::max_element(logs);
    double total = 0;
    for (const double log : logs) total += std::exp(log - largest);
    slope.assign(y.size(), 0);
    curvature.assign(y.size(), Vector(y.size(), 0));
    for (std::size_t k = 0; k < logs.size(); ++k) add(k, std::exp(logs[k] - largest) / total, slope, curvature);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t j = 0; j < y.size(); ++j) curvature[i][j] -= slope[i] * slope[j];
    return largest + std::log(total);
  }

 private:
  void add(std::size_t k, double share, Vector& slope, Matrix& curvature) const {
    for (std::size_t i = 0; i < slope.size(); ++i) {
      slope[i] += share * exponents[k][i];
      for (std::size_t j = 0; j < slope.size(); ++j) curvature[i][j] += share * exponents[k][i] * exponents[k][j];
    }
  }
};

struct Geometric {
  LogSum least, held;
  double room;     // log
  Vector largest;  // log, each above 0
};

struct Barrier {
  double value = INFINITY;
  Vector slope;
  Matrix curvature;
};

void add_wall(Barrier& barrier, std::size_t i, double distance, double sign) {
  barrier.value -= std::log(distance);
  barrier.slope[i] -= sign / distance;
  barrier.curvature[i][i] += 1 / (distance * distance);
}

// steepness * log H - log(room - log M) - the logarithms of the distances to the bounds.
Barrier barrier(const Geometric& program, double steepness, const Vector& y) {
  Barrier result;
  Vector slope;
  Matrix curvature;
  const double left = program.room - program.held.at(y, slope, curvature);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] <= 0 || y[i] >= program.largest[i]) return result;
  if (left <= 0) return result;
  result.value = steepness * program.least.at(y, result.slope, result.curvature) - std::log(left);
  for (std::size_t i = 0; i < y.size(); ++i) {
    result.slope[i] = steepness * result.slope[i] + slope[i] / left;
    for (std::size_t j = 0; j < y.size(); ++j)
      result.curvature[i][j] =
          steepness * result.curvature[i][j] + curvature[i][j] / left + slope[i] * slope[j] / (left * left);
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    add_wall(result, i, y[i], 1);
    add_wall(result, i, program.largest[i] - y[i], -1);
  }
  return result;
}

// Solves a positive definite system in place.
Vector solved(Matrix a, Vector b) {
  const auto n = b.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const double times = a[j][i] / a[i][i];
      for (std::size_t k = i; k < n; ++k) a[j][k] -= times * a[i][k];
      b[j] -= times * b[i];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Minimizes the barrier from a point inside it.
void descend(const Geometric& program, double steepness, Vector& y) {
  for (int round = 0; round < 100; ++round) {
    const auto here = barrier(program, steepness, y);
    const auto step = solved(here.curvature, here.slope);
    const double gain = dot(step, here.slope);
    if (!(gain > 1e-12)) return;
    double length = 1;
    Vector next = y;
    for (; length > 1e-12; length /= 2) {
      for (std::size_t i = 0; i < y.size(); ++i) next[i] = y[i] - length * step[i];
      if (barrier(program, steepness, next).value <= here.value - length * gain / 4) break;
    }
    if (length <= 1e-12) return;
    y = next;
  }
}

// Returns a starting point with all pieces a little above 1, or nearer to 1 if that does not fit.
std::optional<Vector> start(const Geometric& program) {
  for (double share = 0.1; share > 1e-9; share /= 4) {
    Vector y;
    for (const double top : program.largest) y.push_back(share * std::min(1.0, top));
    if (std::isfinite(barrier(program, 1, y).value)) return y;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NumericLeast> least_by_numbers(const Posynomial& terms, const Posynomial& held, double room,
                                             const Assignment& largest) {
  std::vector<Symbol> variables;
  Assignment ones;
  Vector tops;
  for (const auto& piece : pieces(terms))
    if (const double top = largest.at(piece); top > 1)
      variables.push_back(piece), tops.push_back(std::log(top));
    else
      ones[piece] = 1;
  if (variables.empty()) return std::nullopt;
  const Geometric program{
      {substituted(terms, ones), variables}, {substituted(held, ones), variables}, std::log(room), tops};
  auto y = start(program);
  if (!y) return std::nullopt;
  double steepness = 1;
  for (; steepness < 1e9; steepness *= 8) descend(program, steepness, *y);
  Vector slope;
  Matrix curvature;
  NumericLeast least;
  least.beta = 8 / (steepness * (program.room - program.held.at(*y, slope, curvature)));
  least.value = std::exp(program.least.at(*y, slope, curvature));
  for (std::size_t i = 0; i < variables.size(); ++i) least.pieces[variables[i]] = std::exp((*y)[i]);
  return least;
}

}  // namespace napkin
