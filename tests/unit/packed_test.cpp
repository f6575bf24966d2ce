// Formats that only inputs have: their numbers, how an array of them lies in memory, and what that moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "napkin/cost.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/in_turn.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

// The nearest of them, and of two that are as near the one whose place is even.
double nearest(const std::vector<double>& values, double wanted) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double here = std::abs(values[i] - wanted), there = std::abs(values[best] - wanted);
    if (here < there || (here == there && i % 2 == 0)) best = i;
  }
  return values[best];
}

Diagram product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return read_text(
      fmt::format("diagram p\naxis m = {}; axis n = {}; axis k = {}\n"
                  "input A: f4e2m1[m, k]; input B: i4[k, n]; input s: f8e8m0[m]\n"
                  "C: f16[m, n] = sum[k](A[m, k] * B[k, n]) * s[m]\noutput C\n",
                  m, n, k));
}

}  // namespace

TEST_CASE("formats of inputs alone round to the nearest of their numbers", "[packed]") {
  const std::vector<double> sizes = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-9, 9), exponent(-130, 130);
  for (int i = 0; i < 400; ++i) {
    const double value = number(random), drawn = exponent(random);
    CAPTURE(value, drawn);
    CHECK(row(Datatype::f4e2m1).round(value) == std::copysign(nearest(sizes, std::abs(value)), value));
    CHECK(row(Datatype::i4).round(value) == std::clamp(std::nearbyint(value), -8.0, 7.0));
    const double below = std::exp2(std::floor(drawn)), power = std::exp2(drawn) < 1.5 * below ? below : 2 * below;
    CHECK(row(Datatype::f8e8m0).round(std::exp2(drawn)) == std::clamp(power, 0x1p-127, 0x1p127));
  }
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const double halfway = (sizes[i] + sizes[i + 1]) / 2;
    CHECK(row(Datatype::f4e2m1).round(halfway) == nearest(sizes, halfway));
  }
  CHECK(row(Datatype::f8e8m0).round(0) == 0x1p-127);
  CHECK(row(Datatype::f8e8m0).round(-3) == 0x1p-127);
}

TEST_CASE("a value by itself has a format with all numbers of one that shares bytes", "[packed]") {
  for (const auto& type : datatypes()) {
    CAPTURE(type.name);
    for (double value = -8; value <= 8; value += 0.25)
      if (type.share > 1 && type.round(value) == value) CHECK(row(type.alone).round(value) == value);
    CHECK((type.share > 1) == (type.alone != type.type));
    CHECK(row(type.alone).share == 1);
    CHECK(bytes_of(type.type, 6) == 6 * type.bytes / type.share);
    CHECK(bytes_of(type.type, 7) == (7 * type.bytes + type.share - 1) / type.share);
  }
}

TEST_CASE("an array of 4 bits is read as the format that holds its numbers", "[packed]") {
  const auto diagram = product(4, 6, 8);
  const auto& a = diagram.at(diagram.inputs[0]);
  CHECK((a.type == Datatype::f8e4m3 && a.packed == Datatype::f4e2m1 && a.stored() == Datatype::f4e2m1));
  CHECK(diagram.at(diagram.inputs[1]).type == Datatype::i8);
  CHECK_FALSE(diagram.at(diagram.inputs[2]).packed);
}

// Odd pieces split bytes, and whatever is moved is counted to the last byte.
TEST_CASE("what is predicted of packed arrays is what a run moves", "[packed]") {
  std::mt19937 random(5);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (const std::string target : {"h100-sxm5", "a100-sxm4-80", "x86-64-avx2"}) {
    const auto hardware = read_machine(target);
    for (int i = 0; i < 12; ++i) {
      const auto diagram = product(draw(1, 9), 2 * draw(1, 20), 2 * draw(1, 40));
      const auto derivation = testing::derived(diagram);
      Partition partition;
      const auto wire = [&](const char* name) { return *find_wire(derivation->scratch, name); };
      partition.splits = {{SplitKind::group, wire("m"), draw(1, 5), 1},
                          {SplitKind::group, wire("n"), draw(1, 9), 1},
                          {SplitKind::stream, wire("k"), draw(1, 31), 1}};
      const auto kernel = make_kernel(derivation, partition);
      const auto cost = estimate(kernel, hardware, Model::machine);
      const auto ran = count(kernel, hardware);
      CAPTURE(target, i);
      for (std::size_t level = 0; level < cost.levels.size(); ++level) {
        CHECK(cost.levels[level].transfer_bytes == ran.levels[level].transfer_bytes);
        if (cost.levels[level].sector_bytes) CHECK(*cost.levels[level].sector_bytes == ran.sector_bytes[level]);
      }
    }
  }
}

TEST_CASE("an array of 4 bits takes half a byte for each number", "[packed]") {
  const auto hardware = read_machine("a100-sxm4-80");
  const auto bytes = [&](const std::string& type) {
    const auto diagram = read_text(
        fmt::format("diagram p\naxis m = 512; axis n = 512; axis k = 512\ninput A: {0}[m, k]; input B: {0}[n, k]\n"
                    "C: f16[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n",
                    type));
    return search(diagram, hardware, {}).cost.kernels[0].compulsory_bytes;
  };
  CHECK(bytes("f8e4m3") == 2 * 512 * 512 + 2 * 512 * 512);
  CHECK(bytes("f4e2m1") == 512 * 512 + 2 * 512 * 512);
  CHECK(bytes("i4") == bytes("f4e2m1"));
}

TEST_CASE("products of packed numbers are verified, and the report says how they run", "[packed][long]") {
  std::size_t turn = 0;
  for (const std::string target : {"h100-sxm5", "b200-sxm", "v100-sxm2", "x86-64-avx2", "toy", "h100-sxm5-x8"}) {
    if (test::left_out(turn++)) continue;
    const auto ran = test::run_cli({"verify", test::example("mx_product"), "--target", target});
    CAPTURE(target, ran.out, ran.err);
    CHECK(ran.code == exit_done);
  }
  const auto report = test::run_cli({"analyze", test::example("mx_product"), "--target", "h100-sxm5", "--details",
                                     "--partition", "group m 128, j 64, stream k_block 1 at smem; group m 32 at reg"});
  CHECK(report.out.find("A and B have two numbers to a byte") != std::string::npos);
  CHECK(report.out.find("f4e2m1, f8e8m0, f16") != std::string::npos);
  CHECK(report.out.find("gmem, smem  A      f4e2m1") != std::string::npos);
  CHECK(report.out.find("smem, reg   A      f8e4m3") != std::string::npos);
}

TEST_CASE("lanes widen numbers of the format that the file has", "[packed]") {
  const auto ran = test::run_cli({"analyze", "-", "--target", "h100-sxm5", "--partition",
                                  "group m 32, n 32, stream k 64 at smem; group m 16 at reg"},
                                 "diagram p\naxis m = 512; axis n = 512; axis k = 512\n"
                                 "input A: i4[m, k]; input B: f16[n, k]\n"
                                 "C: f16[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.out.find("A is i4, which lanes widen to f16") != std::string::npos);
}

TEST_CASE("gradients read packed inputs as the file stores them", "[packed]") {
  const auto ran = test::run_cli({"grad", test::example("mx_product"), "--wrt", "A"});
  CAPTURE(ran.out, ran.err);
  CHECK(ran.code == exit_done);
  CHECK(ran.out.find("input B: f4e2m1[j, k]") != std::string::npos);
  CHECK(ran.out.find("dA: f16[m, k]") != std::string::npos);
}
