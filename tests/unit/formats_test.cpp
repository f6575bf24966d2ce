// The format of an array at each level: stored, multiplied, summed, saved.
#include "loops/formats.hpp"

#include <cmath>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

struct Formats {
  std::string Q = "f16", K = "f16", V = "f16", O = "f16";
};
Kernel attention(const Formats& of, const Hardware& hardware) {
  const auto diagram =
      read_text("diagram d; axis q = 128; axis x = 192; axis d = 64\ninput Q: " + of.Q + "[q, d]; input K: " + of.K +
                "[x, d]; input V: " + of.V +
                "[x, d]\nS[q, x] = sum[d](Q[q, d] * K[x, d])\nP: f16[q, x] = softmax[x](S[q, x])\nO: " + of.O +
                "[q, d] = sum[x](P[q, x] * V[x, d])\noutput O");
  return testing::planned(diagram, "group q 64, stream x 64 at smem; group q 16, stream x 16 at reg", hardware);
}
Kernel weights(const std::string& type, const Hardware& hardware) {
  const auto diagram =
      read_text("diagram d; axis a = 256; axis b = 128; axis c = 256\ninput X: f16[a, b]; input W: " + type +
                "[b, c]; input s: f16[c]\nY: f16[a, c] = sum[b](X[a, b] * W[b, c]) * s[c]\n" + "output Y");
  return testing::planned(diagram, "group a 128, group c 128, stream b 64 at smem", hardware);
}

const HeldArray& held(const LevelCost& level, const std::string& array) {
  const auto found = std::ranges::find(level.held, array, &HeldArray::array);
  REQUIRE(found != level.held.end());
  return *found;
}
const ArrayCost& moved(const LevelCost& level, const std::string& array) {
  const auto found = std::ranges::find(level.arrays, array, &ArrayCost::array);
  REQUIRE(found != level.arrays.end());
  return *found;
}
void check_twin(const Kernel& kernel, const Hardware& hardware) {
  const auto cost = estimate(kernel, hardware, Model::machine);
  const auto counted = count(kernel, hardware);
  for (std::size_t i = 0; i < cost.levels.size(); ++i) {
    CHECK(cost.levels[i].transfer_bytes == counted.levels[i].transfer_bytes);
    CHECK(cost.levels[i].memory_bytes == counted.levels[i].memory_bytes);
  }
}
std::string instruction(const Kernel& kernel, const Hardware& hardware) {
  const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  return made->instruction + " along " + made->row_axis;
}

}  // namespace

TEST_CASE("formats of 16 bits have all numbers of 8 bits") {
  for (const auto narrow : {Datatype::f8e4m3, Datatype::f8e5m2, Datatype::i8})
    for (int exponent = -24; exponent <= 16; ++exponent)
      for (int digits = -255; digits <= 255; ++digits) {
        const double number = std::ldexp(digits, exponent);
        if (row(narrow).round(number) != number) continue;
        CHECK(row(Datatype::f16).round(number) == number);
        CHECK(row(Datatype::bf16).round(number) == number);
      }
}

TEST_CASE("operands are multiplied in a format that holds both and that the machine multiplies") {
  using enum Datatype;
  const auto a100 = read_machine("a100-sxm4-80"), h100 = read_machine("h100-sxm5"), v100 = read_machine("v100-sxm2");
  CHECK(multiplied_as(f8e4m3, f8e4m3, h100) == f8e4m3);
  CHECK(multiplied_as(f8e4m3, f8e4m3, a100) == f16);
  CHECK(multiplied_as(f8e4m3, f8e5m2, h100) == f16);
  CHECK(multiplied_as(f16, f8e4m3, h100) == f16);
  CHECK(multiplied_as(i8, bf16, a100) == bf16);
  CHECK(multiplied_as(i8, i8, a100) == i8);
  CHECK(multiplied_as(i8, i8, v100) == f16);
  CHECK(multiplied_as(bf16, i8, v100) == std::nullopt);
  CHECK(multiplied_as(f16, bf16, h100) == std::nullopt);
  CHECK(multiplied_as(f16, f32, h100) == Datatype::tf32);
  CHECK(parts_of(f16, f32) == 2);
  CHECK(multiplied_as(f32, bf16, a100) == Datatype::tf32);
  CHECK(parts_of(f32, bf16) == 2);
  CHECK(multiplied_as(f32, f32, h100) == std::nullopt);
  CHECK(multiplied_as(Datatype::f8e8m0, f8e4m3, h100) == std::nullopt);
  CHECK(multiplied_as(f32, f8e4m3, h100) == std::nullopt);
  CHECK(multiplied_as(f16, f32, read_machine("rtx4090")) == std::nullopt);  // lanes are as fast
  CHECK(multiplied_as(f16, f32, v100) == std::nullopt);
  CHECK(multiplied_as(f16, f16, read_machine("x86-64-avx2")) == std::nullopt);
}

TEST_CASE("keys of f8 are so down to the core's memory, and f16 in registers", "[long]") {
  for (const auto* name : {"h100-sxm5", "a100-sxm4-80"}) {
    CAPTURE(name);
    const auto hardware = read_machine(name);
    const auto kernel = attention({"f16", "f8e4m3", "f8e4m3", "f16"}, hardware);
    const auto cost = estimate(kernel, hardware, Model::machine);
    const auto &shared = cost.levels[0], &registers = cost.levels[1];
    CHECK(held(shared, "K").type == Datatype::f8e4m3);
    CHECK(held(shared, "K").bytes == 64 * 64);
    CHECK(moved(shared, "K").transfer_bytes == 2 * 192 * 64);
    CHECK(held(registers, "K").type == Datatype::f16);
    CHECK(held(registers, "K").stored == Datatype::f8e4m3);
    CHECK(held(registers, "K").bytes == 2 * 16 * 64);
    CHECK(moved(registers, "K").transfer_bytes == 8 * 192 * 64);
    CHECK(moved(registers, "K").type == Datatype::f8e4m3);
    CHECK(held(registers, "O_sum").type == Datatype::f32);
    CHECK(held(registers, "S").type == Datatype::f32);
    CHECK(held(registers, "Q").type == Datatype::f16);
    check_twin(kernel, hardware);
  }
}

