// The instructions of single warps as rows, from compute capability 8.0 on, and the functions of CUDA C++ that each
// becomes.
#include "napkin/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "instructions/fragments.hpp"
#include "instructions/text.hpp"

namespace napkin {
namespace {

constexpr int first_machine = 80;

// One that sums in the tile of a warp, and contracts so much.
MatrixInstruction of_warp(std::string_view name, Datatype operands, Datatype sums, std::int64_t k, std::string_view ptx,
                          int capability = first_machine, std::int64_t promoted = 0) {
  constexpr auto m = accumulator_tile.rows, n = accumulator_tile.columns;
  return {name,
          operands,
          sums,
          m,
          n,
          k,
          operand_fragment(m, k, operands),
          operand_fragment(n, k, operands),
          accumulator_fragment(),
          ptx,
          capability,
          1,
          promoted};
}

const std::vector<MatrixInstruction>& matrix_rows() {
  using enum Datatype;
  using instruction_text::promoted_f8;
  static const std::vector<MatrixInstruction> rows = {
      of_warp("m16n8k16", f16, f32, 16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
      of_warp("m16n8k8", f16, f32, 8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"),
      of_warp("m16n8k16", bf16, f32, 16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
      of_warp("m16n8k8", tf32, f32, 8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
      of_warp("m16n8k32", i8, i32, 32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
      of_warp("m16n8k32", f8e4m3, f32, 32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 89, promoted_f8),
      of_warp("m16n8k32", f8e5m2, f32, 32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 89, promoted_f8),
  };
  return rows;
}

constexpr std::array load_rows = {
    MatrixLoad{1, false, "ldmatrix.sync.aligned.m8n8.x1.shared.b16"},
    MatrixLoad{2, false, "ldmatrix.sync.aligned.m8n8.x2.shared.b16"},
    MatrixLoad{4, false, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
    MatrixLoad{1, true, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16"},
    MatrixLoad{2, true, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"},
    MatrixLoad{4, true, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
};

constexpr std::array store_rows = {
    MatrixStore{4, false, "stmatrix.sync.aligned.m8n8.x4.shared.b16"},
    MatrixStore{4, true, "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
};

// Only copies of 16 bytes may pass by the first-level cache.
constexpr std::array copy_rows = {
    AsyncCopy{4, "cp.async.ca.shared.global"},
    AsyncCopy{8, "cp.async.ca.shared.global"},
    AsyncCopy{16, "cp.async.cg.shared.global"},
};

using instruction_text::bound;
using instruction_text::operands;

std::string definition(const MatrixInstruction& row) {
  const auto& [a, b, c] = std::tie(row.a, row.b, row.c);
  const bool real = row.accumulator == Datatype::f32;
  const auto text = fmt::format(
      "  asm volatile(\"{0} {1}, {2}, {3}, {1};\"\n               : {4}\n               : {5}, {6});\n", row.ptx,
      operands(0, c.registers), operands(c.registers, a.registers), operands(c.registers + a.registers, b.registers),
      bound(real ? "+f" : "+r", "c", c.registers), bound("r", "a", a.registers), bound("r", "b", b.registers));
  return fmt::format(R"(// c += a * b: {}, {} to {}.
__device__ __forceinline__ void {}({}* c, const unsigned* a, const unsigned* b) {{
{}}}
)",
                     row.name, napkin::row(row.operands).name, napkin::row(row.accumulator).name, function_name(row),
                     real ? "float" : "int",
                     row.capability > first_machine
                         ? fmt::format("#if __CUDA_ARCH__ >= {}0\n{}#endif\n", row.capability, text)
                         : text);
}

std::string definition(const MatrixLoad& row) {
  return fmt::format(R"(// {0} matrices of 8 rows of 16 bytes{1}, each lane giving the address of one row.
__device__ __forceinline__ void {2}(unsigned* to, const void* row) {{
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("{3} {4}, [%{5}];" : {6} : "r"(place) : "memory");
}}
)",
                     row.count, row.transposed ? ", transposed" : "", function_name(row), row.ptx,
                     operands(0, row.count), row.count, bound("=r", "to", row.count));
}

std::string definition(const MatrixStore& row) {
  return fmt::format(R"(// The other way: {0} matrices of 8 rows of 16 bytes{1}.
__device__ __forceinline__ void {2}(void* row, const unsigned* from) {{
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("{3} [%{5}], {4};" ::{6}, "r"(place) : "memory");
}}
)",
                     row.count, row.transposed ? ", transposed" : "", function_name(row), row.ptx,
                     operands(0, row.count), row.count, bound("r", "from", row.count));
}

std::string definition(const AsyncCopy& row) {
  return fmt::format(R"(// {0} bytes into shared memory: all of them, or `count`, and then the others are 0.
__device__ __forceinline__ void {1}(void* to, const void* from) {{
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("{2} [%0], [%1], {0};" ::"r"(place), "l"(from) : "memory");
}}
__device__ __forceinline__ void {1}(void* to, const void* from, int count) {{
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("{2} [%0], [%1], {0}, %2;" ::"r"(place), "l"(from), "r"(count) : "memory");
}}
)",
                     row.bytes, function_name(row), row.ptx);
}

// Two numbers of f8, in the low half of a register, as such of f16. Those of e5m2 are their first bytes. Exponents of
// e4m3 count from 8 less, which makes 256 times; the greatest of its patterns is no number.
constexpr std::string_view widening_e4m3 =
    R"(__device__ __forceinline__ unsigned napkin_widen_f8e4m3(unsigned two) {
  const unsigned sign = (two & 0x80) << 8 | (two & 0x8000) << 16, size = (two & 0x7f) | (two & 0x7f00) << 8;
  return napkin_multiply_f16(sign | size << 7, 0x5c005c00) | ((size + 0x10001) & 0x800080) * 0xff;
}
)";
constexpr std::string_view widening_e5m2 =
    R"(__device__ __forceinline__ unsigned napkin_widen_f8e5m2(unsigned two) {
  return (two & 0xff) << 8 | (two & 0xff00) << 16;
}
)";
constexpr std::string_view multiplication_f16 =
    R"(// Two numbers of f16 by two others.
__device__ __forceinline__ unsigned napkin_multiply_f16(unsigned a, unsigned b) {
  unsigned both;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(both) : "r"(a), "r"(b));
  return both;
}
)";

// Every other pair of what is summed is a step of f16, on both sides alike.
std::string widened(const MatrixInstruction& row) {
  return fmt::format(
      R"(// c += a * b: {0} of {1}; where the machine has none, two of f16, which has all of these numbers.
__device__ __forceinline__ void {2}(float* c, const unsigned* a, const unsigned* b) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < {3}0
#pragma unroll
  for (int half = 0; half < 32; half += 16) {{
    unsigned wide_a[4], wide_b[2];
#pragma unroll
    for (int i = 0; i < 4; ++i) wide_a[i] = napkin_widen_{1}(a[i] >> half);
#pragma unroll
    for (int i = 0; i < 2; ++i) wide_b[i] = napkin_widen_{1}(b[i] >> half);
    napkin_mma_m16n8k16_f16(c, wide_a, wide_b);
  }}
#else
  {4}(c, a, b);
#endif
}}
)",
      row.name, napkin::row(row.operands).name, product_name(row), row.capability, function_name(row));
}

