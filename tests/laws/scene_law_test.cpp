// Laws of pictures, over every example and random diagrams, with and without a machine: marks stand inside the page,
// words never stand on words or on wires, every array and wire is named, and the bytes are the same every time.
#include <algorithm>
#include <set>

#include "napkin/pictures.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"
#include "support/scene_laws.hpp"
#include "support/xml.hpp"

using namespace napkin;
using test::collisions;
using test::drawn_files;
using test::outside;

namespace {

void check_laws(const Diagram& diagram, const Scene& scene) {
  CHECK(outside(scene) == std::vector<std::string>{});
  CHECK(collisions(scene) == std::vector<std::string>{});
  const auto svg = emit_svg(scene);
  CHECK(test::malformed(svg) == "");
  CHECK(emit_svg(scene) == svg);
  CHECK(!emit_text_drawing(scene).empty());
  CHECK(emit_tikz(scene).ends_with("\\end{tikzpicture}\n"));
  std::set<std::string> arrays;
  std::set<std::pair<std::string, std::string>> named;
  for (const auto& mark : scene.marks) {
    if (mark.kind == MarkKind::array_name) arrays.insert(mark.array);
    if (mark.kind == MarkKind::wire_name) named.emplace(mark.array, mark.axis);
  }
  for (const auto& statement : diagram.statements) {
    const auto& array = diagram.at(statement.output);
    CAPTURE(array.name);
    CHECK(arrays.contains(array.name));
    for (const auto wire : array.wires) CHECK(named.contains({array.name, diagram.at(wire).name}));
    for (const auto read : arrays_read(diagram, statement.value)) CHECK(arrays.contains(diagram.at(read).name));
  }
}

// Every statement a kernel of its own, or all of them one, each whole at every level.
Scene planned(const Diagram& diagram, const Hardware& hardware, bool fused) {
  Plan plan;
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  const auto add = [&](std::span<const StatementId> statements) {
    plan.kernels.push_back(make_kernel(std::make_shared<const Derivation>(derive(diagram, statements)), {}));
  };
  if (fused)
    add(all);
  else
    for (std::size_t i = 0; i < all.size(); ++i) add(std::span(all).subspan(i, 1));
  return lay_out(diagram, plan, estimate(plan, hardware, Model::machine), hardware, Model::machine);
}

}  // namespace

TEST_CASE("every example draws by the laws of pictures", "[scene][law]") {
  for (const auto& file : drawn_files()) {
    CAPTURE(file);
    const auto diagram = read_text(read_file(file));
    for (const double width : {400.0, 800.0, 1120.0, 4000.0}) {
      CAPTURE(width);
      check_laws(diagram, lay_out(diagram, width));
    }
    CHECK(to_text(lay_out(diagram)) == to_text(lay_out(diagram)));
  }
}

TEST_CASE("no three wires cross in one point", "[scene][law][long]") {
  for (const auto& file : drawn_files()) {
    CAPTURE(file);
    const auto diagram = read_text(read_file(file));
    CHECK(test::knots(lay_out(diagram)) == 0);
    CHECK(test::knots(planned(diagram, read_machine("h100-sxm5"), true)) == 0);
  }
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto diagram = testing::random_diagram(seed);
    CAPTURE(seed, testing::file_text(diagram));
    CHECK(test::knots(lay_out(diagram)) == 0);
  }
}

TEST_CASE("every derivation draws by the laws of pictures", "[scene][law][long]") {
  for (const auto& file : drawn_files()) {
    const auto diagram = read_text(read_file(file));
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto derivation = derive(diagram, all);
    for (const auto& verdict : derivation.verdicts) {
      CAPTURE(file, diagram.at(verdict.wire).name);
      for (const auto& scene : lay_out_derivation(diagram, derivation, verdict.wire)) {
        CAPTURE(scene.title);
        CHECK(outside(scene) == std::vector<std::string>{});
        CHECK(collisions(scene) == std::vector<std::string>{});
        CHECK(test::malformed(emit_svg(scene)) == "");
      }
    }
  }
}

TEST_CASE("plans draw by the laws of pictures", "[scene][law][long]") {
  for (const auto* machine : {"h100-sxm5", "two-level", "x86-64-avx2"}) {
    const auto hardware = read_machine(machine);
    for (const auto& file : drawn_files()) {
      CAPTURE(machine, file);
      const auto diagram = read_text(read_file(file));
      check_laws(diagram, planned(diagram, hardware, false));
      check_laws(diagram, planned(diagram, hardware, true));
    }
  }
}

TEST_CASE("plans that are searched draw by the laws of pictures", "[scene][law]") {
  const auto hardware = read_machine("toy");
  for (const auto* name : {"attention.nap", "matmul.nap", "softmax.nap", "causal.nap"}) {
    CAPTURE(name);
    auto diagram = read_example(name);
    for (auto& axis : diagram.axes) axis.size = 64;
    const auto found = search(diagram, hardware, Goal{});
    check_laws(found.diagram, lay_out(found.diagram, found.plan, found.cost, hardware, Model::machine));
    check_laws(found.diagram, lay_out_memories(found.diagram, found.plan, hardware));
    for (const auto& scene : lay_out_derivation(found.diagram, found.plan, found.cost, hardware, Model::machine)) {
      CAPTURE(scene.title);
      CHECK(outside(scene) == std::vector<std::string>{});
      CHECK(collisions(scene) == std::vector<std::string>{});
    }
  }
}

TEST_CASE("random diagrams draw by the laws of pictures", "[scene][law]") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto diagram = testing::random_diagram(seed);
    CAPTURE(seed, testing::file_text(diagram));
    check_laws(diagram, lay_out(diagram));
    check_laws(diagram, planned(diagram, read_machine("toy"), seed % 2 == 0));
  }
}
