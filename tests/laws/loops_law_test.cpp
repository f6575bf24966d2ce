// A nest computes what its statements mean: random diagrams, random legal partitions, machines of two to four levels.
#include <cmath>
#include <random>

#include "napkin/cost.hpp"
#include "support/by_hand.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/law_diagrams.hpp"
#include "support/nap_text.hpp"
#include "support/random_diagram.hpp"
#include "support/random_partition.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// Sums in another order differ in their last digits: those of the coarsest format that something is cast to or kept in.
double last_digits(const Diagram& diagram) {
  bool f16 = false, bf16 = false;
  const auto look = [&](Datatype type) { f16 = f16 || type == Datatype::f16, bf16 = bf16 || type == Datatype::bf16; };
  for (const auto& statement : diagram.statements) look(diagram.at(statement.output).type);
  for (const auto& expression : diagram.exprs)
    if (const auto* cast = std::get_if<Cast>(&expression.node)) look(cast->type);
  return bf16 ? 3e-2 : f16 ? 4e-3 : 1e-6;
}
// Where the meaning is no number anything goes: a derivation may cancel what divides nothing by nothing.
bool near(double got, double meant, double digits) {
  if (std::isnan(meant)) return true;
  return got == meant || std::abs(got - meant) <= digits * std::max({1.0, std::abs(got), std::abs(meant)});
}

// A row masked in full is nothing divided by nothing, which an extreme passes over in one order and not in another;
// what is infinite may be so as a difference of infinities.
bool is_number_everywhere(const Values& values) {
  return std::ranges::none_of(values.arrays, [](const std::vector<double>& array) {
    return std::ranges::any_of(array, [](double value) { return !std::isfinite(value); });
  });
}

}  // namespace

TEST_CASE("a nest computes what its statements mean", "[laws][loops]") {
  std::uint32_t checked = 0;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const Diagram diagram = random_diagram(seed);
    const auto derivation = derived(diagram);
    const Values inputs = random_inputs(diagram, seed);
    Values expected = inputs;
    evaluate(diagram, expected, true);
    if (!is_number_everywhere(expected)) continue;
    const auto digits = last_digits(diagram);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto names = std::vector<std::string>{"a", "b", "c", "d"};
      const auto hardware = by_hand::machine({names.begin(), names.begin() + 2 + random() % 3});
      const auto partition = random_partition(*derivation, hardware.levels.size(), random);
      if (!illegal(*derivation, hardware, partition).empty()) continue;
      const auto nest = lower(make_kernel(derivation, partition), hardware);
      INFO("seed " << seed << "\n" << nap_text(diagram, partition, hardware) << to_text(nest, hardware));
      REQUIRE(verify(nest) == std::vector<std::string>{});
      Values values = inputs;
      interpret(nest, hardware, values);
      for (const auto output : diagram.outputs) {
        const auto& got = values.arrays.at(output.index);
        const auto& meant = expected.arrays.at(output.index);
        REQUIRE(got.size() == meant.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          CAPTURE(diagram.at(output).name, i, got[i], meant[i]);
          REQUIRE(near(got[i], meant[i], digits));
        }
      }
      ++checked;
    }
  }
  CHECK(checked > law_diagrams());
}
