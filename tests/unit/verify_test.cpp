// Verification: the examples hold, and what is wrong is found.
#include "napkin/verify.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "diagram/assume.hpp"
#include "napkin/report.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/in_turn.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".nap") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

// Options that make whole rows fit in small machines, where that leaves every index inside its array.
std::vector<std::string> small_sizes(const std::string& name) {
  Overrides overrides;
  std::vector<std::string> options;
  for (const auto& axis : read_example(name + ".nap").axes) {
    overrides.sizes.emplace_back(axis.name, std::min<std::int64_t>(*axis.size, 45));
    options.insert(options.end(), {"--set", axis.name + "=" + std::to_string(overrides.sizes.back().second)});
  }
  try {
    read_example(name + ".nap", overrides);
    return options;
  } catch (const std::runtime_error&) {
    return {};
  }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Attention in one kernel, small enough to run as it stands.
struct Small {
  Diagram diagram = read_example("attention.nap", {{{"q", 7}, {"x", 9}, {"d", 4}}, {}});
  Hardware hardware = read_machine("toy");
  Plan plan;
  Cost cost;

  Small() {
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    auto derivation = std::make_shared<const Derivation>(derive(diagram, all));
    const auto q = *find_wire(diagram, "q"), x = *find_wire(diagram, "x");
    const Partition partition{{{SplitKind::group, q, 3, 1}, {SplitKind::stream, x, 2, 1}}};
    plan.kernels.push_back(make_kernel(std::move(derivation), partition));
    cost = estimate(plan, hardware, Model::machine);
  }
  Verification verify() const { return verify_plan(diagram, plan, cost, hardware); }
};

// Every number of a loop's column that repairs what it carries, gone.
void forget_repairs(std::vector<Step>& steps) {
  for (auto& step : steps)
    if (auto* column = std::get_if<Column>(&step))
      column->repair.reset();
    else
      forget_repairs(std::get<Loop>(step).body);
}

}  // namespace

// On a machine of full size every third, or all.
TEST_CASE("every example verifies on every kind of machine", "[verify][long]") {
  const std::vector<std::vector<std::string>> targets = {
      {"two-level", "--set-target", "M=700"}, {"toy"}, {"h100-sxm5"}};
  int too_small = 0;
  std::size_t turn = 0;
  for (const auto& name : examples()) {
    const bool small_only = test::left_out(turn++, 3);
    const auto small = small_sizes(name);
    for (const auto& target : targets) {
      if (small_only && target[0] == "h100-sxm5") continue;
      std::vector<std::string> args = {"verify", example(name), "--target"};
      args.insert(args.end(), target.begin(), target.end());
      if (target[0] != "h100-sxm5") args.insert(args.end(), small.begin(), small.end());
      const auto ran = run_cli(args);
      CAPTURE(args, ran.out, ran.err);
      const bool fits = !has(ran.err, "nothing fits");
      CHECK(ran.code == (fits ? exit_done : exit_input));
      too_small += fits ? 0 : 1;
    }
  }
  CHECK(too_small <= 4);  // a toy has no room for windows of some width
}

TEST_CASE("a plan that is right verifies", "[verify]") {
  const auto verification = Small().verify();
  CHECK(verification.ok);
  REQUIRE(verification.outputs.size() == 1);
  CHECK(verification.outputs[0].error > 0);  // P is rounded before the division, not after
  CHECK(has(print(verification, Format::text, false), "as predicted"));
}

TEST_CASE("a wrong prediction is reported", "[verify]") {
  const auto changes = {
      +[](KernelCost& cost) { cost.levels[0].transfer_bytes += 2; },
      +[](KernelCost& cost) { cost.levels[1].memory_bytes -= 4; },
      +[](KernelCost& cost) { cost.levels[1].memory_values += 1; },
      +[](KernelCost& cost) { cost.units[0].asked += 1; },
  };
  for (const auto change : changes) {
    Small small;
    change(small.cost.kernels[0]);
    const auto verification = small.verify();
    const auto text = print(verification, Format::text, false);
    CAPTURE(text);
    CHECK_FALSE(verification.ok);
    CHECK(has(text, "NOT VERIFIED"));
    CHECK(has(text, "WRONG"));
    CHECK(nlohmann::json::parse(print(verification, Format::json, false))["ok"] == false);
  }
}

