// The instructions of compute capability 8.0 as rows, and the functions of CUDA C++ that each becomes.
#include "napkin/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "instructions/text.hpp"

namespace napkin {
namespace {

// With g = lane / 4 and t = lane % 4, of operands so many to a register (r): rows g and g + 8, columns r * t .. and
// the same r * 4 further on.
Fragment operand_a(std::int64_t k, int to_register) {
  const std::int64_t r = to_register;
  return {16, k, 4, 4 * to_register, {{{4, 16 * r}, {8, 1}, {r, 16}, {2, 8}, {2, 16 * 4 * r}}}};
}
// Rows are n: column g of b, and k as above.
Fragment operand_b(std::int64_t k, int to_register) {
  const std::int64_t r = to_register;
  return {8, k, 2, 2 * to_register, {{{4, 8 * r}, {8, 1}, {r, 8}, {2, 8 * 4 * r}}}};
}
// Rows g and g + 8, columns 2 * t and 2 * t + 1.
Fragment accumulator() { return {16, 8, 4, 4, {{{4, 32}, {8, 1}, {2, 16}, {2, 8}}}}; }

const std::vector<MatrixInstruction>& matrix_rows() {
  static const std::vector<MatrixInstruction> rows = {
      {"m16n8k16", Datatype::f16, Datatype::f32, 16, 8, 16, operand_a(16, 2), operand_b(16, 2), accumulator(),
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 80},
      {"m16n8k16", Datatype::bf16, Datatype::f32, 16, 8, 16, operand_a(16, 2), operand_b(16, 2), accumulator(),
       "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 80},
      {"m16n8k8", Datatype::tf32, Datatype::f32, 16, 8, 8, operand_a(8, 1), operand_b(8, 1), accumulator(),
       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 80},
      {"m16n8k32", Datatype::i8, Datatype::i32, 16, 8, 32, operand_a(32, 4), operand_b(32, 4), accumulator(),
       "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 80},
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
  return fmt::format(R"(// c += a * b: {0}, {1} to {2}.
__device__ __forceinline__ void {3}({4}* c, const unsigned* a, const unsigned* b) {{
  asm volatile("{5} {6}, {7}, {8}, {6};"
               : {9}
               : {10}, {11});
}}
)",
                     row.name, napkin::row(row.operands).name, napkin::row(row.accumulator).name, function_name(row),
                     real ? "float" : "int", row.ptx, operands(0, c.registers), operands(c.registers, a.registers),
                     operands(c.registers + a.registers, b.registers), bound(real ? "+f" : "+r", "c", c.registers),
                     bound("r", "a", a.registers), bound("r", "b", b.registers));
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

std::string definition(const AsyncCopy& row) {
  return fmt::format(R"(// {0} bytes into shared memory, of which `count` are copied and the others 0.
__device__ __forceinline__ void {1}(void* to, const void* from, int count) {{
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("{2} [%0], [%1], {0}, %2;" ::"r"(place), "l"(from), "r"(count) : "memory");
}}
)",
                     row.bytes, function_name(row), row.ptx);
}

constexpr std::string_view groups_of_copies =
    R"(// Copies since the last such call are a group; waits until at most so many groups are on their way.
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

Fragment::Place Fragment::at(std::int64_t lane, std::int64_t value) const {
  const auto place = layout(lane + lanes * value);
  return {place % rows, place / rows};
}

std::span<const MatrixInstruction> matrix_instructions() { return matrix_rows(); }
const MatrixInstruction* find_matrix_instruction(Datatype type, int warps) {
  const auto rows = warps == 1 ? matrix_instructions() : team_instructions();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.operands == type; });
  return found == rows.end() ? nullptr : &*found;
}
std::span<const MatrixLoad> matrix_loads() { return load_rows; }
std::span<const AsyncCopy> async_copies() { return copy_rows; }

std::string function_name(const MatrixInstruction& row) {
  return fmt::format("napkin_mma_{}_{}", row.name, napkin::row(row.operands).name);
}
std::string function_name(const MatrixLoad& row) {
  return fmt::format("napkin_load_x{}{}", row.count, row.transposed ? "_transposed" : "");
}
std::string function_name(const AsyncCopy& row) { return fmt::format("napkin_copy_{}", row.bytes); }

std::string instruction_definitions(std::string_view used_in) {
  std::string text;
  define(matrix_rows(), used_in, text);
  define(load_rows, used_in, text);
  define(copy_rows, used_in, text);
  if (used_in.find("napkin_copy_commit(") != std::string_view::npos) text += groups_of_copies;
  return text + instruction_text::of_teams(used_in) + instruction_text::of_stores(used_in);
}

}  // namespace napkin
