// Laws of charts, over every example on several machines: marks inside the page, words clear of words, well-formed XML,
// the same bytes every time, every array there, and as many cells in each row as there are columns.
#include <map>
#include <set>

#include "napkin/pictures.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/scene_laws.hpp"
#include "support/xml.hpp"

using namespace napkin;

namespace {

// Every statement a kernel of its own, or all of them one, each whole at every level.
Charted planned(const Diagram& diagram, const Hardware& hardware, bool fused, Model model) {
  Charted made{"plan", hardware, model, {}};
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  const auto add = [&](std::span<const StatementId> statements) {
    auto kernel = make_kernel(std::make_shared<const Derivation>(derive(diagram, statements)), {});
    const auto cost = estimate(kernel, hardware, model);
    auto configuration = configure(kernel, cost, hardware, model);
    made.kernels.push_back({std::move(kernel), cost, std::move(configuration)});
  };
  if (fused)
    add(all);
  else
    for (std::size_t i = 0; i < all.size(); ++i) add(std::span(all).subspan(i, 1));
  return made;
}

void check_laws(const Chart& chart) {
  CHECK(test::outside(chart.scene) == std::vector<std::string>{});
  CHECK(test::collisions(chart.scene) == std::vector<std::string>{});
  CHECK(test::malformed(emit_svg(chart.scene)) == "");
  CHECK(!chart.data.rows.empty());
  for (const auto& row : chart.data.rows) CHECK(row.size() == chart.data.columns.size());
}

std::set<std::string> arrays_of(const Chart& chart) {
  std::set<std::string> all;
  for (const auto& mark : chart.scene.marks)
    if (std::holds_alternative<Words>(mark.shape)) all.insert(mark.array);
  return all;
}

}  // namespace

TEST_CASE("charts of every example keep the laws of pictures", "[chart][law][long]") {
  std::map<std::string, int> drawn;
  for (const auto* machine : {"h100-sxm5", "two-level", "x86-64-avx2", "toy"}) {
    const auto hardware = read_machine(machine);
    for (const auto& file : test::drawn_files())
      for (const bool fused : {false, true}) {
        const auto diagram = read_text(read_file(file));
        const auto charted = planned(diagram, hardware, fused, fused ? Model::ideal : Model::machine);
        for (const auto& kind : chart_kinds()) {
          CAPTURE(machine, file, fused, kind.name);
          const auto chart = plot(kind.name, charted);
          if (!chart) continue;
          ++drawn[std::string(kind.name)];
          CHECK(chart->name == kind.name);
          check_laws(*chart);
          CHECK(to_text(plot(kind.name, charted)->scene) == to_text(chart->scene));
        }
      }
  }
  for (const auto& kind : chart_kinds())
    if (kind.name != "neighbours" && !kind.around) CHECK(drawn[std::string(kind.name)] > 20);
}

TEST_CASE("charts of what lies around a plan keep the laws", "[chart][law][explore][long]") {
  std::map<std::string, int> drawn;
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80", "two-level"})
    for (const std::string name : {"attention", "matmul", "softmax"}) {
      const auto hardware = read_machine(machine);
      const auto diagram = read_example(name + ".nap");
      const auto found = search(diagram, hardware, {});
      const auto around = explore(found.plan, hardware, Model::machine);
      Charted charted{"plan", hardware, Model::machine, {}, around.machine};
      for (std::size_t i = 0; i < found.plan.kernels.size(); ++i)
        charted.kernels.push_back({found.plan.kernels[i], found.cost.kernels[i], {}, around.kernels[i]});
      for (const auto& kind : chart_kinds()) {
        CAPTURE(machine, name, kind.name);
        const auto chart = kind.around ? plot(kind.name, charted) : std::nullopt;
        if (!chart) continue;
        ++drawn[std::string(kind.name)];
        check_laws(*chart);
      }
    }
  for (const auto& kind : chart_kinds())
    if (kind.around) CHECK(drawn[std::string(kind.name)] >= 6);
}

TEST_CASE("transfers show every array that moves, and loops every variable", "[chart][law]") {
  const auto hardware = read_machine("h100-sxm5");
  for (const auto& file : test::drawn_files()) {
    CAPTURE(file);
    const auto charted = planned(read_text(read_file(file)), hardware, true, Model::machine);
    const auto& kernel = charted.kernels.front();
    const auto moved = arrays_of(*plot("transfers", charted));
    for (const auto& level : kernel.cost.levels)
      for (const auto& array : level.arrays) CHECK(moved.contains(array.array));
    const auto nest = lower(kernel.kernel, hardware);
    const auto looped = arrays_of(*plot("loops", charted));
    for (const auto& buffer : nest.buffers) CHECK(looped.contains(nest.scratch.at(buffer.array).name));
  }
}

TEST_CASE("charts of a plan with pieces keep the laws", "[chart][law]") {
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80", "rtx4090", "v100-sxm2"})
    for (const auto model : {Model::machine, Model::ideal}) {
      const auto hardware = read_machine(machine);
      const auto diagram = read_example("attention.nap");
      const std::vector<StatementId> all = {{0}, {1}, {2}};
      auto kernel = make_kernel(std::make_shared<const Derivation>(derive(diagram, all)),
                                {{{SplitKind::group, *find_wire(diagram, "q"), 128, 1},
                                  {SplitKind::stream, *find_wire(diagram, "x"), 64, 1}}});
      const auto cost = estimate(kernel, hardware, model);
      auto configuration = configure(kernel, cost, hardware, model);
      const Charted charted{"attention", hardware, model, {{std::move(kernel), cost, std::move(configuration)}}};
      for (const auto& kind : chart_kinds()) {
        if (kind.around) continue;
        CAPTURE(machine, kind.name);
        const auto chart = plot(kind.name, charted);
        REQUIRE(chart);
        check_laws(*chart);
      }
    }
}

TEST_CASE("charts with long and hostile names keep the laws", "[chart][law][long]") {
  const auto hardware = read_machine("h100-sxm5");
  auto diagram = read_example("attention.nap");
  const std::string longest(10'000, 'n');
  diagram.name = "<script>";
  for (auto& array : diagram.arrays) array.name = longest + array.name;
  for (auto& wire : diagram.wires) wire.name = longest + wire.name;
  diagram.arrays[0].name = "\"><script>alert(1)</script>";
  for (const bool fused : {false, true}) {
    const auto charted = planned(diagram, hardware, fused, Model::machine);
    for (const auto& kind : chart_kinds()) {
      CAPTURE(kind.name, fused);
      const auto chart = plot(kind.name, charted);
      if (!chart) continue;
      check_laws(*chart);
      CHECK(chart->scene.width < 4000);
      CHECK(emit_svg(chart->scene).find("<script") == std::string::npos);
    }
  }
}

TEST_CASE("strips of predictions keep the laws, whatever their groups are called", "[chart][law]") {
  std::vector<Predicted> all;
  for (int i = 0; i < 200; ++i)
    all.push_back({i % 3 == 0   ? std::string(10'000, 'n')
                   : i % 3 == 1 ? "<script>"
                                : "products",
                   1e-6 * (1 + i * i), 1e-6 * (1 + i * (i + 30)), i % 2 == 0});
  check_laws(plot(all));
  check_laws(plot(std::span(all).first(1)));
  CHECK(emit_svg(plot(all).scene).find("<script") == std::string::npos);
}
