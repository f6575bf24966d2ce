// Sums whose factors are constant on blocks: what becomes of them, and that they mean the same.
#include <fmt/format.h>

#include <cmath>

#include "diagram/assume.hpp"
#include "napkin/search.hpp"
#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

constexpr const char* head =
    "diagram t\naxis m = 5; axis j = 7; axis k = 24; axis kb = 6; axis kc = 3; axis jb = 4; axis c = 2\n"
    "input A: f32[m, k]; input B: f32[j, k]; input s: f32[m, kb]; input t: f32[jb, kc]; input u: f32[kc]\n"
    "input D: f32[c, m, k]; input E: f32[c, j, k]\n";

Diagram of(const std::string& statements) { return read_text(head + statements + "\noutput C\n"); }
std::string blocked_text(const std::string& statements) {
  const auto made = sums_in_blocks(of(statements));
  const auto& diagram = made.diagram;
  return to_text(diagram, diagram.statements.back().value);
}

// The same numbers, up to the order in which they are added.
void check_same(const Diagram& one, const Diagram& other) {
  auto values = random_values(one, 3), same = random_values(other, 3);
  evaluate(one, values, false);
  evaluate(other, same, false);
  for (const auto output : one.outputs) {
    const auto &a = values.arrays[output.index], &b = same.arrays[output.index];
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(a[i] - b[i]) < 1e-9);
  }
}

}  // namespace

TEST_CASE("factors that are constant on blocks multiply the sum of a block") {
  CHECK(blocked_text("C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 4])") ==
        "sum[k_block](sum[k_in_block](A[m, 4*k_block + k_in_block] * B[j, 4*k_block + k_in_block]) * s[m, k_block])");
  // Two lengths: blocks of the greatest that divides both, and a divisor.
  CHECK(blocked_text("C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 4] / t[j / 2, k / 8])") ==
        "sum[k_block](sum[k_in_block](A[m, 4*k_block + k_in_block] * B[j, 4*k_block + k_in_block]) * s[m, k_block] / "
        "t[j / 2, k_block / 2])");
  // Another axis is summed with what varies within blocks.
  CHECK(blocked_text("C[m, j] = sum[c, k](D[c, m, k] * E[c, j, k] * u[k / 8])") ==
        "sum[k_block](sum[c, k_in_block](D[c, m, 8*k_block + k_in_block] * E[c, j, 8*k_block + k_in_block]) * "
        "u[k_block])");
}

TEST_CASE("sums in blocks mean what the file means") {
  for (const std::string statement : {
           "C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 4])",
           "C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 4] * t[j / 2, k / 8])",
           "C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 4]) + sum[k](A[m, k] * B[j, k] * t[j / 2, k / 8])",
           "C[m, j] = sum[k](A[m, k] * B[j, k] / (2 + u[k / 8])) + sum[k](A[m, k] * B[j, k] * s[m, k / 4])",
           "C[m, j] = relu(sum[c, k](D[c, m, k] * E[c, j, k] * u[k / 8]))",
           "C[m, j] = sum[k](where(k <= 9, A[m, k], 0) * B[j, k] * u[k / 8])",
           "C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 5])",  // the last block has 4
           "C[m, j] = sum[k](where(k <= 21, A[m, k], k) * B[j, k] * u[k / 10])",
           "C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 5]) / (9 + sum[k](A[m, k] * B[j, k] * u[k / 10]))",
           "C[m, j] = sum[c, k](D[c, m, k] * E[c, j, k] * u[k / 16] / (2 + s[m, k / 16]))",
       }) {
    CAPTURE(statement);
    const auto made = sums_in_blocks(of(statement));
    CHECK_FALSE(made.made.empty());
    CHECK(verify(made.diagram).empty());
    check_same(of(statement), made.diagram);
  }
}

TEST_CASE("a last block that is shorter is a sum of its own") {
  CHECK(blocked_text("C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 5])") ==
        "sum[k_block](sum[k_in_block](A[m, 5*k_block + k_in_block] * B[j, 5*k_block + k_in_block]) * s[m, k_block]) + "
        "sum[k_in_last](A[m, k_in_last + 20] * B[j, k_in_last + 20]) * s[m, 4]");
  const auto made = sums_in_blocks(of("C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 5])"));
  REQUIRE(made.made.size() == 1);
  CHECK(made.made[0].rest == 4);
  CHECK(ragged_blocks(made.diagram).size() == 1);
  // Where all is one block, its factor is one number.
  CHECK(blocked_text("C[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 25])") == "sum[k](A[m, k] * B[j, k]) * s[m, 0]");
}

