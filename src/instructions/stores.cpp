// Boxes of a tile in shared memory that leave for an array by TMA, as instructions of compute capability 9.0.
#include <fmt/format.h>

#include "instructions/text.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

std::string definition(std::size_t dimensions) {
  std::string parameters, places, values;
  for (std::size_t i = 0; i < dimensions; ++i) {
    parameters += fmt::format(", int at{}", i);
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", i + 2);
    values += fmt::format(", \"r\"(at{})", dimensions - 1 - i);
  }
  return fmt::format(
      R"(// A box of a tile to its place in the array, slowest dimension first; nothing past the ends of the array.
__device__ __forceinline__ void {0}(const CUtensorMap* map, const void* from{1}) {{
  asm volatile("cp.async.bulk.tensor.{2}d.global.shared::cta.tile.bulk_group [%0, {{{3}}}], [%1];" ::"l"(map),
               "r"(napkin_shared_address(from)){4}
               : "memory");
}}
)",
      tile_store_name(dimensions), parameters, dimensions, places, values);
}

// A warpgroup has a barrier by its number, behind those of others.
constexpr std::string_view around_stores =
    R"(__device__ __forceinline__ void napkin_store_meet() {
  asm volatile("bar.sync %0, 128;" ::"r"(8 + threadIdx.x / 128) : "memory");
}
// Before a warpgroup writes to its tile: the last boxes of it have been read.
__device__ __forceinline__ void napkin_store_wait() {
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  napkin_store_meet();
}
// After it has written, before boxes are copied: all threads' numbers are known to copies.
__device__ __forceinline__ void napkin_store_ready() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  napkin_store_meet();
}
__device__ __forceinline__ void napkin_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Before the block ends.
__device__ __forceinline__ void napkin_store_end() {
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
)";

}  // namespace

std::string tile_store_name(std::size_t dimensions) { return fmt::format("napkin_store_box_{}d", dimensions); }

std::string instruction_text::of_stores(std::string_view used_in) {
  std::string text;
  for (std::size_t dimensions = 1; dimensions <= most_tile_dimensions; ++dimensions)
    if (used_in.find(tile_store_name(dimensions) + "(") != std::string_view::npos) text += definition(dimensions);
  return text.empty() ? "" : text + std::string(around_stores);
}

}  // namespace napkin
