// Charts: their numbers are those of the analysis, their lengths are those of their numbers, and the command.
#include "napkin/chart.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "chart/kinds.hpp"
#include "napkin/pictures.hpp"
#include "napkin/summary.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "support/xml.hpp"

using namespace napkin;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Charted attention(Model model = Model::machine, const char* machine = "h100-sxm5") {
  const auto hardware = read_machine(machine);
  const auto diagram = read_example("attention.nap");
  const std::vector<StatementId> all = {{0}, {1}, {2}};
  auto kernel = make_kernel(
      std::make_shared<const Derivation>(derive(diagram, all)),
      {{{SplitKind::group, *find_wire(diagram, "q"), 128, 1}, {SplitKind::stream, *find_wire(diagram, "x"), 64, 1}}});
  const auto cost = estimate(kernel, hardware, model);
  auto configuration = configure(kernel, cost, hardware, model);
  return {"attention", hardware, model, {{std::move(kernel), cost, std::move(configuration)}}};
}

double number(const Data& data, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(data.columns, column) - data.columns.begin();
  return std::get<double>(data.rows.at(row).at(static_cast<std::size_t>(at)));
}

std::vector<Area> areas(const Chart& chart, MarkKind kind) {
  std::vector<Area> all;
  for (const auto& mark : chart.scene.marks)
    if (mark.kind == kind) all.push_back(std::get<Area>(mark.shape));
  return all;
}

}  // namespace

TEST_CASE("a roofline has its kernel below slope and roof", "[chart]") {
  const auto charted = attention(Model::ideal);
  const auto chart = plot("roofline", charted);
  REQUIRE(chart);
  REQUIRE(!chart->data.rows.empty());
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i) {
    const double intensity = number(chart->data, i, "operations_per_byte");
    const double speed = number(chart->data, i, "operations_per_s");
    CHECK(intensity * number(chart->data, i, "transfer_bytes") == Approx(number(chart->data, i, "operations")));
    CHECK(speed <= number(chart->data, i, "unit_operations_per_s") * (1 + 1e-9));
    const auto& level = charted.hardware.levels[i + 1];
    CHECK(speed <= intensity * level.bandwidth->peak() * (1 + 1e-9));
  }
}

TEST_CASE("a roofline has a dot for the memory behind a cache, as far right as the cache spares reads", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("roofline", charted);
  REQUIRE(chart);
  std::map<std::string, double> bytes;
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i)
    bytes[std::get<std::string>(chart->data.rows[i][2])] = number(chart->data, i, "transfer_bytes");
  std::map<std::string, double> expected;
  const auto& one = charted.kernels[0];
  for (const auto& crossing : crossings(one.kernel, one.cost, charted.hardware, charted.model))
    expected[crossing.from] = crossing.bytes;
  CHECK(bytes == expected);
  CHECK(bytes.size() == 3);
  CHECK(bytes.at("gmem") < bytes.at("l2"));
  const auto of = [](const Mark& mark) { return mark.kind == MarkKind::point && !mark.about.empty(); };
  CHECK(std::ranges::count_if(chart->scene.marks, of) == 3);
}

TEST_CASE("no two arrays of a chart share a colour, and an array has one in all charts", "[chart]") {
  const auto charted = attention();
  std::map<std::string, std::size_t> colours;
  for (const auto* name : {"transfers", "memory", "timeline"}) {
    const auto chart = plot(name, charted);
    REQUIRE(chart);
    for (const auto& mark : chart->scene.marks) {
      if (mark.kind != MarkKind::bar) continue;
      CAPTURE(name, mark.array);
      REQUIRE(mark.series);
      CHECK(colours.try_emplace(mark.array, *mark.series).first->second == *mark.series);
    }
  }
  CHECK(colours.size() > 8);
  std::set<std::string> looks;
  for (const auto& [array, series] : colours) {
    Scene scene;
    scene.marks.push_back({MarkKind::bar, Area{0, 0, 1, 1}});
    scene.marks.back().series = series;
    const auto svg = emit_svg(scene);
    const auto at = svg.rfind("class=\"bar ");
    looks.insert(svg.substr(at, svg.find('"', at + 8) - at));
  }
  CHECK(looks.size() == colours.size());
}