TEST_CASE("other sums are not taken in blocks") {
  for (const std::string statement : {
           "C[m, j] = sum[k](A[m, k] * B[j, k])",
           "C[m, j] = max[k](A[m, k] * B[j, k] * s[m, k / 4])",        // a scale may be negative
           "C[m, j] = sum[k](A[m, k] * B[j, k] * (s[m, k / 4] + k))",  // not constant on any block
           "C[m, j] = sum[k](f16(A[m, k] * s[m, k / 4]) * B[j, k])",   // rounded before it is summed
           "C[m] = sum[k](A[m, k] * s[m, k / 4])",                     // no product of matrices
           "C[m, j] = sum[k](A[m, k] * s[m, k / 4] * B[j, k])",        // A * B alone may be too large
           "C[m, j] = sum[k](A[m, k] / (2 + s[m, k / 4]) * B[j, k])",
           "X[m, k] = relu(A[m, k]); C[m, j] = sum[k](X[m, k] * B[j, k] * s[m, k / 4])",  // computed here
       }) {
    CAPTURE(statement);
    const auto made = sums_in_blocks(of(statement));
    CHECK(made.made.empty());
    CHECK(made.diagram.wires.size() == of(statement).wires.size());
  }
}

TEST_CASE("a product with block scales runs on warpgroups, nearly as fast as without", "[long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto scaled = sums_in_blocks(read_example("block_scales.nap")).diagram;
  const auto plain = read_text(
      "diagram p\naxis m = 4096; axis j = 7168; axis k = 2048\ninput A: f8e4m3[m, k]; input B: f8e4m3[j, k]\n"
      "C: f16[m, j] = sum[k](A[m, k] * B[j, k])\noutput C\n");
  const auto found = search(scaled, hardware, {}), without = search(plain, hardware, {});
  REQUIRE(found.cost.time_s);
  CHECK(*found.cost.time_s * 0.7 <= *without.cost.time_s);
  const auto report = test::run_cli({"analyze", test::example("block_scales"), "--target", "h100-sxm5"});
  CHECK(report.out.find("wgmma") != std::string::npos);
}

TEST_CASE("a plan in blocks is verified against the statements of the file", "[long]") {
  for (const std::string target : {"h100-sxm5", "a100-sxm4-80", "x86-64-avx2"}) {
    const auto ran = test::run_cli({"verify", test::example("block_scales"), "--target", target});
    CAPTURE(target, ran.out, ran.err);
    CHECK(ran.code == exit_done);
  }
}

// Of sizes that no block divides; the machines' ways of counting differ.
TEST_CASE("plans in blocks of which the last is shorter are verified", "[long]") {
  for (const auto& [k, length] : {std::pair(200, 64), {129, 128}, {100, 128}, {95, 32}}) {
    const test::Folder folder;
    const auto text = fmt::format(
        "diagram ragged\naxis m = 96; axis j = 80; axis k = {0}; axis kb = (k + {2}) / {1}\n"
        "input A: f8e4m3[m, k]; input B: f8e4m3[j, k]; input s: f32[kb, m]; input t: f8e8m0[j, kb]\n"
        "C: f16[m, j] = sum[k](A[m, k] * B[j, k] * s[k / {1}, m] * t[j, k / {1}])\noutput C\n",
        k, length, length - 1);
    for (const std::string target : {"h100-sxm5", "a100-sxm4-80", "x86-64-avx2"}) {
      const auto ran = test::run_cli({"verify", folder.write("t.nap", text), "--target", target});
      CAPTURE(k, length, target, ran.out, ran.err);
      CHECK(ran.code == exit_done);
    }
  }
}

// Two lengths of blocks along one axis, in two sums; and so long a sum that blocks are divided among SMs.
TEST_CASE("plans in blocks of two lengths, and in divided blocks, are verified", "[long]") {
  const std::string two_lengths =
      "diagram t\naxis m = 256; axis j = 256; axis k = 512; axis kb = 8; axis kc = 4\n"
      "input A: f16[m, k]; input B: f16[j, k]; input s: f32[m, kb]; input t: f32[j, kc]\n"
      "C: f32[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 64])\n"
      "D: f32[m, j] = sum[k](A[m, k] * B[j, k] * t[j, k / 128])\noutput C\noutput D\n";
  const std::string divided =
      "diagram t\naxis m = 64; axis j = 128; axis k = 65536; axis kb = 512\n"
      "input A: f8e4m3[m, k]; input B: f8e4m3[j, k]; input s: f32[m, kb]\n"
      "C: f32[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 128])\noutput C\n";
  for (const auto& text : {two_lengths, divided})
    for (const std::string target : {"h100-sxm5", "a100-sxm4-80"}) {
      const test::Folder folder;
      const auto ran = test::run_cli({"verify", folder.write("t.nap", text), "--target", target});
      CAPTURE(text, target, ran.out, ran.err);
      CHECK(ran.code == exit_done);
    }
}
