// Documents, quantities and baselines: the parts of a report that need no kernel.
#include "napkin/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/document.hpp"
#include "report/quantity.hpp"
#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::report;

TEST_CASE("quantities have three digits and a unit", "[report]") {
  CHECK(moved(0) == "0 B");
  CHECK(moved(999) == "999 B");
  CHECK(moved(999.6e6) == "1.00 GB");
  CHECK(moved(68'157'440) == "68.2 MB");
  CHECK(held(98304) == "96 KiB");
  CHECK(held(1000) == "1000 B");
  CHECK(held(48.5 * 1024) == "48.5 KiB");
  CHECK(held(227 * 1024 + 512) == "228 KiB");
  CHECK(counted(4096) == "4.10 k");
  CHECK(counted(8.59e9) == "8.59 G");
  CHECK(counted(12) == "12");
  CHECK(lasting(25.13e-6) == "25.1 us");
  CHECK(lasting(0.0) == "0 s");
  CHECK(lasting(2e-6) == "2.00 us");
  CHECK(lasting(1.5e-3) == "1.50 ms");
  CHECK(lasting(std::nullopt) == "-");
  CHECK(rate(3.42e14, "op/s") == "342 Top/s");
  CHECK(rate(12, "op/s") == "12 op/s");
  CHECK(energy(0.00125) == "1.25 mJ");
}

TEST_CASE("ratios and shares", "[report]") {
  CHECK(ratio(32) == "32");
  CHECK(ratio(1.026) == "1.03");
  CHECK(ratio(31.004) == "31");
  CHECK(ratio(123.456) == "123.5");
  CHECK(share(43, 100) == "43 %");
  CHECK(share(1, 1000) == "<1 %");
  CHECK(share(0, 1000) == "0 %");
  CHECK(share(1, 0) == "-");
  CHECK(bar(0, 10) == "..........");
  CHECK(bar(4.3, 10) == "#####.....");
  CHECK(bar(10, 10) == "##########");
  CHECK(bar(25, 10) == "##########");
}

TEST_CASE("a document is the same content as text and as markdown", "[report]") {
  const Document document{{Heading{1, "matmul on toy", "a toy"},
                           Table{{{"level"}, {"moved", true}}, {{"smem", "12 B"}, {"reg", "1.20 kB"}}},
                           Heading{3, "Notes", ""}, Paragraph{"a | b"}}};
  CHECK(to_text(document, false) == "matmul on toy" + std::string(82, ' ') +
                                        "a toy\n"
                                        "  level    moved\n"
                                        "  smem      12 B\n"
                                        "  reg    1.20 kB\n"
                                        "\n"
                                        "  Notes\n"
                                        "    a | b\n");
  CHECK(to_markdown(document) ==
        "# matmul on toy\n"
        "\n"
        "a toy\n"
        "\n"
        "| level | moved |\n"
        "| --- | ---: |\n"
        "| smem | 12 B |\n"
        "| reg | 1.20 kB |\n"
        "\n"
        "### Notes\n"
        "\n"
        "a | b\n");
}

TEST_CASE("only columns that may wrap are broken, and no line is longer than 100 characters", "[report]") {
  std::string words = "word";
  for (int i = 0; i < 40; ++i) words += " word";
  const Document document{{Table{{{"axis"}, {"why", false, true}}, {{"x", words}, {"d'", "short"}}}}};
  const auto text = to_text(document, false);
  std::size_t longest = 0, lines = 0;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1, ++lines) {
    longest = std::max(longest, end - at);
  }
  CHECK(longest <= 100);
  CHECK(longest > 80);
  CHECK(lines == 5);
}

TEST_CASE("text is padded by characters, not by bytes", "[report]") {
  const Document document{{Table{{{""}, {""}}, {{"µs", "a"}, {"ms", "b"}}}}};
  CHECK(to_text(document, false) == "  µs  a\n  ms  b\n");
}

TEST_CASE("markdown keeps what would end a cell", "[report]") {
  const Document document{{Table{{{"a"}}, {{"2*x|y"}, {"one\ntwo"}}}}};
  CHECK(to_markdown(document) == "| a |\n| --- |\n| 2\\*x\\|y |\n| one<br>two |\n");
}