constexpr std::string_view groups_of_copies =
    R"(// Makes a group of the copies since the last call, and waits until at most this many groups are in flight.
__device__ __forceinline__ void napkin_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int groups>
__device__ __forceinline__ void napkin_copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
)";

template <class Rows>
void define(const Rows& rows, std::string_view used_in, std::string& text) {
  for (const auto& row : rows)
    if (used_in.find(function_name(row) + "(") != std::string_view::npos) text += definition(row);
}

}  // namespace

std::span<const MatrixInstruction> matrix_instructions() { return matrix_rows(); }
const MatrixInstruction* find_matrix_instruction(Datatype type, int warps, std::int64_t contracted) {
  const MatrixInstruction* best = nullptr;
  const auto is_better = [&](const MatrixInstruction& row) {
    return !best || (row.k >= contracted ? best->k < contracted || row.k < best->k : row.k > best->k);
  };
  for (const auto& row : warps == 1 ? matrix_instructions() : warpgroup_instructions())
    if (row.operands == type && is_better(row)) best = &row;
  return best;
}
std::span<const MatrixLoad> matrix_loads() { return load_rows; }
std::span<const MatrixStore> matrix_stores() { return store_rows; }
const MatrixLoad& find_matrix_load(int count, bool transposed) {
  return *std::ranges::find_if(
      load_rows, [&](const MatrixLoad& row) { return row.count == count && row.transposed == transposed; });
}