TEST_CASE("f8 alone is multiplied as it is where the machine can", "[long]") {
  const Formats narrow{"f8e4m3", "f8e4m3", "f16", "f16"};
  for (const auto& [name, type] : {std::pair("h100-sxm5", Datatype::f8e4m3), {"a100-sxm4-80", Datatype::f16}}) {
    CAPTURE(name);
    const auto hardware = read_machine(name);
    const auto kernel = attention(narrow, hardware);
    const auto cost = estimate(kernel, hardware, Model::machine);
    CHECK(held(cost.levels[1], "K").type == type);
    CHECK(held(cost.levels[1], "Q").type == type);
    CHECK(held(cost.levels[0], "K").type == Datatype::f8e4m3);
    const auto tensor = std::ranges::find(cost.units, Unit::tensor, &UnitCost::unit);
    REQUIRE(tensor != cost.units.end());
    CHECK(tensor->operations == 2 * 2.0 * 128 * 192 * 64);
    check_twin(kernel, hardware);
  }
}

TEST_CASE("half the bytes of one array change its transfers, and its memory where it is held so") {
  const auto hardware = read_machine("h100-sxm5");
  const auto wide = estimate(attention({}, hardware), hardware, Model::machine);
  const auto narrow = estimate(attention({"f16", "f8e4m3", "f16", "f16"}, hardware), hardware, Model::machine);
  for (std::size_t level = 0; level < 2; ++level) {
    const auto &before = wide.levels[level], &after = narrow.levels[level];
    for (const auto* array : {"Q", "K", "V", "O"}) {
      CAPTURE(level, array);
      const auto shrinks = std::string(array) == "K" ? 2 : 1;
      CHECK(moved(before, array).transfer_bytes == shrinks * moved(after, array).transfer_bytes);
    }
    const auto of_keys = moved(after, "K").transfer_bytes;
    CHECK(before.transfer_bytes - after.transfer_bytes == of_keys);
    CHECK(before.memory_bytes - after.memory_bytes == (level == 0 ? 64 * 64 : 0));
    CHECK(before.transfer_values == after.transfer_values);
    CHECK(before.memory_values == after.memory_values);
  }
}

TEST_CASE("an output of f32 is wider where it is saved, and nothing else is") {
  const auto hardware = read_machine("h100-sxm5");
  const auto wide = attention({"f16", "f16", "f16", "f32"}, hardware);
  const auto before = estimate(attention({}, hardware), hardware, Model::machine);
  const auto after = estimate(wide, hardware, Model::machine);
  for (std::size_t level = 0; level < 2; ++level) {
    CHECK(moved(after.levels[level], "O").transfer_bytes == 4 * 128 * 64);
    CHECK(after.levels[level].transfer_bytes - before.levels[level].transfer_bytes == 2 * 128 * 64);
  }
  // Its sum was f32 in registers all along.
  CHECK(after.levels[1].memory_bytes == before.levels[1].memory_bytes);
  check_twin(wide, hardware);
}

TEST_CASE("weights of i8 take half the bytes of f16, and are widened as rows of what single warps multiply", "[long]") {
  const auto h100 = read_machine("h100-sxm5");
  const auto narrow = weights("i8", h100), wide = weights("f16", h100);
  const auto before = estimate(wide, h100, Model::machine), after = estimate(narrow, h100, Model::machine);
  CHECK(moved(before.levels[0], "W").transfer_bytes == 2 * moved(after.levels[0], "W").transfer_bytes);
  CHECK(moved(before.levels[0], "X").transfer_bytes == moved(after.levels[0], "X").transfer_bytes);
  CHECK(held(after.levels[1], "W").type == Datatype::f16);
  CHECK(instruction(narrow, h100) == "mma.sync m16n8k16 along c");
  const auto a100 = read_machine("a100-sxm4-80");
  CHECK(instruction(weights("i8", a100), a100) == "mma.sync m16n8k16 along c");
  check_twin(narrow, h100);
}

TEST_CASE("columns that must be widened are multiplied from registers, by single warps") {
  const auto hardware = read_machine("h100-sxm5");
  CHECK(instruction(attention({}, hardware), hardware) == "wgmma m64n8k16 along q");
  CHECK(instruction(attention({"f16", "f8e4m3", "f8e4m3", "f16"}, hardware), hardware) == "mma.sync m16n8k16 along q");
}

TEST_CASE("a machine without cores holds arrays as they are stored") {
  const auto hardware = read_machine("two-level", {{"M", "100000"}});
  const auto diagram = read_text(
      "diagram d; axis a = 64; axis b = 64; axis c = 64; input A: f16[a, b]; input B: f8e4m3[b, c]\n"
      "C[a, c] = sum[b](A[a, b] * B[b, c]); output C");
  const auto cost = estimate(testing::planned(diagram, "", hardware), hardware, Model::machine);
  CHECK(held(cost.levels[0], "B").type == Datatype::f8e4m3);
}