TEST_CASE("words of charts in time stand inside their axis", "[chart]") {
  const auto charted = attention();
  for (const auto* name : {"timeline", "time", "neighbours", "memory", "roofline"}) {
    CAPTURE(name);
    const auto chart = plot(name, charted);
    REQUIRE(chart);
    double right = 0;
    for (const auto& mark : chart->scene.marks)
      if (mark.kind == MarkKind::axis)
        for (const auto& point : std::get<Line>(mark.shape).points) right = std::max(right, point.x);
    for (const auto& mark : chart->scene.marks)
      if (const auto* words = std::get_if<Words>(&mark.shape); words && mark.kind == MarkKind::label) {
        const double share = words->anchor == Anchor::start ? 1 : words->anchor == Anchor::middle ? 0.5 : 0;
        CAPTURE(words->text);
        CHECK(words->at.x + share * words->width <= right + 1);
      }
  }
}

TEST_CASE("a prediction stands above the line of its group where it is longer than published", "[chart]") {
  const std::vector<Predicted> all = {
      {"sums", 1e-5, 1e-5, true}, {"sums", 1e-5, 2e-5, true}, {"rows", 1e-4, 5e-5, false}};
  const auto chart = plot(all);
  std::vector<double> lines;
  std::vector<Mark> points;
  for (const auto& mark : chart.scene.marks) {
    if (mark.kind == MarkKind::limit) lines.push_back(std::get<Line>(mark.shape).points.front().y);
    if (mark.kind == MarkKind::point && !mark.about.empty()) points.push_back(mark);
  }
  REQUIRE(lines.size() == 2);
  REQUIRE(points.size() == 3);
  const auto y = [&](std::size_t i) { return std::get<Line>(points[i].shape).points.front().y; };
  CHECK(y(0) == Approx(lines[0]));
  CHECK(y(1) < lines[0]);
  CHECK(y(2) - lines[1] == Approx(lines[0] - y(1)));
  CHECK(points[0].series == points[1].series);
  CHECK(points[0].series != points[2].series);
}

TEST_CASE("bands of transfers are as high as their bytes", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("transfers", charted);
  REQUIRE(chart);
  const auto bands = areas(*chart, MarkKind::again);
  REQUIRE(bands.size() == chart->data.rows.size());
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    CHECK(bands[i].height / bands[0].height ==
          Approx(number(chart->data, i, "transfer_bytes") / number(chart->data, 0, "transfer_bytes")));
    sums[std::get<std::string>(chart->data.rows[i][2])] += number(chart->data, i, "transfer_bytes");
  }
  for (const auto& level : charted.kernels[0].cost.levels)
    CHECK(sums[charted.hardware.levels[level.level].name] == static_cast<double>(level.transfer_bytes));
}

TEST_CASE("a map of memory ends where the memory does", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("memory", charted);
  REQUIRE(chart);
  std::map<std::string, double> ends;
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i)
    ends[std::get<std::string>(chart->data.rows[i][1])] =
        number(chart->data, i, "begin") + number(chart->data, i, "size");
  for (const auto& level : charted.kernels[0].cost.levels)
    CHECK(ends[charted.hardware.levels[level.level].name] == static_cast<double>(level.memory_bytes));
  const auto bars = areas(*chart, MarkKind::bar);
  CHECK(bars[0].width / bars[1].width == Approx(number(chart->data, 0, "size") / number(chart->data, 1, "size")));
}

