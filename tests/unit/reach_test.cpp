// How much affine indices reach: the closed sums against walking every piece.
#include "cost/figures/reach.hpp"

#include "cost/figures/evaluate.hpp"
#include "cost/model/make_cost_model.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

// A model in which every wire of the diagram has two splits.
struct Reaching {
  std::shared_ptr<const Derivation> derivation;
  Hardware hardware = read_machine("toy");
  Kernel kernel;
  CostModel model;

  Reaching(const Diagram& diagram, std::vector<StatementId> all)
      : derivation(std::make_shared<const Derivation>(derive(diagram, all))),
        kernel(make_kernel(derivation, splits(*derivation))),
        model(make_cost_model(kernel, hardware)) {}
  static Partition splits(const Derivation& derivation) {
    Partition partition;
    for (const std::size_t level : {1, 2})
      for (const auto& verdict : derivation.verdicts) {
        const auto* group = std::get_if<Groupable>(&verdict.group);
        if (group && !group->by_merge)
          partition.splits.push_back({SplitKind::group, verdict.wire, 1, level});
        else if (level == 1 && std::holds_alternative<Streamable>(verdict.stream))
          partition.splits.push_back({SplitKind::stream, verdict.wire, 1, level});
      }
    return partition;
  }
};

// Of all sizes of pieces; how many footprints were compared.
int compare(const std::string& text) {
  const auto diagram = read_text(text);
  const Reaching reaching(diagram, {{0}});
  const auto& model = reaching.model;
  int compared = 0;
  std::vector<std::int64_t> sizes(reaching.kernel.partition.splits.size(), 1);
  const auto vary = [&](const auto& self, std::size_t at) -> void {
    if (at < sizes.size()) {
      for (sizes[at] = 1; sizes[at] <= 7; sizes[at] += 2) self(self, at + 1);
      return;
    }
    Figures figures;
    evaluate(model, sizes, figures);
    for (const auto& footprint : model.footprints) {
      CAPTURE(text, sizes, footprint.all_pieces);
      REQUIRE(reach_of(model, footprint, sizes, figures, Reach::exact) == reach_by_pieces(model, footprint, sizes));
      compared += footprint.inside;
    }
  };
  vary(vary, 0);
  return compared;
}

}  // namespace

TEST_CASE("what an index reaches is what its pieces reach") {
  CHECK(compare("diagram d; axis u = 9; axis i = 4; axis p = u + i - 1; input X: f32[p]; input W: f32[i]\n"
                "Y[u] = sum[i](X[u + i] * W[i]); output Y") > 100);
  CHECK(compare("diagram d; axis u = 6; axis i = 3; axis p = 2 * u + i; input X: f32[p]; input W: f32[i]\n"
                "Y[u] = sum[i](X[2 * u + i] * W[i]); output Y") > 100);
  CHECK(compare("diagram d; axis u = 11; axis p = u; input X: f32[p]; Y[u] = X[10 - u] * 2; output Y") > 10);
  CHECK(compare("diagram d; axis u = 23; axis p = 6; input X: f32[p]; Y[u] = X[u / 4] * 2; output Y") > 10);
  CHECK(compare("diagram d; axis u = 12; axis p = 5; input X: f32[p]; Y[u] = X[(u + 3) / 3] * 2; output Y") > 10);
  // Indices that share wires, and those of several wires with a divisor, are walked.
  CHECK(compare("diagram d; axis u = 6; axis p = u; axis q = u; input X: f32[p, q]\n"
                "Y[u] = X[u, u] * 2; output Y") == 0);
}