TEST_CASE("wrong numbers are reported", "[verify]") {
  Small small;
  forget_repairs(small.plan.kernels[0].program.steps);
  small.cost = estimate(small.plan, small.hardware, Model::machine);
  const auto verification = small.verify();
  CHECK_FALSE(verification.ok);
  CHECK(verification.outputs[0].error > 2 * verification.outputs[0].allowed);
  for (const auto& level : verification.kernels[0].levels) CHECK(level.matches);
}

TEST_CASE("a level that holds too much is reported", "[verify]") {
  Small small;
  small.hardware.levels[1].usable = {20, Origin::given, "", ""};
  small.cost = estimate(small.plan, small.hardware, Model::machine);
  const auto verification = small.verify();
  CHECK_FALSE(verification.ok);
  CHECK(verification.kernels[0].levels[0].matches);
  CHECK_FALSE(verification.kernels[0].levels[0].fits);
  CHECK(has(print(verification, Format::text, false), "DOES NOT FIT"));
}

namespace {

// What `kernels` says, as one kernel in pieces, held against what `meant` says: two diagrams of the same arrays.
Verification against(const std::string& meant, const std::string& kernels,
                     std::vector<std::pair<std::string, std::int64_t>> streams,
                     std::span<const Numbers> numbers = all_numbers) {
  const auto hardware = read_machine("two-level");
  const auto computed = read_text("diagram d; " + kernels);
  Partition partition;
  for (const auto& [wire, size] : streams)
    partition.splits.push_back({SplitKind::stream, *find_wire(computed, wire), size, 1});
  const Plan plan{{make_kernel(testing::derived(computed), partition)}};
  return verify_plan(read_text("diagram d; " + meant), plan, estimate(plan, hardware, Model::machine), hardware,
                     numbers);
}

std::vector<std::int64_t> planned_sizes(const Verification& verification) {
  std::vector<std::int64_t> sizes;
  for (const auto& axis : verification.diagram.axes) sizes.push_back(*axis.size);
  return sizes;
}

template <class Change>
void change_loops(std::vector<Step>& steps, const Change& change) {
  for (auto& step : steps)
    if (auto* loop = std::get_if<Loop>(&step)) {
      change(*loop);
      change_loops(loop->body, change);
    }
}

// Causal attention in pieces, with its loops changed.
template <class Change>
Verification causal(const Change& change) {
  const auto diagram = read_text(
      "diagram causal; axis q = 7; axis x = 9; input S: f32[q, x]; input V: f32[x]\n"
      "P[q, x] = softmax[x](where(x <= q, S[q, x], -inf)); O[q] = sum[x](P[q, x] * V[x])\noutput O");
  const auto hardware = read_machine("two-level");
  const Partition partition{
      {{SplitKind::group, *find_wire(diagram, "q"), 3, 1}, {SplitKind::stream, *find_wire(diagram, "x"), 2, 1}}};
  Plan plan{{make_kernel(testing::derived(diagram), partition)}};
  change_loops(plan.kernels[0].program.steps, change);
  return verify_plan(diagram, plan, estimate(plan, hardware, Model::machine), hardware);
}

}  // namespace

TEST_CASE("coarser formats allow more, and are honoured", "[verify]") {
  constexpr Numbers ordinary[] = {Numbers::ordinary};
  double before = 0;
  for (const std::string type : {"f64", "f32", "f16", "bf16", "f8e4m3"}) {
    const auto text =
        "axis a = 9; axis b = 8; axis c = 7; input A: f32[a, b]; input B: f32[b, c]\n"
        "C: " +
        type + "[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";
    const auto verification = against(text, text, {{"b", 3}}, ordinary);
    CAPTURE(type, print(verification, Format::text, false));
    CHECK(verification.ok);
    CHECK(verification.outputs[0].allowed > 4 * before);
    before = verification.outputs[0].allowed;
  }
}

TEST_CASE("what a cast may round does not excuse another cast", "[verify]") {
  const std::string inputs = "axis t = 8; axis x = 9; axis o = 4; input A: f32[t, x]; input W: f32[x, o]\n";
  const auto verification = against(inputs +
                                        "P: i8[t, x] = A[t, x] / max[x](abs(A[t, x])) * 127\n"
                                        "S[t, o] = sum[x](P[t, x] * W[x, o]) * max[x](abs(A[t, x])) / 127\noutput S\n",
                                    inputs +
                                        "P: i8[t, x] = A[t, x]\n"
                                        "S[t, o] = 127 * sum[x](P[t, x] * W[x, o]) / 127\noutput S\n",
                                    {{"x", 2}});
  CAPTURE(print(verification, Format::text, false));
  CHECK_FALSE(verification.ok);
  CHECK(verification.outputs[0].error > 10 * verification.outputs[0].allowed);
}