TEST_CASE("a timeline leaves no clock of a unit without bar or hatching", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("timeline", charted);
  REQUIRE(chart);
  const auto& made = *charted.kernels[0].configuration;
  CHECK(chart->data.rows.size() == made.pipelinings[made.chosen].timeline.size());
  CHECK(areas(*chart, MarkKind::bar).size() == chart->data.rows.size());
  const auto count = [&](MarkKind kind) { return std::ranges::count(chart->scene.marks, kind, &Mark::kind); };
  CHECK(count(MarkKind::hatch) > 0);
  CHECK(count(MarkKind::barrier) > 0);
  CHECK(!has(to_text(chart->scene), ".0 clocks"));
}

TEST_CASE("a timeline names its overlap, and shows each of the warpgroups that take turns", "[chart]") {
  auto charted = attention();
  auto& made = *charted.kernels[0].configuration;
  const std::pair<const char*, int> expected[] = {{"no overlap", 1},         {"multistage", 1},
                                                  {"co-resident blocks", 1}, {"intra-warpgroup", 1},
                                                  {"ping-pong of two", 2},   {"ping-pong of three", 3}};
  REQUIRE(made.pipelinings.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(expected[i].first);
    made.chosen = i;
    const auto chart = plot("timeline", charted);
    REQUIRE(chart);
    std::map<std::string, int> said;
    for (const auto& mark : chart->scene.marks)
      if (const auto* words = std::get_if<Words>(&mark.shape)) ++said[words->text];
    for (int warpgroup = 1; warpgroup <= 3; ++warpgroup)
      CHECK(said["warpgroup " + std::to_string(warpgroup)] ==
            (expected[i].second > 1 && warpgroup <= expected[i].second));
    std::set<std::string> warpgroups;
    for (const auto& row : chart->data.rows) {
      CHECK(std::get<std::string>(row[1]) == expected[i].first);
      warpgroups.insert(std::get<std::string>(row[2]));
    }
    CHECK(warpgroups.contains("all"));
    for (const auto& [words, times] : said) CHECK(!words.ends_with("…"));
    CHECK(said["An operation that is cut off at the right continues at the left."] == (expected[i].second > 1));
    // 512 clocks for 128 rows by 64 positions, of which each warpgroup has its share.
    const auto* clocks = expected[i].second == 1   ? ", 512 clocks"
                         : expected[i].second == 2 ? ", 256 clocks"
                                                   : ", 171 clocks";
    CHECK(std::ranges::any_of(
        said, [&](const auto& one) { return one.first.starts_with("S_sum") && has(one.first, clocks); }));
    CHECK(warpgroups.size() == static_cast<std::size_t>(expected[i].second) + 1);
  }
}

