// Rows over warps: what becomes of the wire along lanes, how many warps have a row, and why a kernel is refused.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using Catch::Matchers::Contains;

namespace {

Kernel kernel_of(const std::string& text, const std::string& labels, const Hardware& hardware) {
  return testing::planned(read_text(text), labels, hardware);
}

RowNest distributed(const std::string& text, const std::string& labels) {
  const auto hardware = read_machine("a100-sxm4-80");
  const auto result = distribute_rows(kernel_of(text, labels, hardware), hardware);
  if (const auto* refused = std::get_if<Refused>(&result)) FAIL(refused->reason);
  return std::get<RowNest>(result);
}
std::string refusal(const std::string& text, const std::string& labels, const std::string& machine = "a100-sxm4-80") {
  const auto hardware = read_machine(machine);
  const auto result = distribute_rows(kernel_of(text, labels, hardware), hardware);
  const auto* refused = std::get_if<Refused>(&result);
  return refused ? refused->reason : "";
}
std::string words(const RowNest& rows) {
  return to_text(rows.partition, rows.nest->scratch, read_machine("a100-sxm4-80"));
}
RowRead read_of(const RowNest& rows, const std::string& name) {
  for (const auto& [id, read] : rows.reads)
    if (rows.nest->scratch.at(rows.nest->at(id).array).name == name) return read;
  FAIL("no input " << name);
  return RowRead::in_place;
}

std::string normalized(std::int64_t x, const std::string& type = "f16") {
  return "diagram rows\naxis r = 4096; axis x = " + std::to_string(x) + "\ninput S: " + type +
         "[r, x]\nP: f16[r, x] = softmax[x](S[r, x])\noutput P\n";
}
constexpr const char* scaled = R"(diagram scaled
axis r = 4096; axis x = 2048
input X: f16[r, x]; input G: f16[x]; input B: f32[r]
Y: f16[r, x] = X[r, x] * G[x] / sqrt(sum[x](X[r, x]^2) + B[r])
output Y
)";

}  // namespace

TEST_CASE("a row that fits stays in the registers of so many warps as it needs") {
  const auto by_rows = "group r 1 at smem";
  const auto one = distributed(normalized(256), by_rows);
  CHECK(one.warps_of_row == 1);
  CHECK(one.warps == 4);
  CHECK(one.values() == 8);
  CHECK(words(one) == "group r 4 at smem; group r 1 at reg");
  CHECK(one.shared_bytes == 0);
  const auto eight = distributed(normalized(4096), by_rows);
  CHECK(eight.warps_of_row == 8);
  CHECK(eight.warps == 8);
  CHECK(eight.vector == 8);
  CHECK(eight.vectors == 2);
  CHECK(words(eight) == "group r 1 at smem");
  CHECK(eight.shared_bytes == 2 * 8 * 8);
  CHECK(distributed(normalized(4096, "f8e4m3"), by_rows).vector == 16);
  CHECK(distributed(normalized(16384), by_rows).values() == 32);
}

TEST_CASE("every lane of a warp has a part of a short row") {
  const auto vectors = [](std::int64_t x) {
    const auto rows = distributed(normalized(x), "group r 1 at smem");
    return std::pair(rows.vector, rows.vectors);
  };
  CHECK(vectors(256) == std::pair<std::int64_t, std::int64_t>(8, 1));
  CHECK(vectors(129) == std::pair<std::int64_t, std::int64_t>(8, 1));
  CHECK(vectors(128) == std::pair<std::int64_t, std::int64_t>(4, 1));
  CHECK(vectors(65) == std::pair<std::int64_t, std::int64_t>(4, 1));
  CHECK(vectors(64) == std::pair<std::int64_t, std::int64_t>(2, 1));
  CHECK(vectors(20) == std::pair<std::int64_t, std::int64_t>(1, 1));
}

TEST_CASE("a row too long for registers that may not be streamed stands in shared memory") {
  const auto by_row = "group r 1 at smem";
  const auto rows = distributed(normalized(50000), by_row);
  CHECK(rows.staged);
  CHECK(words(rows) == by_row);
  CHECK(rows.warps_of_row == 32);
  CHECK(read_of(rows, "S") == RowRead::staged);
  CHECK(rows.inlined.size() == 2);  // exp(S - m) and P
  CHECK(rows.shared_bytes == 2 * 32 * 8 + 50000 * 2);
  CHECK_FALSE(distributed(normalized(8192), by_row).staged);
  // What one loop alone reads does not stand there.
  const auto text = [](const std::string& x) {
    return "diagram layers\naxis r = 4096; axis x = " + x +
           "\ninput X: f16[r, x]; input G: f16[x]\nY: f16[r, x] = layernorm[x](X[r, x]) * G[x]\noutput Y\n";
  };
  const auto layers = distributed(text("80000"), by_row);
  CHECK(read_of(layers, "X") == RowRead::staged);
  CHECK(read_of(layers, "G") == RowRead::passing);
  CHECK(layers.shared_bytes <= 163 * 1024);
  CHECK_FALSE(refusal(text("84000"), by_row).empty());
}