TEST_CASE("attention in f16 is allowed what f16 rounds, and no more", "[verify]") {
  Small small;
  constexpr Numbers ordinary[] = {Numbers::ordinary};
  const auto output = verify_plan(small.diagram, small.plan, small.cost, small.hardware, ordinary).outputs[0];
  CHECK(output.error > 0);
  CHECK(output.relative * output.allowed / output.error < 0.005);  // of the largest value
}

TEST_CASE("digits that cancel are seen on numbers far from zero", "[verify]") {
  const std::string inputs = "axis r = 3; axis x = 9; input A: f32[r, x]\n";
  const auto verification = against(inputs + "V[r] = var[x](A[r, x])\noutput V\n",
                                    inputs +
                                        "V[r] = sum[x](A[r, x] * A[r, x]) / size(x) - "
                                        "(sum[x](A[r, x]) / size(x)) * (sum[x](A[r, x]) / size(x))\noutput V\n",
                                    {{"x", 4}});
  CAPTURE(print(verification, Format::text, false));
  CHECK_FALSE(verification.outputs[0].right());
  CHECK(verification.outputs[0].numbers == Numbers::offset);
  CHECK(verification.exact[0].right());
}

TEST_CASE("a range that the file guards is not lost", "[verify]") {
  const std::string inputs = "axis r = 3; axis x = 9; input A: f32[r, x]\n";
  const auto verification =
      against(inputs + "N[r] = max[x](abs(A[r, x])) * sqrt(sum[x]((A[r, x] / max[x](abs(A[r, x])))^2))\noutput N\n",
              inputs + "N[r] = sqrt(sum[x](A[r, x]^2))\noutput N\n", {{"x", 4}});
  CAPTURE(print(verification, Format::text, false));
  CHECK(verification.outputs[0].numbers == Numbers::huge);
  CHECK(std::isinf(verification.outputs[0].error));
  CHECK(verification.exact[0].right());
}

TEST_CASE("a size that stands in a kernel as a number is wrong at other sizes", "[verify]") {
  const std::string inputs = "axis r = 3; axis x = 9; input A: f32[r, x]\n";
  const auto verification = against(inputs + "M[r] = sum[x](A[r, x]) / size(x)\noutput M\n",
                                    inputs + "M[r] = sum[x](A[r, x]) / 9\noutput M\n", {{"x", 4}});
  CAPTURE(print(verification, Format::text, false));
  CHECK_FALSE(verification.outputs[0].right());
  CHECK_FALSE(verification.exact[0].right());
  CHECK(verification.outputs[0].sizes != planned_sizes(verification));
  CHECK(verification.others.size() == 3);
  // A mistake that only a single position shows, or many, is seen.
  CHECK(verification.others.at(0) == std::vector<std::int64_t>{1, 1});
  CHECK(verification.others.at(2).at(1) > planned_sizes(verification).at(1));
}

TEST_CASE("a wrong guard of a mask is found", "[verify]") {
  CHECK(causal([](Loop&) {}).ok);
  const auto verification = causal([](Loop& loop) {
    for (auto& need : loop.needs) need.at = false;
  });
  CHECK_FALSE(verification.outputs[0].right());
  CHECK_FALSE(verification.exact[0].right());
}

TEST_CASE("a piece that is left out is found", "[verify]") {
  const auto verification = causal([](Loop& loop) {
    Condition early{{{loop.wire, 1}}, -6, -6, {}};  // x < 6
    early.below = true;
    loop.needs.push_back(early);
  });
  CHECK_FALSE(verification.outputs[0].right());
  CHECK_FALSE(verification.exact[0].right());
}

TEST_CASE("integers are exact, and their rounding is the file's", "[verify]") {
  const std::string text =
      "axis a = 5; axis b = 9; input A: i8[a, b]; input B: i8[b]\n"
      "C: i32[a] = sum[b](A[a, b] * B[b])\nD: i8[a] = C[a] / 3\noutput C; output D\n";
  const auto verification = against(text, text, {{"b", 2}});
  CHECK(verification.ok);
  CHECK(verification.outputs[0].error == 0);
}