TEST_CASE("colour adds bold headings and nothing else", "[report]") {
  const Document document{{Heading{1, "title", ""}, Paragraph{"text"}}};
  CHECK(to_text(document, true) == "\033[1mtitle\033[0m\n  text\n");
}

namespace {

Baseline some_baseline() {
  Baseline baseline;
  baseline.basis = {"attention",
                    {{"q", 4096}, {"x", 4096}},
                    {{"Q", "f16"}, {"K", "f16"}},
                    {{"O", "f16"}},
                    "00ff00ff00ff00ff",
                    "h100-sxm5",
                    "0123456789abcdef",
                    "machine",
                    "time",
                    "time"};
  auto& row = baseline.row;
  row.partition = "flash2";
  row.target = "h100-sxm5";
  row.metrics = {{"time", 25e-6},
                 {"ideal_time", 20e-6},
                 {"energy", std::nullopt},
                 {"gmem.transfer_bytes", 3e7},
                 {"smem.memory_bytes", 98304.0}};
  row.parts = {{"time", {{"units at their best", 20e-6}, {"cores idle in the last wave", 5e-6}}},
               {"gmem.transfer_bytes", {{"K", 2e7}, {"Q", 1e7}}}};
  row.bound = "tensor";
  row.launch = "132 blocks on 132 cores";
  row.kernels = 3;
  return baseline;
}

std::string words_of(const std::vector<Difference>& all) {
  std::string words;
  for (const auto& one : all) words += one.what + ": " + one.words + "\n";
  return words;
}

}  // namespace

TEST_CASE("a baseline is read as it was written", "[report][gate]") {
  auto other = some_baseline();
  other.basis.metric = "energy";
  const Baselines written{"1.2.3", {some_baseline(), other}};
  std::string why;
  const auto read = parse_baselines(print(written), why);
  REQUIRE(read);
  CHECK(read->version == "1.2.3");
  REQUIRE(read->all.size() == 2);
  CHECK(differences(read->all[0].basis, some_baseline().basis).empty());
  CHECK(read->all[0].basis.text == some_baseline().basis.text);
  CHECK(read->all[1].basis.metric == "energy");
  CHECK(read->all[0].row.metrics == some_baseline().row.metrics);
  CHECK(read->all[0].row.parts == some_baseline().row.parts);
  CHECK(read->all[0].row.kernels == 3);
  CHECK(print(*read) == print(written));
}

TEST_CASE("what is no baseline is refused with the reason", "[report][gate]") {
  std::string why;
  for (const std::string text :
       {"", "{", "[1]", "null", "{}", R"({"schema": "napkin.baseline/3"})", R"({"schema": 3})",
        R"({"schema": "napkin.baseline/2"})", R"({"schema": "napkin.baseline/2", "version": 1})",
        R"({"schema": "napkin.baseline/2", "version": "1", "baselines": 3})",
        R"({"schema": "napkin.baseline/2", "version": "1", "baselines": [{"of": {"diagram": "a"}}]})"}) {
    CAPTURE(text);
    why.clear();
    CHECK(!parse_baselines(text, why));
    CHECK(!why.empty());
  }
  CHECK(!parse_baselines(R"({"schema": "napkin.baseline/1", "diagram": "a"})", why));
  CHECK(why.find("an older napkin wrote it") != std::string::npos);
}

TEST_CASE("two bases differ in what --accept names", "[report][gate]") {
  const auto before = some_baseline().basis;
  const auto differ = [&](auto change) {
    auto now = before;
    change(now);
    return words_of(differences(before, now));
  };
  CHECK(differ([](Basis&) {}) == "");
  CHECK(differ([](Basis& now) { now.text = "another"; }) == "");
  CHECK(differ([](Basis& now) { now.sizes[0].second = 2048; }) == "sizes: q is 2048, and 4096 in the baseline\n");
  CHECK(differ([](Basis& now) { now.sizes.pop_back(); }) == "sizes: x is only in the baseline\n");
  CHECK(differ([](Basis& now) { now.sizes.emplace_back("d", 1); }) == "sizes: d is not in the baseline\n");
  CHECK(differ([](Basis& now) { now.inputs[1].second = "f32"; }) == "types: K is f32, and f16 in the baseline\n");
  CHECK(differ([](Basis& now) { now.inputs.emplace_back("bias", "f32"); }) == "");
  CHECK(differ([](Basis& now) { now.outputs[0].first = "P"; }) ==
        "types: P is not in the baseline; O is only in the baseline\n");
  CHECK(differ([](Basis& now) { now.target = "h200-sxm"; }) ==
        "target: the target is h200-sxm, and h100-sxm5 in the baseline\n");
  CHECK(differ([](Basis& now) { now.numbers = "0"; }) ==
        "target: the numbers of h100-sxm5 differ from those in the baseline\n");
  CHECK(differ([](Basis& now) { now.model = "ideal"; }) == "model: the model is ideal, and machine in the baseline\n");
  CHECK(differ([](Basis& now) { now.objective = "energy"; }) ==
        "objective: the objective is energy, and time in the baseline\n");
  CHECK(differ([](Basis& now) { now.metric = "energy"; }) ==
        "metric: the metric is energy, and time in the baseline\n");
}

