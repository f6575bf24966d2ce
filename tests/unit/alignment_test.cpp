// Rows that are no multiples of what copies ask for: the plan is one that can run, and the page says what it costs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "loops/pieces.hpp"
#include "support/catch.hpp"
#include "support/distributed.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

nlohmann::json planned(const std::string& target, const std::string& sizes) {
  const auto ran =
      test::run_cli({"analyze", test::example("matmul"), "--target", target, "--set", sizes, "--format", "json", "-q"});
  INFO(ran.err);
  REQUIRE(ran.code == exit_done);
  return nlohmann::json::parse(ran.out);
}

}  // namespace

TEST_CASE("the rows of an array begin at multiples of 16 bytes at most") {
  const auto alignment = [](const std::string& type, std::int64_t x) {
    const auto diagram = read_text(fmt::format(
        "diagram t\naxis r = 3; axis x = {}\ninput A: {}[r, x]; input v: f16[x]\nB[r] = sum[x](A[r, x] * v[x])\n"
        "output B\n",
        x, type));
    CHECK(row_alignment(diagram, diagram.at(ArrayId{1})) == 16);  // a single row
    return row_alignment(diagram, diagram.at(ArrayId{0}));
  };
  CHECK(alignment("f16", 64) == 16);
  CHECK(alignment("f16", 65) == 2);
  CHECK(alignment("f16", 66) == 4);
  CHECK(alignment("f16", 68) == 8);
  CHECK(alignment("f32", 65) == 4);
  CHECK(alignment("f8e4m3", 65) == 1);
}

TEST_CASE("the rows of tiles begin where pieces do") {
  const auto alignment = [](std::int64_t n, const std::string& labels, const std::string& name) {
    const auto hardware = read_machine("a100-sxm4-80");
    const auto text = fmt::format(
        "diagram t\naxis m = 64; axis n = {}; axis k = 64\ninput A: f16[m, k]; input B: f16[k, n]\n"
        "C: f16[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n",
        n);
    const auto nest = lower(testing::kernel_of(text, labels, hardware), hardware);
    const auto tile = std::ranges::find(nest.buffers, name, &Buffer::name);
    REQUIRE(tile != nest.buffers.end());
    return tile_alignment(nest, *tile, 1);
  };
  const std::string whole = "group m 16, n 64, stream k 32 at smem; group n 8 at reg";
  CHECK(alignment(256, whole, "B_smem") == 16);
  CHECK(alignment(252, whole, "B_smem") == 8);
  CHECK(alignment(255, whole, "B_smem") == 2);
  CHECK(alignment(255, whole, "A_smem") == 16);
  CHECK(alignment(256, "group m 16, n 60, stream k 32 at smem", "B_smem") == 8);
  CHECK(alignment(256, "group m 16, n 64, stream k 6 at smem", "A_smem") == 4);
}

TEST_CASE("warpgroups are planned only where TMA can copy their operands") {
  struct Row {
    std::string sizes;
    bool by_warpgroups, copied_ahead;
    std::int64_t next;
  };
  for (const auto& row :
       {Row{"b=4096", true, true, 0}, Row{"b=4100", false, true, 4104}, Row{"b=4097", false, false, 4104},
        Row{"c=4100", false, true, 4104}, Row{"c=8196", false, true, 8200}, Row{"a=4097", true, true, 0}}) {
    CAPTURE(row.sizes);
    const auto plan = planned("h100-sxm5", row.sizes);
    const auto& kernel = plan["kernels"][0];
    const auto& product = kernel["products"][0];
    CHECK(kernel["configuration"]["instruction"].get<std::string>().starts_with("wgmma") == row.by_warpgroups);
    CHECK(product["instruction"].get<std::string>().starts_with("wgmma") == row.by_warpgroups);
    CHECK(product["unaligned"].empty() == row.by_warpgroups);
    if (row.by_warpgroups) continue;
    CHECK(product["unaligned"][0]["next"] == row.next);
    CHECK(product["unaligned"][0]["copied_ahead"] == row.copied_ahead);
    CHECK((kernel["tile"]["overlap"] == "loads overlap computing") == row.copied_ahead);
  }
}

TEST_CASE("a product is never planned faster than the one of the next aligned size allows") {
  for (const std::string target : {"h100-sxm5", "a100-sxm4-80"}) {
    const double aligned = planned(target, "b=4104")["totals"]["time_s"],
                 odd = planned(target, "b=4097")["totals"]["time_s"];
    CAPTURE(target, aligned, odd);
    CHECK(odd > aligned * 0.99);
  }
}

TEST_CASE("`derive` says which size would let TMA copy rows, and nothing where nothing needs that") {
  const auto derived = [](const std::string& size, const std::string& target) {
    return test::run_cli({"derive", test::example("matmul"), "--set", size, "--target", target}).out;
  };
  CHECK(derived("b=4100", "h100-sxm5").find("b 4104 would do") != std::string::npos);
  CHECK(derived("b=4096", "h100-sxm5").find("would do") == std::string::npos);
  CHECK(derived("b=4100", "a100-sxm4-80").find("would do") == std::string::npos);
  CHECK(derived("b=4099", "a100-sxm4-80").find("no load runs ahead") != std::string::npos);
}

TEST_CASE("a page names the rounding that prevents a stream") {
  const auto ran =
      test::run_cli({"analyze", "-", "--target", "h100-sxm5"},
                    "diagram t\naxis t = 300; axis x = 1300\ninput A: f32[t, x]\nM[t] = max[x](abs(A[t, x]))\n"
                    "R: f16[t, x] = A[t, x] * M[t]\nY[t] = sum[x](R[t, x])\noutput Y\n");
  INFO(ran.out);
  CHECK(ran.out.find("a rounding prevents a stream of x") != std::string::npos);
}
