// A plan computes what its statements mean, as near as rounding allows, and moves, holds and computes what was
// predicted: random diagrams, random cuts into kernels, random legal partitions, machines of two to four levels.
#include <cmath>
#include <random>

#include "napkin/report.hpp"
#include "napkin/verify.hpp"
#include "support/by_hand.hpp"
#include "support/catch.hpp"
#include "support/law_diagrams.hpp"
#include "support/nap_text.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

Partition random_partition(const Derivation& derivation, const Hardware& hardware, std::int64_t longest,
                           std::mt19937& random) {
  Partition partition;
  for (std::size_t level = 1; level < hardware.levels.size(); ++level)
    for (const auto kind : {SplitKind::group, SplitKind::stream})
      for (const auto& verdict : derivation.verdicts)
        if (random() % 3 == 0) {
          partition.splits.push_back({kind, verdict.wire,
                                      1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(longest)),
                                      level});
          if (!illegal(derivation, hardware, partition).empty()) partition.splits.pop_back();
        }
  return partition;
}

// The statements cut anywhere, each segment split anyhow.
Plan random_plan(const Diagram& diagram, const Hardware& hardware, std::int64_t longest, std::mt19937& random) {
  Plan plan;
  std::vector<StatementId> segment;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
    segment.push_back({i});
    if (i + 1 < diagram.statements.size() && random() % 3 != 0) continue;
    const auto derivation = std::make_shared<const Derivation>(derive(diagram, segment));
    plan.kernels.push_back(make_kernel(derivation, random_partition(*derivation, hardware, longest, random)));
    segment.clear();
  }
  return plan;
}

Hardware random_machine(std::mt19937& random) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  return by_hand::machine({names.begin(), names.begin() + 2 + random() % 3});
}

std::string plan_text(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  auto text = nap_text(diagram);
  for (const auto& kernel : plan.kernels) {
    text += "# kernel";
    for (const auto id : kernel.derivation->statements) text += " " + diagram.at(diagram.at(id).output).name;
    text += ": " + to_text(kernel.partition, diagram, hardware) + "\n";
  }
  return text;
}

// A row masked in full is nothing divided by nothing, which an extreme passes over in one order and not in another. An
// exponential of large numbers is one in double, and none in f32; a product of several leaves f32 sooner.
bool is_number_everywhere(const Diagram& diagram) {
  const bool multiplies = file_text(diagram).find("prod[") != std::string::npos;
  const double largest_exponent = multiplies ? 8 : 80;
  auto values = random_inputs(diagram, 1);
  evaluate(diagram, values, false);
  for (const auto& array : values.arrays)
    for (const double value : array)
      if (std::isnan(value) || (std::isfinite(value) && std::abs(value) > largest_exponent)) return false;
  return true;
}

// What hard numbers do to anything at all is for the tables of docs/theory.md.
constexpr Numbers ordinary[] = {Numbers::ordinary};

void check(const Verification& verification) {
  CAPTURE(print(verification, Format::text, false));
  REQUIRE(verification.faults.empty());
  for (const auto& output : verification.exact) {
    CAPTURE(output.array);
    REQUIRE(output.error <= output.allowed);
  }
  for (const auto& output : verification.outputs) {
    CAPTURE(output.array);
    REQUIRE(output.error <= output.allowed);
  }
  for (const auto& kernel : verification.kernels) {
    REQUIRE(kernel.predicted_operations == kernel.counted_operations);
    for (const auto& level : kernel.levels) REQUIRE(level.predicted == level.counted);
  }
  REQUIRE(verification.ok);
}

}  // namespace

TEST_CASE("every legal plan verifies", "[laws][verify]") {
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    std::mt19937 random(seed);
    const auto diagram = random_diagram(seed);
    if (!is_number_everywhere(diagram)) continue;
    const auto hardware = random_machine(random);
    const auto plan = random_plan(diagram, hardware, 4, random);
    INFO("seed " << seed << "\n" << plan_text(diagram, plan, hardware));
    check(verify_plan(diagram, plan, estimate(plan, hardware, Model::machine), hardware, ordinary));
  }
}

TEST_CASE("every legal plan shrinks to one that verifies", "[laws][verify]") {
  for (std::uint32_t seed = 0; seed < law_diagrams() / 4; ++seed) {
    std::mt19937 random(seed);
    auto diagram = random_diagram(seed);
    if (!is_number_everywhere(diagram)) continue;
    std::int64_t all = 0;
    for (auto& axis : diagram.axes) {
      axis.size = 1 + *axis.size * static_cast<std::int64_t>(random() % 100);
      all += *axis.size;
    }
    for (auto& axis : diagram.axes)
      if (axis.name == "h") axis.size = all;  // of the array that is read at sums of positions
    const auto hardware = random_machine(random);
    const auto plan = random_plan(diagram, hardware, 80, random);
    const auto small = shrink(diagram, plan, hardware, {});
    if (!is_number_everywhere(small.diagram)) continue;
    INFO("seed " << seed << "\n"
                 << plan_text(diagram, plan, hardware) << plan_text(small.diagram, small.plan, hardware));
    for (std::size_t i = 0; i < diagram.axes.size(); ++i) REQUIRE(*small.diagram.axes[i].size <= *diagram.axes[i].size);
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      const auto &large = plan.kernels[i].partition.splits, &splits = small.plan.kernels[i].partition.splits;
      REQUIRE(splits.size() == large.size());
      for (std::size_t k = 0; k < splits.size(); ++k) REQUIRE(splits[k].size <= large[k].size);
    }
    check(verify_plan(small.diagram, small.plan, estimate(small.plan, hardware, Model::machine), hardware, ordinary));
  }
}

TEST_CASE("what a law prints is read again as the same diagram", "[laws][verify]") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const auto diagram = random_diagram(seed);
    INFO(nap_text(diagram));
    const auto again = read_text(nap_text(diagram));
    auto values = random_values(diagram, seed), same = random_values(again, seed);
    evaluate(diagram, values, true);
    evaluate(again, same, true);
    REQUIRE(diagram.outputs.size() == again.outputs.size());
    for (std::size_t i = 0; i < diagram.outputs.size(); ++i) {
      const auto &one = values.arrays[diagram.outputs[i].index], &two = same.arrays[again.outputs[i].index];
      REQUIRE(one.size() == two.size());
      for (std::size_t k = 0; k < one.size(); ++k) {
        const bool equal = one[k] == two[k] || (std::isnan(one[k]) && std::isnan(two[k])) ||
                           std::abs(one[k] - two[k]) <= 1e-6 * std::abs(one[k]);
        REQUIRE(equal);
      }
    }
  }
}
