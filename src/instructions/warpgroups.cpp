// The instructions of compute capability 9.0 that the four warps of a warpgroup issue together and that run while it
// goes on: products by wgmma, copies of tiles by TMA, the barriers in shared memory that such copies arrive at, and
// registers given from one warpgroup to another.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "instructions/fragments.hpp"
#include "instructions/text.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

constexpr int warpgroup = warpgroup_warps;
constexpr std::int64_t warpgroup_rows = warpgroup * accumulator_tile.rows, warpgroup_lanes = warpgroup * lanes_of_warp;
constexpr std::string_view warpgroup_architecture = "sm_90a";

Fragment in_shared_memory(std::int64_t rows, std::int64_t k) { return {rows, k, 0, 0, {}, warpgroup_lanes}; }

// Numbers of other than 16 bits are contracted along memory only.
const std::array<MatrixInstruction, 5>& warpgroup_table() {
  const auto row = [](std::string_view name, Datatype type, std::string_view ptx) {
    const auto bytes = napkin::row(type).bytes;
    const auto promoted = bytes == 1 ? instruction_text::promoted_f8 : 0;
    const auto k = bytes_of_step / bytes, n = accumulator_tile.columns;
    return MatrixInstruction{name,
                             type,
                             Datatype::f32,
                             warpgroup_rows,
                             n,
                             k,
                             operand_fragment(warpgroup_rows, k, type, warpgroup),
                             in_shared_memory(n, k),
                             accumulator_fragment(warpgroup),
                             ptx,
                             90,
                             warpgroup,
                             promoted};
  };
  static const std::array<MatrixInstruction, 5> rows = {
      row("m64n{}k16", Datatype::f16, "wgmma.mma_async.sync.aligned.m64n{}k16.f32.f16.f16"),
      row("m64n{}k16", Datatype::bf16, "wgmma.mma_async.sync.aligned.m64n{}k16.f32.bf16.bf16"),
      row("m64n{}k8", Datatype::tf32, "wgmma.mma_async.sync.aligned.m64n{}k8.f32.tf32.tf32"),
      row("m64n{}k32", Datatype::f8e4m3, "wgmma.mma_async.sync.aligned.m64n{}k32.f32.e4m3.e4m3"),
      row("m64n{}k32", Datatype::f8e5m2, "wgmma.mma_async.sync.aligned.m64n{}k32.f32.e5m2.e5m2"),
  };
  return rows;
}

// The immediates say that sums go on, that nothing is negated, and for numbers of 16 bits whether an operand in shared
// memory is contracted along another dimension than its last.
std::string definition(const MatrixInstruction& row, std::int64_t columns, bool from_registers) {
  const auto sums = static_cast<int>(columns / row.n) * row.c.registers, a = from_registers ? row.a.registers : 1;
  std::vector<std::string_view> across;
  if (!from_registers) across.emplace_back("a_across");
  across.emplace_back("b_across");
  std::string parameters, places, values;
  for (std::size_t i = 0; i < across.size(); ++i) {
    parameters += fmt::format("{}int {}", i == 0 ? "" : ", ", across[i]);
    if (napkin::row(row.operands).bytes != 2) continue;
    places += fmt::format(", %{}", sums + a + 1 + static_cast<int>(i));
    values += fmt::format(", \"n\"({})", across[i]);
  }
  return fmt::format(R"(// c += a * b: {0} to {1}.
template <{2}>
__device__ __forceinline__ void {3}(float* c, {4} a, unsigned long long b) {{
  asm volatile("{5} {6}, {7}, %{8}, 1, 1, 1{9};"
               : {10}
               : {11}, "l"(b){12});
}}
)",
                     napkin::row(row.operands).name, napkin::row(row.accumulator).name, parameters,
                     function_name(row, columns, from_registers),
                     from_registers ? "const unsigned*" : "unsigned long long",
                     fmt::format(fmt::runtime(row.ptx), columns), instruction_text::operands(0, sums),
                     from_registers ? instruction_text::operands(sums, a) : fmt::format("%{}", sums), sums + a, places,
                     instruction_text::bound("+f", "c", sums),
                     from_registers ? instruction_text::bound("r", "a", a) : "\"l\"(a)", values);
}

std::string copy_definition(std::size_t dimensions, bool shared) {
  std::string parameters, places, values;
  for (std::size_t i = 0; i < dimensions; ++i) {
    parameters += fmt::format(", int at{}", i);
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", i + 3);
    values += fmt::format(", \"r\"(at{})", dimensions - 1 - i);
  }
  return fmt::format(
      R"(// The box of the array's map that begins there, slowest dimension first, 0 past the ends of the array{5}.
__device__ __forceinline__ void {0}(void* to, const CUtensorMap* map, napkin_barrier* barrier{6}{1}) {{
  asm volatile("cp.async.bulk.tensor.{2}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{7} [%0], [%1, {{{3}}}], [%2]{8};" ::
                   "r"(napkin_shared_address(to)), "l"(map), "r"(napkin_shared_address(barrier)){4}{9} : "memory");
}}
)",
      tile_copy_name(dimensions, shared), parameters, dimensions, places, values,
      shared ? ",\n// to the same place of every block whose bit is set, and to its barrier" : "",
      shared ? ", unsigned short blocks" : "", shared ? ".multicast::cluster" : "",
      shared ? fmt::format(", %{}", dimensions + 3) : "", shared ? ", \"h\"(blocks)" : "");
}

