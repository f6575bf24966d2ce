// Products of an operand of f32 and one of f16 or bf16, as two products of tf32: rows, and the functions of CUDA C++
// that kernels call. A step contracts 16 positions, in two instructions of 8. Both operands take positions 2 * t and
// 2 * t + 1 of each eight where the instruction has t and t + 4, so that lanes hold of f32 what they hold of f16.
#include <fmt/format.h>

#include <array>

#include "instructions/text.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

// What lanes hold of f16, each number in a register, before it is split.
Fragment alone(Fragment side) {
  side.registers = side.values;
  return side;
}
MatrixInstruction in_parts(Datatype a, Datatype b) {
  const auto& whole = *find_matrix_instruction(Datatype::tf32);
  const auto& halves = *find_matrix_instruction(Datatype::f16);
  return {whole.name,      Datatype::tf32, Datatype::f32, whole.m,          whole.n, halves.k, alone(halves.a),
          alone(halves.b), whole.c,        whole.ptx,     whole.capability, 1,       0,        std::pair{a, b}};
}

constexpr std::string_view splitting =
    R"(// A number of f32 as the sum of two of tf32, but for its last bit; what is no number stays none. Matrix units leave out
// the 13 last bits.
__device__ __forceinline__ void napkin_split(float a, unsigned& upper, unsigned& lower) {
  unsigned bits;
  memcpy(&bits, &a, 4);
  upper = (bits + 0x1000u) & 0xffffe000u;
  float high;
  memcpy(&high, &upper, 4);
  const float rest = a == high ? 0.0f : a - high;
  memcpy(&lower, &rest, 4);
}
)";
constexpr std::string_view widening =
    R"(// Two numbers of 16 bits, the first at the low bits, as such of tf32.
template <class T>
__device__ __forceinline__ void napkin_widen_pair(unsigned two, unsigned& first, unsigned& second) {
  T numbers[2];
  memcpy(numbers, &two, 4);
  const float a = float(numbers[0]), b = float(numbers[1]);
  memcpy(&first, &a, 4);
  memcpy(&second, &b, 4);
}
)";
constexpr std::string_view parts_of_a =
    R"(// c += a * b of 16 x 16 and 16 x 8 numbers: the upper parts of a are before its lower parts.
__device__ __forceinline__ void napkin_product_parts_a(float* c, const unsigned* a, const unsigned* b) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    napkin_mma_m16n8k8_tf32(c, a + 8 + 4 * half, b + 2 * half);
    napkin_mma_m16n8k8_tf32(c, a + 4 * half, b + 2 * half);
  }
}
)";
constexpr std::string_view parts_of_b =
    R"(// c += a * b of 16 x 16 and 16 x 8 numbers: the upper parts of b are 8 registers before its lower parts.
__device__ __forceinline__ void napkin_product_parts_b(float* c, const unsigned* a, const unsigned* b) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    napkin_mma_m16n8k8_tf32(c, a + 4 * half, b + 8 + 2 * half);
    napkin_mma_m16n8k8_tf32(c, a + 4 * half, b + 2 * half);
  }
}
)";

}  // namespace

// Rows: the halves of the tile first, as tf32 has them, and last the eights, which are instructions. Columns: the tiles
// last.
int part_register(bool rows, Fragment::Place place, int number) {
  const auto half = static_cast<int>(place.row / 8), eight = static_cast<int>(place.column / 8);
  return rows ? eight * 4 + number * 2 + half : half * 4 + eight * 2 + number;
}
std::string part_row(bool rows, const FragmentIndex& at) {
  return fmt::format(fmt::runtime(rows ? "{} + {} % 2 * 8" : "{} + {} / 4 * 8"), at.group, at.reg);
}
std::string part_position(bool rows, const FragmentIndex& at) {
  return fmt::format(fmt::runtime(rows ? "{1} / 4 * 8 + {0} * 2 + {1} % 4 / 2" : "{1} % 4 / 2 * 8 + {0} * 2 + {1} % 2"),
                     at.quad, at.reg);
}

std::span<const MatrixInstruction> part_instructions() {
  static const std::array rows = {in_parts(Datatype::f32, Datatype::f16), in_parts(Datatype::f16, Datatype::f32),
                                  in_parts(Datatype::f32, Datatype::bf16), in_parts(Datatype::bf16, Datatype::f32)};
  return rows;
}

std::string instruction_text::of_parts(std::string_view used_in) {
  const auto uses = [&](std::string_view call) { return used_in.find(call) != std::string_view::npos; };
  std::string text;
  if (uses("napkin_split(")) text += splitting;
  if (uses("napkin_widen_pair<")) text += widening;
  if (uses("napkin_product_parts_a(")) text += parts_of_a;
  if (uses("napkin_product_parts_b(")) text += parts_of_b;
  return text;
}

}  // namespace napkin