const MatrixInstruction* find_part_instruction(Datatype a, Datatype b) {
  const auto rows = part_instructions();
  const auto found = std::ranges::find(rows, std::optional(std::pair{a, b}), &MatrixInstruction::formats);
  return found == rows.end() ? nullptr : &*found;
}

std::int64_t promoted_every(const MatrixInstruction& row, int machine) {
  return machine == row.capability ? row.promoted_every : 0;
}
std::int64_t promoted_every(Datatype operands, int warps, int machine) {
  const auto* row = find_matrix_instruction(operands, warps);
  return row ? promoted_every(*row, machine) : 0;
}

std::string function_name(const MatrixInstruction& row) {
  return fmt::format("napkin_mma_{}_{}", row.name, napkin::row(row.operands).name);
}
namespace {
// Later machines multiply 8 bits by instructions that earlier ones lack; a function widens them there.
bool may_be_widened(const MatrixInstruction& row) { return row.capability > first_machine && row.warps == 1; }
}  // namespace
std::string product_name(const MatrixInstruction& row) {
  if (row.formats) return row.formats->first == Datatype::f32 ? "napkin_product_parts_a" : "napkin_product_parts_b";
  return may_be_widened(row) ? fmt::format("napkin_product_{}", napkin::row(row.operands).name) : function_name(row);
}
bool multiplies_directly(const MatrixInstruction& row, int machine) {
  return (!row.formats && !may_be_widened(row)) || machine == row.capability;
}
std::string function_name(const MatrixLoad& row) {
  return fmt::format("napkin_load_x{}{}", row.count, row.transposed ? "_transposed" : "");
}
std::string function_name(const MatrixStore& row) {
  return fmt::format("napkin_store_x{}{}", row.count, row.transposed ? "_transposed" : "");
}
std::string function_name(const AsyncCopy& row) { return fmt::format("napkin_copy_{}", row.bytes); }

std::string instruction_definitions(std::string_view used_in) {
  std::string text;
  if (used_in.find("napkin_multiply_f16(") != std::string_view::npos) text += multiplication_f16;
  define(matrix_rows(), used_in, text);
  define(load_rows, used_in, text);
  define(store_rows, used_in, text);
  define(copy_rows, used_in, text);
  if (used_in.find("napkin_copy_commit(") != std::string_view::npos) text += groups_of_copies;
  return text + instruction_text::of_warpgroups(used_in) + instruction_text::of_stores(used_in);
}
std::string product_definitions(std::string_view used_in) {
  std::string text;
  for (const auto& row : matrix_rows())
    if (product_name(row) != function_name(row) && used_in.find(product_name(row) + "(") != std::string_view::npos)
      text += std::string(row.operands == Datatype::f8e4m3 ? widening_e4m3 : widening_e5m2) + widened(row);
  return text + instruction_text::of_parts(used_in);
}

}  // namespace napkin