constexpr std::string_view groups_of_products =
    R"(__device__ __forceinline__ unsigned napkin_shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
// What a warpgroup does around its products: a fence before them, a commit of those that were issued as one group, and a
// wait until at most `groups` of them are pending. `hold` tells the compiler that pending products may change registers.
__device__ __forceinline__ void napkin_warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void napkin_warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int groups>
__device__ __forceinline__ void napkin_warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
template <int count>
__device__ __forceinline__ void napkin_warpgroup_hold(float* c) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(c[i])::"memory");
}
// Barriers in shared memory. One that copies arrive at is complete when their bytes have; phases of it are counted by
// their parity, and the phase before the first counts as complete.
using napkin_barrier = unsigned long long;
__device__ __forceinline__ void napkin_barrier_begin(napkin_barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(napkin_shared_address(barrier)), "r"(arrivals) : "memory");
}
// Makes barriers known to copies; the block's other threads know them after __syncthreads().
__device__ __forceinline__ void napkin_barrier_publish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void napkin_barrier_arrive(napkin_barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(napkin_shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void napkin_barrier_expect(napkin_barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(napkin_shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ bool napkin_barrier_try(napkin_barrier* barrier, int parity) {
  unsigned complete;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(complete)
      : "r"(napkin_shared_address(barrier)), "r"(parity)
      : "memory");
  return complete;
}
__device__ __forceinline__ void napkin_barrier_wait(napkin_barrier* barrier, int parity) {
  while (!napkin_barrier_try(barrier, parity)) {
  }
}
// Registers of a lane from here on, for a whole warpgroup, instead of those that it began with: fewer, or more once others
// have given theirs.
template <int registers, int first>
__device__ __forceinline__ void napkin_give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers, int first>
__device__ __forceinline__ void napkin_take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
)";

constexpr std::string_view of_clusters =
    R"(// All threads of the cluster's blocks that have not ended: what they did before is done for all.
__device__ __forceinline__ void napkin_cluster_meet() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
// At the barrier that stands at the same place in another block of the cluster.
__device__ __forceinline__ void napkin_barrier_arrive_at(napkin_barrier* barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}\n" ::"r"(napkin_shared_address(barrier)),
      "r"(rank)
      : "memory");
}
)";

// A barrier by its number, of two warpgroups: one waits at it with all its lanes, and the other arrives and goes on.
constexpr std::string_view turns =
    R"(__device__ __forceinline__ void napkin_turn_wait(int barrier) {
  asm volatile("bar.sync %0, 256;" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void napkin_turn_give(int barrier) {
  asm volatile("bar.arrive %0, 256;" ::"r"(barrier) : "memory");
}
)";

bool uses(std::string_view text, const std::string& name) {
  return text.find(name + "<") != std::string_view::npos || text.find(name + "(") != std::string_view::npos;
}

}  // namespace

std::span<const MatrixInstruction> warpgroup_instructions() { return warpgroup_table(); }
bool has_warpgroup_instructions(std::string_view architecture) { return architecture == warpgroup_architecture; }

// Contracted along memory the leading offset is not read: eight rows of a panel are a swizzled pattern.
OperandPlace operand_place(const SharedTile& tile) {
  const auto row = tile.panel * tile.bytes;
  const int swizzle = row == 128 ? 1 : row == 64 ? 2 : 3;
  return {tile.rows * row, 8 * row, swizzle};
}

std::string function_name(const MatrixInstruction& row, std::int64_t columns, bool from_registers) {
  return fmt::format("napkin_warpgroup_{}_{}{}", fmt::format(fmt::runtime(row.name), columns),
                     napkin::row(row.operands).name, from_registers ? "_registers" : "");
}
std::string tile_copy_name(std::size_t dimensions, bool shared) {
  return fmt::format("napkin_copy_box_{}d{}", dimensions, shared ? "_shared" : "");
}

std::string instruction_text::of_warpgroups(std::string_view used_in) {
  if (used_in.find("napkin_warpgroup_") == std::string_view::npos) return "";
  std::string text(groups_of_products);
  if (uses(used_in, "napkin_turn_wait")) text += turns;
  for (const auto& row : warpgroup_instructions())
    for (auto columns = row.n; columns <= most_warpgroup_columns; columns += row.n)
      for (const bool from_registers : {false, true})
        if (uses(used_in, function_name(row, columns, from_registers)))
          text += definition(row, columns, from_registers);
  for (std::size_t dimensions = 1; dimensions <= most_tile_dimensions; ++dimensions)
    for (const bool shared : {false, true})
      if (uses(used_in, tile_copy_name(dimensions, shared))) text += copy_definition(dimensions, shared);
  if (uses(used_in, "napkin_cluster_meet")) text += of_clusters;
  return text;
}

}  // namespace napkin