TEST_CASE("blocks of rows share an SM also where the profile does not say how many threads it has") {
  auto hardware = read_machine("a100-sxm4-80");
  const auto blocks = [&] {
    const auto made = distribute_rows(kernel_of(normalized(256), "group r 1 at smem", hardware), hardware);
    return std::get<RowNest>(made).blocks;
  };
  const auto stated = blocks();
  CHECK(stated > 1);
  hardware.limits.threads_per_sm.reset();
  CHECK(blocks() == stated);
}

TEST_CASE("rows of one block share what they all read, as the plan has them while blocks are enough") {
  const auto rows = distributed(scaled, "group r 8 at smem");
  CHECK(words(rows) == "group r 4, stream r 1 at smem");
  CHECK(words(distributed(scaled, "group r 3 at smem")) == "group r 3, stream r 1 at smem");
  CHECK(read_of(rows, "X") == RowRead::vectors);
  CHECK(read_of(rows, "G") == RowRead::vectors);
  CHECK(read_of(rows, "B") == RowRead::once);
}

TEST_CASE("short rows that share what they read have a warp each, and follow one another as the plan has them") {
  const auto short_rows = [](const std::string& labels) {
    return words(
        distributed("diagram short_rows\naxis r = 65536; axis x = 128\ninput X: f16[r, x]; input G: f16[x]\n"
                    "Y: f16[r, x] = X[r, x] * G[x] / sqrt(sum[x](X[r, x]^2))\noutput Y\n",
                    labels));
  };
  CHECK(short_rows("group r 1 at smem") == "group r 4 at smem; group r 1 at reg");
  CHECK(short_rows("group r 4 at smem") == "group r 4 at smem; group r 1 at reg");
  CHECK(short_rows("group r 8 at smem") == "group r 8 at smem; group r 2, stream r 1 at reg");
  CHECK(short_rows("group r 9 at smem") == "group r 12 at smem; group r 3, stream r 1 at reg");
  // Many rows for each warp would leave cores idle.
  CHECK(short_rows("group r 65536 at smem") == "group r 64 at smem; group r 16, stream r 1 at reg");
}

TEST_CASE("the wire along lanes is streamed where the plan does, and grouped where nothing folds it") {
  const auto summed = [](const std::string& labels) {
    return words(
        distributed("diagram sums\naxis r = 512; axis x = 65536\ninput X: f32[r, x]\n"
                    "Y: f32[r] = sum[x](exp(X[r, x]))\noutput Y\n",
                    labels));
  };
  CHECK(summed("group r 8, stream x 64 at smem") == "group r 1, stream x 2048 at smem");
  CHECK(summed("group r 8 at smem") == "group r 1, stream x 2048 at smem");  // too long to be held
  CHECK(words(distributed("diagram pointwise\naxis r = 512; axis x = 65536\ninput X: f32[r, x]\n"
                          "Y: f16[r, x] = exp(X[r, x])\noutput Y\n",
                          "group r 8 at smem")) == "group r 1, x 2048 at smem");
}

TEST_CASE("what rows over warps cannot do is refused with its reason") {
  CHECK_THAT(refusal(normalized(90000), "group r 1 at smem"), Contains("needs all of it first"));
  CHECK_THAT(refusal(normalized(256), "group r 1 at smem", "v100-sxm2"), Contains("compute capability"));
  CHECK_THAT(refusal("diagram product\naxis m = 512; axis n = 512; axis k = 512\n"
                     "input A: f32[m, k]; input B: f32[n, k]\nC[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n",
                     "group m 32, n 32, stream k 32 at smem"),
             Contains("no array has all of its rows"));
  CHECK_THAT(refusal("diagram turned\naxis r = 512; axis x = 512\ninput X: f32[x, r]\n"
                     "Y: f32[r, x] = exp(X[x, r])\noutput Y\n",
                     "group r 8 at smem"),
             Contains("`Y` is not contiguous along r in memory"));
  CHECK_THAT(refusal("diagram steps\naxis r = 512; axis x = 512; axis y = 1024\ninput X: f32[r, y]\n"
                     "Y: f32[r, x] = exp(X[r, 2 * x])\noutput Y\n",
                     "group r 8 at smem"),
             Contains("position by position along"));
}

