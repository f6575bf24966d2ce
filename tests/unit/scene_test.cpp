// Pictures: what is drawn as what, the emitters, hostile names, and the command.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "napkin/pictures.hpp"
#include "scene/bends.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "support/xml.hpp"

using namespace napkin;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The functions of a picture: "softmax as normalisation".
std::vector<std::string> functions(const Scene& scene) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < scene.marks.size(); ++i) {
    const auto& mark = scene.marks[i];
    if (mark.kind != MarkKind::function_name) continue;
    auto shape = i;
    while (shape > 0 &&
           !(std::holds_alternative<Line>(scene.marks[shape].shape) &&
             (std::get<Line>(scene.marks[shape].shape).closed || scene.marks[shape].kind == MarkKind::cup)))
      --shape;
    all.push_back(std::get<Words>(mark.shape).text + " as " + std::string(name(scene.marks[shape].kind)));
  }
  return all;
}

std::vector<std::string> functions_of(const std::string& text) {
  return functions(lay_out(read_text("diagram d\naxis q = 4\naxis x = 6\naxis y = q + x - 1\n" + text)));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("lines without names that look alike and follow each other are one path", "[scene]") {
  Scene scene;
  scene.title = "lines";
  const auto line = [&](MarkKind kind, double y, std::string about) {
    Mark mark{kind, Line{{{0, y}, {9, y}}}};
    mark.about = std::move(about);
    scene.marks.push_back(std::move(mark));
  };
  line(MarkKind::hatch, 1, ""), line(MarkKind::hatch, 2, ""), line(MarkKind::hatch, 3, "said of it");
  line(MarkKind::grid, 4, ""), line(MarkKind::hatch, 5, "");
  const auto svg = emit_svg(scene);
  CHECK(svg.find("<path class=\"hatch\" d=\"M0 1H9M0 2H9\"/>") != std::string::npos);
  CHECK(svg.find("d=\"M0 3H9\"><title>said of it</title>") != std::string::npos);
  CHECK(svg.find("<path class=\"hatch\" d=\"M0 5H9\"/>") != std::string::npos);
}

TEST_CASE("a function is drawn by what it does with its axes", "[scene]") {
  const std::string head = "input A: f32[q, x]\ninput B: f32[x]\n";
  CHECK(functions_of(head + "Y[q] = sum[x](A[q, x] * B[x]); output Y") == Names{"sum as cup"});
  CHECK(functions_of(head + "Y[q] = max[x](A[q, x]); output Y") == Names{"max as reduction"});
  CHECK(functions_of(head + "Y[q] = logsumexp[x](A[q, x]); output Y") == Names{"logsumexp as reduction"});
  CHECK(functions_of(head + "Y[q, x] = softmax[x](A[q, x]); output Y") == Names{"softmax as normalisation"});
  CHECK(functions_of(head + "Y[q, x] = gelu(A[q, x]); output Y") == Names{"gelu as pointwise"});
  CHECK(functions_of(head + "Y[q, x] = A[q, x] + B[x]; output Y") == Names{"A + B as pointwise"});
  CHECK(functions_of(head + "Y[q] = sum[x]((A[q, x] - B[x])^2); output Y") ==
        Names{"(A - B)^2 as pointwise", "sum as reduction"});
  CHECK(functions_of(head + "Y[q] = sum[x](A[q, x] * A[q, x]); output Y") ==
        Names{"A * A as pointwise", "sum as reduction"});
  CHECK(functions_of(head + "Y[q, x] = where(x <= q, A[q, x], 0); output Y") == Names{"x <= q as mask"});
  CHECK(functions_of(head + "Y[q, x] = where(x <= q, 0, A[q, x]); output Y") == Names{"not (x <= q) as mask"});
  CHECK(functions_of(head + "Y[q, x] = where(A[q, x] > 0, A[q, x], 0); output Y") ==
        Names{"where(A > 0, A, 0) as pointwise"});
  CHECK(functions_of("input C: f32[y]\nY[q, x] = C[q + x]; output Y") == Names{"y = q + x as reindexing"});
  CHECK(functions_of("Y[q] = q; output Y") == Names{"q as pointwise"});
  CHECK(functions_of(head + "Y[q, x] = B[x]; output Y") == Names{"repeat as pointwise"});
  CHECK(functions_of(head + "Y[x] = B[x]; output Y") == Names{"copy as pointwise"});
  CHECK(functions_of(head + "Y: f16[x] = B[x]; output Y") == Names{"f16 as pointwise"});
  CHECK(functions_of(head + "input s: f32[]\nY[q] = sum[x](A[q, x] * s[]); output Y") ==
        Names{"A * s as pointwise", "sum as reduction"});
}

TEST_CASE("a normalisation is known by its shape, whatever it is called", "[scene]") {
  CHECK(functions_of("def f[a](s) = s - max[a](s)\ninput A: f32[q, x]\nY[q, x] = f[x](A[q, x]); output Y") ==
        Names{"f as normalisation"});
  CHECK(functions_of("def softmax[a](s) = sum[a](s)\ninput A: f32[q, x]\nY[q] = softmax[x](A[q, x]); output Y") ==
        Names{"softmax as reduction"});
}

TEST_CASE("a bar stands over the wires that the next function is woven over", "[scene]") {
  const auto scene = lay_out(read_example("attention.nap"));
  for (const auto& mark : scene.marks) {
    if (mark.kind != MarkKind::wire_name) continue;
    const auto key = mark.array + "." + mark.axis;
    CAPTURE(key);
    if (key == "Q.q" || key == "K.x" || key == "V.d'" || key == "P.q") CHECK(std::get<Words>(mark.shape).barred);
    if (key == "Q.d" || key == "K.d" || key == "V.x" || key == "P.x" || key == "O.q")
      CHECK(!std::get<Words>(mark.shape).barred);
  }
}

TEST_CASE("scenes, text drawings and TikZ read as they did", "[scene][golden]") {
  const std::string folder = NAPKIN_SOURCE_DIR "/tests/golden/scene/";
  const auto scene = lay_out(read_example("attention.nap"));
  check_golden(folder + "attention.scene", to_text(scene));
  check_golden(folder + "attention.txt", emit_text_drawing(lay_out(read_example("attention.nap"), 800)));
  check_golden(folder + "attention.tex", emit_tikz(scene));
  check_golden(folder + "convolution.txt", emit_text_drawing(lay_out(read_example("convolution.nap"), 800)));
  const auto ran =
      test::run_cli({"draw", test::example("attention"), "--target", "h100-sxm5", "--partition", "flash2"});
  check_golden(folder + "attention_h100.txt", ran.out);
}

TEST_CASE("wires that a cup joins stand around each other", "[scene]") {
  const auto scene =
      lay_out(read_text("diagram d; axis a = 2; axis f = 3; axis g = 4\ninput X: f32[a, f, g]\ninput W: f32[g, f]\n"
                        "Y[a] = sum[f, g](X[a, f, g] * W[g, f]); output Y"));
  std::vector<std::pair<double, double>> cups;
  for (const auto& mark : scene.marks)
    if (mark.kind == MarkKind::cup)
      cups.emplace_back(std::get<Line>(mark.shape).points[0].y, std::get<Line>(mark.shape).points[3].y);
  REQUIRE(cups.size() == 2);
  CHECK(cups[1].first < cups[0].first);
  CHECK(cups[1].second > cups[0].second);
}

TEST_CASE("the divisor that is explained is one that is drawn", "[cli][scene][long]") {
  for (const auto* name : {"convolution", "attention", "block_sparse"}) {
    const auto drawn = test::run_cli({"draw", test::example(name), "--target", "h100-sxm5", "--format", "svg"}).out;
    const auto explained = drawn.find(">÷");
    const auto last = drawn.rfind(">÷"), colon = drawn.find(" means", last);
    CAPTURE(name);
    REQUIRE(explained != std::string::npos);
    const auto size = drawn.substr(last + 1, colon - last - 1);
    CHECK((has(drawn, " " + size + "</text>") || has(drawn, ">" + size + "</text>")));
  }
}

TEST_CASE("a statement alone is not fused", "[scene]") {
  const auto diagram = read_example("matmul.nap");
  const std::vector<StatementId> all = {{0}};
  for (const auto& scene : lay_out_derivation(diagram, derive(diagram, all), std::nullopt))
    CHECK((!has(scene.title, "fused") && !has(scene.title, "written out")));
}

TEST_CASE("a product that only the stream's columns give to matrix units is drawn on them", "[cli][scene]") {
  const auto norm = test::run_cli({"draw", test::example("rmsnorm_projection"), "--target", "h100-sxm5"});
  REQUIRE(norm.code == exit_done);
  CHECK(has(norm.out, "tensor fragments"));
}

TEST_CASE("draw --derivation writes numbered files or one page", "[cli][scene]") {
  const test::Folder folder;
  const auto attention = test::example("attention");
  const auto page = test::run_cli({"draw", attention, "--derivation", "--format", "html"});
  CHECK(page.code == exit_done);
  CHECK(page.out.starts_with("<!DOCTYPE html>"));
  CHECK(has(page.out, "<figure "));
  CHECK(!has(page.out, "http://www.w3.org/1999"));
  CHECK(!has(page.out, "src="));
  const auto files = test::run_cli({"draw", attention, "--derivation", "-o", folder / "film.svg"});
  CHECK(files.code == exit_done);
  CHECK(has(files.err, "film-01.svg"));
  CHECK(test::malformed(test::text_of(folder / "film-01.svg")) == "");
  CHECK(folder.files() > 5);
  CHECK(has(test::run_cli({"draw", attention, "--derivation"}).out, "streamed along x"));
}

TEST_CASE("hostile names come out escaped, elided and whole in their title", "[scene]") {
  auto diagram = read_example("attention.nap");
  const std::string longest(10'000, 'n');
  diagram.name = "\"><script>alert('d')</script>";
  diagram.arrays[0].name = "<script>alert(1)</script>&amp;";
  diagram.arrays[1].name = longest;
  diagram.arrays[2].name = "\u202Eright \u05D0\u05D1 to left\u202C";
  diagram.wires[0].name = "'quoted' \"twice\" \x01\xFF";
  diagram.wires[1].name = longest;
  const auto scene = lay_out(diagram);
  const auto svg = emit_svg(scene);
  CHECK(test::malformed(svg) == "");
  CHECK(!has(svg, "<script"));
  CHECK(!has(svg, "\u202E"));
  CHECK(has(svg, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;"));
  CHECK(has(svg, longest));
  CHECK(scene.width < 4000);
  CHECK(has(svg, "n…nnnn</text>"));
  const auto text = emit_text_drawing(scene);
  CHECK(!has(text, longest));
  CHECK(!has(text, "\u202E"));
  CHECK(!has(text, "\x01"));
  CHECK(has(emit_tikz(scene), "\\textless{}script\\textgreater{}"));
}

TEST_CASE("long names that begin alike can be told apart", "[scene]") {
  const std::string common(60, 'a');
  auto diagram = read_example("attention.nap");
  diagram.wires[0].name = common + "_q";
  diagram.arrays[0].name = common + "漢字";
  const auto text = to_text(lay_out(diagram));
  CHECK(has(text, "a…aa_q"));
  CHECK(has(text, "a…aa漢字"));
  for (const auto& mark : lay_out(diagram).marks)
    if (const auto* words = std::get_if<Words>(&mark.shape)) CHECK(words->width <= 260);
}

TEST_CASE("words take the width of their letters", "[scene]") {
  CHECK(text_width("") == 0);
  CHECK(text_width("iiii") == 32);
  CHECK(text_width("WWWW") > 44);
  CHECK(text_width("漢字") == 32);
  CHECK(elided("attention", 1000) == "attention");
  CHECK(elided("attention", 40) == "att…");
  CHECK(text_width(elided(std::string(500, 'm'), 200)) <= 200);
}

TEST_CASE("draw chooses its format by the file or by name", "[cli][scene]") {
  const test::Folder folder;
  const auto attention = test::example("attention");
  const auto begins = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> args = {"draw", attention, "-o", folder / file};
    args.insert(args.end(), more.begin(), more.end());
    const auto ran = test::run_cli(args);
    CAPTURE(ran.err);
    CHECK(ran.code == exit_done);
    return test::text_of(folder / file).substr(0, 4);
  };
  CHECK(begins("a.svg", {}) == "<svg");
  CHECK(begins("a.tex", {}) == "% Dr");
  CHECK(begins("a.txt", {}) == "   a");
  CHECK(begins("a.any", {"--format", "svg"}) == "<svg");
  CHECK(test::run_cli({"draw", attention, "--format", "tikz"}).out.starts_with("% Dr"));
  const auto wrong = test::run_cli({"draw", attention, "-o", folder / "a.jpg"});
  CHECK(wrong.code == exit_command_line);
  CHECK(has(wrong.err, "error[E0523]"));
  CHECK(has(test::run_cli({"draw", attention, "--format", "jpg"}).err, "one of text, svg, tikz, pdf, png, html"));
  CHECK(has(test::run_cli({"draw", attention, "--partition", "flash2"}).err, "a target is needed"));
  CHECK(has(test::run_cli({"draw", attention, "-o", "/nonexistent/a.svg"}).err, "error[E0527]"));
}

TEST_CASE("PDF and PNG come from rsvg-convert, or the error says what to install", "[cli][scene]") {
  const test::Folder folder;
  const auto attention = test::example("attention");
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const auto missing = test::run_cli({"draw", attention, "-o", folder / "a.png"});
  setenv("PATH", path.c_str(), 1);
  CHECK(missing.code == exit_command_line);
  CHECK(has(missing.err, "error[E0527]"));
  CHECK(has(missing.err, "install `rsvg-convert`"));
  const auto there = test::run_cli({"draw", attention, "-o", folder / "a.pdf"});
  if (there.code != exit_done) {
    CHECK(has(there.err, "`rsvg-convert` is not installed"));
    return;
  }
  const auto first = test::text_of(folder / "a.pdf");
  CHECK(first.starts_with("%PDF"));
  CHECK(test::run_cli({"draw", attention, "-o", folder / "a.pdf"}).code == exit_done);
  CHECK(test::text_of(folder / "a.pdf") == first);
  CHECK(test::run_cli({"draw", attention, "-o", folder / "a.png"}).code == exit_done);
  CHECK(test::text_of(folder / "a.png").substr(1, 3) == "PNG");
}

// Slowly: wires as points that lie closely, and every three of them.
TEST_CASE("what goes on in another row has a name, though it stands inside a statement", "[scene]") {
  const auto diagram = read_text(
      "diagram two\n\naxis a = 8\naxis b = 8\naxis c = 8\n\ninput A: f32[a, b]\ninput B: f32[b, c]\n\n"
      "input C: f32[a, b]\n\nY[a, c] = exp(sum[b](A[a, b] * B[b, c])) * relu(sum[b](C[a, b] * B[b, c]))\noutput Y\n");
  const auto wide = to_text(lay_out(diagram)), narrow = to_text(lay_out(diagram, 300));
  CHECK(!has(wide, "part of Y"));
  CHECK(has(narrow, "part of Y"));
  CHECK(has(narrow, "part 2 of Y"));
}

TEST_CASE("an output that a later row reads ends there", "[scene]") {
  const auto diagram = read_text(
      "diagram early\n\naxis a = 8\n\ninput X: f32[a]\n\nE[a] = 1 / (1 + exp(2 * X[a] + 3 * X[a] * X[a] - 4))\n"
      "F[a] = 1 / (1 + exp(2 * E[a] + 3 * E[a] * E[a] - 5))\noutput E\noutput F\n");
  const auto scene = lay_out(diagram, 400);
  // Where it is made, and where the next row begins.
  CHECK(std::ranges::count_if(scene.marks, [](const Mark& mark) {
          return mark.kind == MarkKind::array_name && std::get<Words>(mark.shape).text == "E";
        }) == 2);
}

TEST_CASE("what is read as another wire has that one's piece", "[scene]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_text(
      "diagram self\n\naxis t = 4096\naxis x = 4096\naxis d = 64\n\ninput Q: f16[t, d]\ninput K: f16[t, d]\n\n"
      "S[t, x] = sum[d](Q[t, d] * K[x, d])\noutput S\n");
  const std::vector<StatementId> all = {{0}};
  Plan plan;
  plan.kernels.push_back(make_kernel(
      std::make_shared<const Derivation>(derive(diagram, all)),
      {{{SplitKind::group, *find_wire(diagram, "t"), 128, 1}, {SplitKind::group, *find_wire(diagram, "x"), 32, 1}}}));
  const auto scene = lay_out(diagram, plan, estimate(plan, hardware, Model::machine), hardware, Model::machine);
  std::set<std::string> of_q, of_k;
  for (const auto& mark : scene.marks)
    if (mark.kind == MarkKind::wire_size && mark.level == 1)
      (mark.array == "Q" ? of_q : of_k).insert(std::get<Words>(mark.shape).text);
  CHECK(of_q == std::set<std::string>{"g_t 128"});
  CHECK(of_k == std::set<std::string>{"g_x 32"});
}

TEST_CASE("rows that fit beside each other are one", "[scene]") {
  const auto diagram = read_text(
      "diagram long\n\naxis a = 8\n\ninput X: f32[a]\n\nA[a] = exp(X[a])\nB[a] = exp(A[a])\n"
      "C[a] = 1 / (1 + exp(2 * B[a] + 3 * B[a] * B[a] - 4))\nD[a] = exp(C[a])\nE[a] = exp(D[a])\noutput E\n");
  const auto scene = lay_out(diagram, 480);
  CHECK(scene.width <= 480 + 48);
  const auto text = to_text(scene);
  std::size_t rows = 0;
  for (auto at = text.find("onward"); at != std::string::npos; at = text.find("onward", at + 1)) ++rows;
  CHECK(rows <= 2);
}

TEST_CASE("wires that reverse their order cross two by two", "[scene]") {
  for (int n = 3; n <= 8; ++n) {
    std::vector<scene::Bend> bends;
    for (int i = 0; i < n; ++i) bends.push_back({24.0 * i, 24.0 * (n - 1 - i)});
    const double width = scene::spread(bends);
    CAPTURE(n, width);
    CHECK(width < 200);
    double least = 1000;
    for (double x = 0; x <= width; x += 0.25)
      for (int a = 0; a < n; ++a)
        for (int b = a + 1; b < n; ++b)
          for (int c = b + 1; c < n; ++c) {
            const auto [low, high] = std::minmax({height(bends[a], x), height(bends[b], x), height(bends[c], x)});
            least = std::min(least, high - low);
          }
    CHECK(least > 2);
  }
}

TEST_CASE("wires bend together where no three of them meet", "[scene]") {
  std::vector<scene::Bend> bends = {{0, 48}, {24, 72}, {48, 0}, {72, 24}};
  const double width = scene::spread(bends);
  for (const auto& bend : bends) CHECK((bend.begin == 0 && bend.end == width));
  std::vector<scene::Bend> level = {{0, 0}, {24, 24}};
  CHECK(scene::spread(level) == 0);
}