TEST_CASE("timelines beside each other have one scale", "[chart]") {
  auto charted = attention();
  const auto alone = areas(*plot("timeline", charted), MarkKind::bar);
  charted.least_step_seconds = 2 * most_step_seconds(charted);
  const auto beside = areas(*plot("timeline", charted), MarkKind::bar);
  REQUIRE(beside.size() == alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(beside[i].width == Approx(alone[i].width / 2));
}

TEST_CASE("time has a bar for each level and unit, and losses that lead to the launch", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("time", charted);
  REQUIRE(chart);
  const auto& kernel = charted.kernels[0];
  REQUIRE(kernel.configuration->launch);
  const auto last = chart->data.rows.size() - 1;
  CHECK(number(chart->data, last, "end_s") == kernel.configuration->launch->time_s);
  CHECK(number(chart->data, last - 1, "end_s") == Approx(kernel.configuration->launch->time_s));
  CHECK(number(chart->data, 0, "end_s") == *kernel.cost.levels[0].time_s);
}

TEST_CASE("loops hold a variable as long as a loop around its use needs it", "[chart]") {
  const auto chart = plot("loops", attention());
  REQUIRE(chart);
  // Of its innermost variable.
  const auto bar = [&](const std::string& array) {
    std::optional<Area> found;
    for (const auto& mark : chart->scene.marks)
      if (mark.kind == MarkKind::again && mark.array == array) found = std::get<Area>(mark.shape);
    REQUIRE(found);
    return *found;
  };
  const auto q = bar("Q"), s = bar("S");
  CHECK(q.x < s.x);
  CHECK(q.x + q.width > s.x + s.width);
}

TEST_CASE("other pieces have a bar where they run, as long as they are fast", "[chart]") {
  const auto charted = attention();
  const auto chart = plot("neighbours", charted);
  REQUIRE(chart);
  const auto& all = charted.kernels[0].configuration->neighbours;
  REQUIRE(chart->data.rows.size() == all.size());
  const auto bars = areas(*chart, MarkKind::bar);
  REQUIRE(std::ranges::count(all, true, &Neighbour::runs) == static_cast<std::ptrdiff_t>(bars.size()));
  REQUIRE(bars.size() > 1);
  std::vector<double> speeds;  // of launches
  for (const auto& one : all)
    if (one.runs) speeds.push_back(charted.kernels[0].configuration->launch->time_s / one.time_s.value());
  for (std::size_t i = 0; i < bars.size(); ++i) CHECK(bars[i].width / bars[0].width == Approx(speeds[i] / speeds[0]));
}

TEST_CASE("loops say what each step moves or computes, once", "[chart]") {
  const auto chart = plot("loops", attention());
  REQUIRE(chart);
  std::map<std::string, std::pair<double, double>> steps;  // bytes and operations
  for (std::size_t i = 0; i < chart->data.rows.size(); ++i)
    steps[std::get<std::string>(chart->data.rows[i][3])] = {number(chart->data, i, "bytes"),
                                                            number(chart->data, i, "operations")};
  CHECK(steps.at("load K_smem from K") == std::pair(64.0 * 128 * 2, 0.0));
  CHECK(steps.at("S_sum = sum[d](Q * K)") == std::pair(0.0, 2.0 * 128 * 64 * 128));
  CHECK(steps.at("p = exp(S - n)").second == 128.0 * 64);
  CHECK(has(to_text(chart->scene), "S_sum = sum[d](Q * K); 2.10 M on tensor"));
}

TEST_CASE("a level has the colour of drawings in every chart", "[chart]") {
  const auto charted = attention();
  const auto series = [&](const char* name, MarkKind kind, const std::string& about) {
    std::optional<std::size_t> found;
    const auto chart = plot(name, charted);
    for (const auto& mark : chart->scene.marks)
      if (mark.kind == kind && has(mark.about, about)) found = mark.series;
    REQUIRE(found);
    return *found;
  };
  CHECK(series("loops", MarkKind::again, ", smem") == series("roofline", MarkKind::point, "into smem"));
  CHECK(series("loops", MarkKind::again, ", reg") == series("roofline", MarkKind::point, "into reg"));
  CHECK(series("time", MarkKind::bar, "gmem to smem") == series("roofline", MarkKind::point, "into smem"));
  for (const auto* machine : {"h100-sxm5", "h100-sxm5-x8", "a100-sxm4-80-l2"}) {
    const auto hardware = read_machine(machine);
    std::set<std::size_t> all;
    for (std::size_t level = 0; level < hardware.levels.size(); ++level)
      all.insert(chart::level_series(hardware, level));
    CHECK(all.size() == hardware.levels.size());
  }
}

TEST_CASE("without rates there is no roofline, and without matrix units no timeline", "[chart]") {
  CHECK(!plot("roofline", attention(Model::ideal, "two-level")));
  CHECK(!plot("time", attention(Model::ideal, "two-level")));
  CHECK(!plot("timeline", attention(Model::machine, "x86-64-avx2")));
  CHECK(!plot("transfers", {"nothing", read_machine("toy"), Model::machine, {}}));
  CHECK(!plot("pie", attention()));
}

TEST_CASE("a chart's own sentences stand whole", "[chart]") {
  auto charted = attention();
  auto& kernel = charted.kernels[0];
  kernel.explored.emplace();
  kernel.explored->rooms = explore_rooms(kernel.kernel.derivation, charted.hardware, glance);
  for (auto& point : kernel.explored->rooms.points)
    point.bound.why = "inputs read once, outputs written once, where all of them are needed; of fused products unknown";
  auto& pieces = kernel.explored->pieces.emplace();
  pieces = {{"x", SplitKind::group, {64, 128}, 0}, Terrain::Side{"x", SplitKind::stream, {64}, 0}, {{1e-6, 2e-6}}};
  std::string all;
  for (const auto* name : {"time", "rooms", "pieces"}) {
    const auto chart = plot(name, charted);
    REQUIRE(chart);
    for (const auto& mark : chart->scene.marks)
      if (const auto* words = std::get_if<Words>(&mark.shape)) all += words->text + "\n";
  }
  INFO(all);
  CHECK(!has(all, "…"));
  CHECK(has(all, "of fused products unknown"));
  CHECK(has(all, "g_x 64\n"));  // two splits of one axis
  CHECK(has(all, "s_x 64\n"));
}

TEST_CASE("numbers of a chart are CSV", "[chart]") {
  const Data data{{"name", "time_s"}, {{std::string("S, \"P\""), 0.1}, {std::string("O"), 4096.0}}};
  CHECK(emit_csv(data) == "name,time_s\n\"S, \"\"P\"\"\",0.1\nO,4096\n");
}

TEST_CASE("analyze --plot writes a chart by the ending of its file", "[chart][cli]") {
  const test::Folder folder;
  const auto attention = test::example("attention");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"analyze", attention, "--target", "h100-sxm5", "--partition", "flash2", "--plot"};
    args.insert(args.end(), more.begin(), more.end());
    return test::run_cli(args);
  };
  CHECK(run({"roofline", "-o", folder / "a.svg"}).code == exit_done);
  CHECK(test::malformed(test::text_of(folder / "a.svg")) == "");
  const auto numbers = run({"transfers"});
  CHECK(numbers.code == exit_done);
  CHECK(numbers.out.starts_with("kernel,outer,inner,array,way,"));
  CHECK(run({"transfers", "-o", folder / "a.csv"}).code == exit_done);
  CHECK(test::text_of(folder / "a.csv") == numbers.out);
  const auto wrong = run({"roofline", "-o", folder / "a.jpg"});
  CHECK(wrong.code == exit_command_line);
  CHECK(has(wrong.err, "error[E0523]"));
  const auto choices = run({"pie"}).err;
  for (const auto& kind : chart_kinds()) CHECK(has(choices, std::string(kind.name)));
  const auto nothing = test::run_cli({"analyze", attention, "--target", "two-level", "--plot", "roofline"});
  CHECK(nothing.code == exit_command_line);
  CHECK(has(nothing.err, "the chart `roofline` has nothing to show here"));
}

TEST_CASE("analyze shows the drawing above the numbers", "[cli][scene]") {
  const auto attention = test::example("attention");
  const auto text =
      test::run_cli({"analyze", attention, "--target", "h100-sxm5", "--partition", "flash2", "--details"}).out;
  CHECK(text.find("the diagram") < text.find("kernel S, P, O"));
  // What a person wrote is not the search's.
  const auto words_of = [&](const std::string& level) {
    const auto at = text.find("\n    " + level + "  group q");
    REQUIRE(at != std::string::npos);
    return text.substr(at, text.find('\n', at + 1) - at);
  };
  CHECK(!has(words_of("smem"), "by the search"));
  CHECK(has(words_of("reg "), "by the search"));
  CHECK(has(text, "softmax"));
  CHECK(has(text, "q̅ 4096━━━"));
  const auto markdown = test::run_cli(
      {"analyze", attention, "--target", "h100-sxm5", "--partition", "flash2", "--details", "--format", "markdown"});
  CHECK(has(markdown.out, "## the diagram\n\n```\n"));
}