TEST_CASE("a row that one warp cannot hold is no error for `emit cuda`, by rows over warps or plain threads") {
  using namespace napkin::test;
  Folder folder;
  const auto file = folder.write("layers.nap",
                                 "diagram layers\naxis r = 4096; axis x = 8192\ninput X: f16[r, x]; input G: f16[x]\n"
                                 "Y: f16[r, x] = layernorm[x](X[r, x]) * G[x]\noutput Y\n");
  const auto done = run_cli({"emit", "cuda", file, "--target", "a100-sxm4-80", "-o", folder / "out"});
  CHECK(done.code == 0);
  CHECK_THAT(done.err, !Contains("assigns its rows to warps"));
  const auto by_hand = run_cli({"emit", "cuda", file, "--target", "a100-sxm4-80", "-o", folder / "by_hand",
                                "--partition", "group r 8, stream r 2 at smem"});
  CHECK(by_hand.code == 0);
  CHECK_THAT(by_hand.err, Contains("layers_kernel assigns its rows to warps: group r 1 at smem"));
  const auto plain =
      run_cli({"emit", "cuda", file, "--target", "a100-sxm4-80", "--path", "reference", "-o", folder / "plain"});
  CHECK(plain.code == 0);
  CHECK_THAT(plain.err, !Contains("assigns its rows to warps"));
}

TEST_CASE("the plan of a kernel with rows over warps is the kernel, and its gap says what the search found") {
  using namespace napkin::test;
  Folder folder;
  const auto file = folder.write("layers.nap",
                                 "diagram layers\naxis r = 16384; axis x = 4096\ninput X: f16[r, x]; input G: f16[x]\n"
                                 "Y: f16[r, x] = layernorm[x](X[r, x]) * G[x]\noutput Y\n");
  const auto planned = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"analyze", file, "--target", "h100-sxm5", "--format", "json"};
    all.insert(all.end(), words.begin(), words.end());
    return nlohmann::json::parse(run_cli(all).out);
  };
  const auto plan = planned({});
  CHECK(plan["partition"] == "Y: group r 20, stream r 1 at smem");
  const auto other = planned({"--partition", "group r 269, stream r 4 at smem"});
  const double here = plan["totals"]["time_s"], there = other["totals"]["time_s"];
  REQUIRE(there < here);
  CHECK_FALSE(plan["search"]["optimal"]);
  CHECK(double(plan["search"]["gap"]) >= 1 - there / here);
  CHECK(double(plan["search"]["gap"]) < 0.1);
  const auto warned =
      run_cli({"analyze", file, "--target", "h100-sxm5", "--partition", "group r 269, stream r 4 at smem"});
  CHECK_THAT(warned.err, Contains("W0308") && Contains("it runs as 'group r 17, stream r 1 at smem'"));
}

TEST_CASE("a sum whose factor lacks its axis is planned as fast as by hand, with its gap") {
  using namespace napkin::test;
  Folder folder;
  const auto file = folder.write("scaled.nap",
                                 "diagram scaled\naxis e = 1024; axis c = 7; axis f = 8192\ninput Y: f16[e, f]\n"
                                 "input Z: f16[c]\nS: bf16[e, c] = sum[f](Z[c] * Y[e, f])\noutput S\n");
  for (const std::string machine : {"rtx4090", "h100-sxm5"}) {
    const auto planned = [&](const std::vector<std::string>& words) {
      std::vector<std::string> all{"analyze", file, "--target", machine, "--format", "json"};
      all.insert(all.end(), words.begin(), words.end());
      return nlohmann::json::parse(run_cli(all).out);
    };
    const auto plan = planned({});
    const double here = plan["totals"]["time_s"];
    CHECK((plan["search"]["optimal"] || plan["search"]["gap"].is_number()));
    for (const std::string labels : {"group e 8, stream f 256 at smem", "group e 16, stream f 64 at smem"}) {
      const auto by_hand = planned({"--partition", labels});
      REQUIRE(by_hand["kernels"][0]["fits"]);
      CHECK(here <= 1.01 * double(by_hand["totals"]["time_s"]));
    }
  }
}