TEST_CASE("a report says on which numbers and at which sizes", "[verify]") {
  const auto verification = Small().verify();
  const auto text = print(verification, Format::text, false);
  CAPTURE(text);
  CHECK(has(text, std::string(name(verification.outputs[0].numbers))));
  CHECK(has(text, "rounded"));
  CHECK(has(text, "exactly"));
  const auto json = nlohmann::json::parse(print(verification, Format::json, false));
  CHECK(json["outputs"][0]["numbers"] == std::string(name(verification.outputs[0].numbers)));
  CHECK(json["outputs"][0]["sizes"].contains("q"));
  CHECK(json["outputs"][0]["exact"]["ok"] == true);
  CHECK(json["other_sizes"].size() == 3);
}

TEST_CASE("what does not fit is not run", "[verify]") {
  const auto ran = run_cli({"verify", example("matmul"), "--target", "toy", "--partition", "group a 512 at smem"});
  CHECK(ran.code == exit_input);
  CHECK(ran.out.empty());
  CHECK(has(ran.err, "E0304"));
}

// What a division makes of the file is held against the file, at sizes at which the parts are all there is.
TEST_CASE("a divided plan is held against the statements that it was made of", "[verify]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto file = [](const std::string& value) {
    return read_text("diagram long\naxis q = 2; axis x = 65536\ninput A: f32[q, x]; input B: f32[q, x]\nY[q] = " +
                     value + "\noutput Y\n");
  };
  const auto diagram = file("logsumexp[x](A[q, x]) + sum[x](A[q, x] * B[q, x])");
  const auto found = search(diagram, hardware, Goal{});
  REQUIRE(!found.divisions.empty());
  const auto small = shrink(found.diagram, found.plan, hardware, {});
  const auto parts = divided_axes(small.diagram);
  REQUIRE(parts.size() == found.divisions.size());
  const auto size = [&](AxisId axis) { return *small.diagram.at(axis).size; };
  for (const auto& [whole, part, inside] : parts) CHECK(size(whole) == size(part) * size(inside));
  const auto cost = estimate(small.plan, hardware, Model::machine);
  const auto held_against = [&](const Diagram& source) {
    return verify_plan(small.diagram, small.plan, cost, hardware, all_numbers, &source);
  };
  CHECK(held_against(diagram).ok);
  CHECK_FALSE(held_against(file("logsumexp[x](A[q, x]) + sum[x](A[q, x] * B[q, x] * (1 - x / 1000))")).ok);
  const auto without_first = file("logsumexp[x](A[q, x]) + sum[x](where(x > 0, A[q, x], 0) * B[q, x])");
  const auto verification = held_against(without_first);
  CHECK_FALSE(verification.ok);
  for (const auto& sizes : verification.others)
    for (const auto& [whole, part, inside] : parts)
      CHECK(sizes[whole.index] == sizes[part.index] * sizes[inside.index]);
}

// Every axis is split twice: with three positions of each there would be millions.
TEST_CASE("a plan of very many nested splits is verified in moments", "[verify]") {
  const std::string names = "abcdefghklmnpq";
  std::string axes, wires, splits;
  for (const char name : names) {
    axes += std::string("axis ") + name + " = 4; ";
    wires += (wires.empty() ? "" : ", ") + std::string(1, name);
  }
  const auto labels = [&](int size) {
    std::string text;
    for (const char name : names)
      text += (text.empty() ? "stream " : ", ") + std::string(1, name) + " " + std::to_string(size);
    return text;
  };
  const auto diagram = read_text("diagram many\n" + axes + "\ninput X: i8[" + wires + "]\nY: i32[a] = sum[" +
                                 wires.substr(3) + "](X[" + wires + "])\noutput Y\n");
  const auto hardware = read_machine("h100-sxm5");
  Sources sources;
  Diagnostics diagnostics;
  const auto written =
      parse_partition(sources, sources.add("labels", labels(2) + " at smem; " + labels(1) + " at reg"), diagnostics);
  const auto partition = resolve_partition(written, diagram, hardware, diagnostics);
  REQUIRE(!diagnostics.has_errors());
  Plan plan;
  plan.kernels.push_back(make_kernel(testing::derived(diagram), partition));
  const auto small = shrink(diagram, plan, hardware, {});
  std::int64_t positions = 1;
  for (const auto& axis : small.diagram.axes) positions *= *axis.size;
  CHECK(positions <= 300'000);
  CHECK(positions >= 1'000);  // as many axes in several pieces as there is time for
  const auto cost = estimate(small.plan, hardware, Model::machine);
  CHECK(verify_plan(small.diagram, small.plan, cost, hardware).ok);
}
