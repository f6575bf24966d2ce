// Laws of pictures, over every example and random diagrams, with and without a machine: marks stand inside the page,
// words never stand on words or on wires, every array and wire is named, and the bytes are the same every time.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "napkin/emit.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"
#include "support/xml.hpp"

using namespace napkin;

namespace {

struct Rectangle {
  double left, top, right, bottom;
};

Rectangle box(const Words& words) {
  const double shift = words.anchor == Anchor::start    ? 0
                       : words.anchor == Anchor::middle ? words.width / 2
                                                        : words.width;
  return {words.at.x - shift, words.at.y - 7, words.at.x - shift + words.width, words.at.y + 7};
}

bool meet(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right - 0.1 && b.left < a.right - 0.1 && a.top < b.bottom - 0.1 && b.top < a.bottom - 0.1;
}

std::vector<Rectangle> boxes(const Mark& mark) {
  if (const auto* words = std::get_if<Words>(&mark.shape)) return {box(*words)};
  if (const auto* area = std::get_if<Area>(&mark.shape))
    return {{area->x, area->y, area->x + area->width, area->y + area->height}};
  std::vector<Rectangle> all;
  for (const auto& point : std::get<Line>(mark.shape).points) all.push_back({point.x, point.y, point.x, point.y});
  return all;
}

// Level pieces of wires and cups.
std::vector<Rectangle> wires(const Scene& scene) {
  std::vector<Rectangle> all;
  for (const auto& mark : scene.marks) {
    if (mark.kind != MarkKind::wire && mark.kind != MarkKind::cup) continue;
    const auto& points = std::get<Line>(mark.shape).points;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].y == points[i - 1].y)
        all.push_back({points[i - 1].x, points[i].y - 0.8, points[i].x, points[i].y + 0.8});
  }
  return all;
}

std::vector<std::string> outside(const Scene& scene) {
  std::vector<std::string> all;
  for (const auto& mark : scene.marks)
    for (const auto& b : boxes(mark))
      if (b.left < 0 || b.top < 0 || b.right > scene.width || b.bottom > scene.height)
        all.push_back(std::string(name(mark.kind)));
  return all;
}

std::vector<std::string> collisions(const Scene& scene) {
  std::vector<std::string> all;
  std::vector<std::pair<Rectangle, std::string>> words;
  for (const auto& mark : scene.marks)
    if (const auto* w = std::get_if<Words>(&mark.shape)) words.emplace_back(box(*w), w->text);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t j = i + 1; j < words.size(); ++j)
      if (meet(words[i].first, words[j].first)) all.push_back(words[i].second + " on " + words[j].second);
  for (const auto& wire : wires(scene))
    for (const auto& [where, text] : words)
      if (meet(wire, where)) all.push_back(text + " on a wire");
  return all;
}

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

std::vector<std::string> files() {
  std::vector<std::string> all = {NAPKIN_SOURCE_DIR "/bench/twenty.nap"};
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".nap") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
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
  for (const auto& file : files()) {
    CAPTURE(file);
    const auto diagram = read_text(read_file(file));
    for (const double width : {400.0, 800.0, 1120.0, 4000.0}) {
      CAPTURE(width);
      check_laws(diagram, lay_out(diagram, width));
    }
    CHECK(to_text(lay_out(diagram)) == to_text(lay_out(diagram)));
  }
}

TEST_CASE("every derivation draws by the laws of pictures", "[scene][law]") {
  for (const auto& file : files()) {
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

TEST_CASE("plans draw by the laws of pictures", "[scene][law]") {
  for (const auto* machine : {"h100-sxm5", "two-level", "x86-64-avx2"}) {
    const auto hardware = read_machine(machine);
    for (const auto& file : files()) {
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