TEST_CASE("statements that share nothing are kernels of rows apart if they cannot be one together") {
  using namespace napkin::test;
  Folder folder;
  const auto file = NAPKIN_SOURCE_DIR "/examples/mx_product.nap";
  const auto plan = nlohmann::json::parse(run_cli({"analyze", file, "--target", "h100-sxm5", "--format", "json"}).out);
  CHECK_THAT(plan["partition"].get<std::string>(), Contains("As: group m 1, k 2048 at smem | ") &&
                                                       Contains("Bt: group j 1, k 2048 at smem | ") &&
                                                       Contains(" | C: "));
  run_cli({"emit", "cuda", file, "--target", "h100-sxm5", "-o", folder / "out"});
  CHECK(text_of(folder / "out/mx_product.cu").find("_planned_path(void) { return \"rows,rows,warpgroups\"; }") !=
        std::string::npos);
}

TEST_CASE("a memory that bounds a kernel hides what its cores wait for, but for a share, and units hide nothing") {
  using namespace napkin::test;
  Folder folder;
  const auto timed = [&](const std::string& value, const std::string& share) {
    const auto file =
        folder.write("d.nap", "diagram d\naxis r = 8192; axis x = 2048\ninput X: f16[r, x]\nY: f16[r, x] = " + value +
                                  "\noutput Y\n");
    const auto ran = run_cli({"analyze", file, "--target", "h100-sxm5", "--set-target", "limits.unhidden=" + share,
                              "--partition", "group r 16 at smem; group r 4 at reg", "--format", "json"});
    return nlohmann::json::parse(ran.out);
  };
  const auto seconds = [&](const std::string& value, const std::string& share) {
    return timed(value, share)["totals"]["time_s"].get<double>();
  };
  const std::string light = "2 * X[r, x]";
  const double memory = timed(light, "1")["kernels"][0]["levels"][0]["time_s"], launch = 2.5e-6;
  const double waits = seconds(light, "1") - memory - launch;
  CHECK(std::abs(seconds(light, "0") - memory - launch) < 1e-3 * memory);
  CHECK(waits > 0.05 * memory);
  CHECK(std::abs(seconds(light, "0.4") - memory - launch - 0.4 * waits) < 1e-3 * memory);
  std::string heavy = "X[r, x]";
  for (int i = 0; i < 12; ++i) heavy = "exp(" + heavy + ")";
  CHECK(seconds(heavy, "0") == seconds(heavy, "1"));
}

// Lanes along an output of 4096 values: two blocks of 2048 would leave the other cores idle.
TEST_CASE("pieces along lanes are short where few of them would leave cores idle") {
  const auto merge = [](const std::string& labels, int length) {
    return words(distributed(fmt::format("diagram merge\naxis r = {}; axis p = 8\ninput M: f32[p, r]\n"
                                         "L[r] = max[p](M[p, r])\noutput L\n",
                                         length),
                             labels));
  };
  CHECK(merge("group r 8 at smem", 4096) == "group r 32 at smem");
  CHECK(merge("group r 8 at smem", 32768) == "group r 128 at smem");
  CHECK(merge("group r 8 at smem", 1 << 20) == "group r 2048 at smem");
}

TEST_CASE("small arrays and few rows do not keep rows from blocks of their own") {
  using namespace napkin::test;
  Folder folder;
  const auto time = [&](const std::string& text, const std::string& partition, const char* target = "a100-sxm4-80") {
    std::vector<std::string> words{"analyze", folder.write("d.nap", text), "--target", target, "--format", "json"};
    if (!partition.empty()) words.insert(words.end(), {"--partition", partition});
    return nlohmann::json::parse(run_cli(words).out)["totals"]["time_s"].get<double>();
  };
  const std::string small =
      "diagram d\naxis r = 8192; axis x = 2048; axis h = 2\ninput X: i8[r, x, h]; input b: f16[r]\n"
      "Y: f16[h, r, x] = softmax[x](X[r, x, h] + b[r])\noutput Y\n";
  CHECK(time(small, "") <= 1.005 * time(small, "group r 1 at smem"));
  const std::string few =
      "diagram d\naxis r = 1000; axis x = 512\ninput X: i8[x, r]\nY: f32[r, x] = layernorm[x](X[x, r])\n"
      "Z: f32[r, x] = X[x, r] / (1 + max[x](abs(X[x, r])))\noutput Y\noutput Z\n";
  const std::string several =
      "diagram d\naxis r = 8192; axis x = 128\ninput X: bf16[x, r]\nY[r] = var[x](X[x, r])\n"
      "W: bf16[r, x] = layernorm[x](X[x, r])\noutput Y\noutput W\n";
  for (const auto* rows : {"2", "3", "4", "16"})
    CHECK(time(several, "", "rtx4090") <=
          1.005 * time(several, "group r " + std::string(rows) + " at smem", "rtx4090"));
  for (const auto* rows : {"3", "4", "8", "16"})
    CHECK(time(few, "") <= 1.005 * time(few, "group r " + std::string(rows) + " at smem"));
}
