// Posynomials, and their least value under a room: by means against numbers.
#include <cmath>

#include "cost/closed_form/least_transfers.hpp"
#include "support/catch.hpp"

using namespace napkin;

namespace {

const Symbol a{SymbolKind::size, "a"}, b{SymbolKind::size, "b"}, g{SymbolKind::piece, "g_a"},
    h{SymbolKind::piece, "g_b"}, k{SymbolKind::piece, "g_c"}, M{SymbolKind::room, "M"};

Monomial product(double factor, const std::map<Symbol, double>& powers) {
  Monomial result{factor, {}};
  for (const auto& [symbol, power] : powers) result.times(symbol, power);
  return result;
}

}  // namespace

TEST_CASE("monomials are written without ones, sizes before pieces before the room") {
  CHECK(to_text(product(1, {})) == "1");
  CHECK(to_text(product(2, {{a, 1}, {b, 2}})) == "2*a*b^2");
  CHECK(to_text(product(1, {{g, -1}})) == "1/g_a");
  CHECK(to_text(product(3, {{a, 1}, {g, -1}, {h, -2}})) == "3*a/(g_a*g_b^2)");
  CHECK(to_text(product(2, {{M, -0.5}, {a, 1}})) == "2*a*M^(-1/2)");
  CHECK(to_text(product(0.125, {{a, 1}})) == "a/8");
  CHECK(to_text(product(1.5, {{a, 1.0 / 3}})) == "1.5*a^(1/3)");
  CHECK(to_text(Posynomial{}) == "0");
}

TEST_CASE("like terms are added and leading terms come first") {
  const auto sum = collected({product(1, {{a, 1}}), product(1, {{a, 1}, {b, 1}}), product(2, {{a, 1}})});
  CHECK(to_text(sum) == "a*b + 3*a");
  CHECK(to_text(substituted(sum, {{b, 4}})) == "7*a");
  CHECK(value(sum, {{a, 2}, {b, 5}}) == Approx(16));
}

TEST_CASE("powers that cancel are gone") {
  auto one = product(1, {{a, 1}}) * product(2, {{a, -1}});
  CHECK(one.powers.empty());
  CHECK(to_text(power(product(4, {{a, 2}}), 0.5)) == "2*a");
}

TEST_CASE("a monomial is dominated where every power is at most the other's") {
  CHECK(is_dominated(product(9, {{g, 1}}), product(1, {{g, 1}, {h, 1}})));
  CHECK_FALSE(is_dominated(product(1, {{g, 1}, {a, 1}}), product(1, {{g, 1}, {h, 1}})));
  CHECK_FALSE(is_dominated(product(1, {{g, 1}}), product(2, {{g, 1}})));
}

TEST_CASE("means give the square of a matrix product and the cube of three factors") {
  const auto square =
      least_by_means({product(1, {{a, 3}, {g, -1}}), product(1, {{a, 3}, {h, -1}})}, product(1, {{g, 1}, {h, 1}}));
  REQUIRE(square);
  CHECK(square->beta == Approx(0.5));
  CHECK(to_text(square->alpha) == "2*a^3");
  const auto cube = least_by_means({product(1, {{g, -1}}), product(1, {{h, -1}}), product(1, {{k, -1}})},
                                   product(8, {{g, 1}, {h, 1}, {k, 1}}));
  REQUIRE(cube);
  CHECK(cube->beta == Approx(1.0 / 3));
  CHECK(cube->alpha.factor == Approx(6));
}

TEST_CASE("means decline what they do not determine") {
  CHECK_FALSE(least_by_means({product(1, {{g, -1}}), product(1, {{h, -1}})}, product(1, {{g, 1}})));
  CHECK_FALSE(least_by_means({product(1, {{g, -1}}), product(1, {{g, -2}})}, product(1, {{g, 1}})));
}

TEST_CASE("numbers agree with means, in value and exponent") {
  const Posynomial terms = {product(5e9, {{g, -1}}), product(2e9, {{h, -1}})};
  const auto held = product(3, {{g, 1}, {h, 1}});
  const auto means = least_by_means(terms, held);
  const auto numbers = least_by_numbers(terms, {held}, 1e4, {{g, 1e6}, {h, 1e6}});
  REQUIRE(means);
  REQUIRE(numbers);
  CHECK(numbers->value == Approx(means->alpha.factor * std::pow(1e4, -means->beta)).epsilon(1e-5));
  CHECK(numbers->beta == Approx(means->beta).epsilon(1e-3));
}

TEST_CASE("numbers are not beaten by any point of a fine grid") {
  const Posynomial terms = {product(7e5, {{g, -1}}), product(3e5, {{g, -1}, {h, -1}}), product(1e5, {{h, -1}})};
  const Posynomial held = {product(4, {{g, 1}}), product(1, {{g, 1}, {h, 1}}), product(9, {{h, 1}})};
  const auto found = least_by_numbers(terms, held, 2000, {{g, 300}, {h, 50}});
  REQUIRE(found);
  double best = INFINITY;
  for (double x = 1; x <= 300; x *= 1.005)
    for (double y = 1; y <= 50; y *= 1.005) {
      const Assignment at = {{g, x}, {h, y}};
      if (value(held, at) <= 2000) best = std::min(best, value(terms, at));
    }
  CHECK(found->value <= best * (1 + 1e-9));
  CHECK(found->value >= best * 0.99);
  CHECK(value(held, found->pieces) <= 2000);
}

TEST_CASE("numbers say so where nothing fits, and stop at the sizes of axes") {
  CHECK_FALSE(least_by_numbers({product(1, {{g, -1}})}, {product(10, {{g, 1}})}, 9, {{g, 100}}));
  const auto whole = least_by_numbers({product(100, {{g, -1}})}, {product(1, {{g, 1}})}, 1e6, {{g, 100}});
  REQUIRE(whole);
  CHECK(whole->value == Approx(1).epsilon(1e-4));
  CHECK(whole->beta == Approx(0).margin(1e-4));
}