TEST_CASE("changes name what explains them, and nothing that moved the other way or little", "[report][gate]") {
  const auto before = some_baseline().row;
  auto after = before;
  after.metrics[0].second = 30e-6;
  after.parts[0].second = {
      {"units at their best", 18e-6}, {"cores idle in the last wave", 11.7e-6}, {"the launch", 3e-7}};
  after.metrics[3].second = 5e7;
  after.parts[1].second = {{"K", 4.05e7}, {"Q", 0.5e7}, {"M", 0.45e7}};
  after.bound = "transfers from gmem to smem";
  after.launch = "133 blocks on 132 cores";
  const auto found = changes(before, after);
  REQUIRE(found.size() == 2);
  CHECK(found[0].metric == "time");
  CHECK(found[0].because ==
        std::vector<std::string>{"cores idle in the last wave: 5.00 us -> 11.7 us",
                                 "bound by transfers from gmem to smem, before tensor",
                                 "launch: 133 blocks on 132 cores, before 132 blocks on 132 cores"});
  CHECK(found[1].metric == "gmem.transfer_bytes");
  CHECK(found[1].before == 3e7);
  CHECK(found[1].after == 5e7);
  CHECK(found[1].because == std::vector<std::string>{"K: 20.0 MB -> 40.5 MB", "M: 0 B -> 4.50 MB"});
}

TEST_CASE("a plan's power stands beside what the machine may draw", "[report]") {
  const auto analyze = [](const std::string& target, const std::string& format) {
    const auto ran = test::run_cli(
        {"analyze", NAPKIN_SOURCE_DIR "/examples/matmul.nap", "--target", target, "--format", format, "--details"});
    REQUIRE(ran.code == 0);
    return ran.out;
  };
  const auto totals = nlohmann::json::parse(analyze("a100-sxm4-40", "json"))["totals"];
  const double watts = totals["power_w"];
  CHECK(watts == Approx(totals["energy_j"].get<double>() / totals["time_s"].get<double>()));
  CHECK(totals["power_limit_w"] == 400);
  const auto text = analyze("a100-sxm4-40", "text");
  const auto words = watts > 400 ? std::string("at most the limit of 400 W on average")
                                 : fmt::format("{:.0f} W on average, below the limit of 400 W", watts);
  CHECK(text.find(words) != std::string::npos);
  // Without a price for every level there is no energy, and no power.
  const auto unknown = nlohmann::json::parse(analyze("a100-sxm4-80", "json"))["totals"];
  CHECK(unknown["energy_j"].is_null());
  CHECK(unknown["power_w"].is_null());
}

// The second operand is read again by every row of blocks while much is written.
TEST_CASE("the memory moves no more than it can in the time of a launch", "[report]") {
  const test::Folder folder;
  const auto path = folder.write("mm.nap",
                                 "diagram mm\naxis m = 8192; axis n = 8192; axis k = 256\ninput A: f16[m, k]\n"
                                 "input B: f16[k, n]\nC: f32[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n");
  const auto ran = test::run_cli({"analyze", path, "--target", "a100-sxm4-80", "--format", "json", "-q"});
  REQUIRE(ran.code == exit_done);
  const auto kernel = nlohmann::json::parse(ran.out)["kernels"][0];
  const double bytes = kernel["dram_bytes"], seconds = kernel["time_s"];
  CHECK(bytes > 8192. * 8192 * 4);
  CHECK(bytes <= 2039e9 * seconds);  // NVIDIA A100 data sheet
}
