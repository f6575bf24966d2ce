// Prints a nest of rows as a __global__ function: block and warp numbers are decoded into groups, rows and pieces are
// processed in order, and columns run on the values that lanes hold.
#include "emit/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/match.hpp"
#include "emit/cuda/groups.hpp"
#include "emit/cuda/rows/row_columns.hpp"
#include "emit/cuda/rows/row_reads.hpp"
#include "emit/shared/expression.hpp"

namespace napkin {
namespace {

class RowPrinter {
 public:
  RowPrinter(const ThreadedKernel& kernel, const RowNest& rows, const CodeNames& names)
      : page_(kernel, rows, names), out_(page_.out), rows_(rows), nest_(*rows.nest), groups_(page_), columns_(page_) {}

  PrintedKernel run(const std::string& name) {
    words();
    out_.line("__global__ void __launch_bounds__({}, {})", page_.kernel.threads, rows_.blocks);
    page_.open_function(name, nest_.inputs);
    if (rows_.shared_bytes > 0) page_.declare_shared();
    declare_rows(page_);
    groups_.blocks();
    lanes();
    print(nest_.body);
    out_.close();
    return page_.printed(name);
  }

 private:
  void words() {
    const auto held = rows_.staged
                          ? fmt::format("in shared memory, {} values of each lane at a time", rows_.vector)
                          : fmt::format("{} {} of each lane", rows_.values(), rows_.values() == 1 ? "value" : "values");
    out_.line("// {}, by {}, {} along {}.", page_.outputs(),
              rows_.warps_of_row > 1 ? fmt::format("rows of {} warps", rows_.warps_of_row)
                                     : fmt::format("{} warps with a row each", rows_.warps),
              held, page_.diagram.at(rows_.lanes).name);
    groups_.describe("one tile for each warp");
  }

  // If a row has fewer warps than the block, each set of warps has rows of its own and needs no barriers.
  void lanes() {
    const auto all = page_.lanes_of_row();
    out_.declare(page_.lane, fmt::format("threadIdx.x % {}", all));
    if (rows_.shared_bytes > 0 && rows_.warps_of_row > 1)
      out_.line("int {} = 0;  // of the partial results of warps", page_.part);
    for (const auto& each : groups_.enter(false)) {
      groups_.print(each, fmt::format("(int)threadIdx.x / {}", all));
      out_.line("if ({} >= {}) return;", each.begin, each.around.end);
    }
    out_.line();
  }

  // Steps

  void print(const LoopBody& block) {
    declare_buffers(block);
    for (const auto& step : loads_first(block))
      match(
          step->node, [&](const Load& load) { print_load(page_, load); }, [](const MaskTest&) {},
          [&](const Compute& compute) { columns_.print(compute); }, [&](const Save& save) { columns_.print(save); },
          [&](const For& loop) { stream(loop); });
  }
  // Loads move before the columns between two streams, so that all are issued before the first lane waits.
  static std::vector<const LoopStatement*> loads_first(const LoopBody& block) {
    std::vector<const LoopStatement*> all;
    for (const auto& step : block.steps) all.push_back(&step);
    const auto is_loop = [](const LoopStatement* step) { return std::holds_alternative<For>(step->node); };
    const auto is_load = [](const LoopStatement* step) { return std::holds_alternative<Load>(step->node); };
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(begin, all.end(), is_loop);
      std::stable_partition(begin, end, is_load);
      begin = end == all.end() ? end : std::next(end);
    }
    return all;
  }
  void declare_buffers(const LoopBody& block) {
    Page::NamesByType by_type;
    for (const auto id : block.buffers) {
      if (nest_.at(id).level != page_.leaf()) continue;
      if (const auto text = declared(page_, id); !text.empty()) by_type[page_.type_of(id)].push_back(text);
    }
    page_.declare(by_type);
  }

  void stream(const For& loop) {
    groups_.stream(loop, [&](const WirePiece&, const std::string&) {
      for (const auto& needed : loop.needs)
        out_.line("if (!({})) continue;", code_possible(needed, page_.names, ends(page_.own)));
      print(loop.body);
    });
  }

  RowPage page_;
  Lines& out_;
  const RowNest& rows_;
  const LoopNest& nest_;
  GroupPrinter groups_;
  RowColumnPrinter columns_;
};

constexpr std::string_view functions =
    R"(// Numbers side by side, which go from and to memory 16 bytes at a time.
template <class T, int count>
struct alignas(count * sizeof(T) < 16 ? count * sizeof(T) : 16) napkin_values {
  T at[count];
};

// A vector of an array: `left` numbers are left, and the rest of the vector is 0.
template <int count, class T>
__device__ __forceinline__ napkin_values<T, count> napkin_read_vector(const T* from, int left) {
  using Values = napkin_values<T, count>;
  if (left >= count && reinterpret_cast<size_t>(from) % alignof(Values) == 0)
    return napkin_global_read(reinterpret_cast<const Values*>(from));
  Values all;
#pragma unroll
  for (int i = 0; i < count; ++i) all.at[i] = i < left ? napkin_global_read(from + i) : T();
  return all;
}
// A lane's vectors of a row, `step` numbers apart. One look at alignment and length serves them all, so that no load waits
// for another.
template <int step, int vectors, int count, class T>
__device__ __forceinline__ void napkin_read_vectors(napkin_values<T, count> (&to)[vectors], const T* from, int left) {
  using Values = napkin_values<T, count>;
  if (left % count == 0 && reinterpret_cast<size_t>(from) % alignof(Values) == 0) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      to[v] = v * step < left ? napkin_global_read(reinterpret_cast<const Values*>(from + v * step)) : Values();
  } else {
#pragma unroll
    for (int v = 0; v < vectors; ++v) to[v] = napkin_read_vector<count>(from + v * step, left - v * step);
  }
}
template <class T, int count>
__device__ __forceinline__ void napkin_write_vector(T* to, const napkin_values<T, count>& all, int left) {
  using Values = napkin_values<T, count>;
  if (left >= count && reinterpret_cast<size_t>(to) % alignof(Values) == 0)
    return napkin_global_write(reinterpret_cast<Values*>(to), all);
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < left) napkin_global_write(to + i, all.at[i]);
}

// What the lanes of a warp have, joined: all of them then have it.
template <class T, class Join>
__device__ __forceinline__ T napkin_join_lanes(T mine, Join join) {
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) mine = join(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  return mine;
}
// What the warps of a block have, a power of two of them. One barrier is enough: partial results change between two
// places, so that the next ones do not meet a warp that still reads.
template <int warps, class T, class Join>
__device__ __forceinline__ T napkin_join_warps(T mine, Join join, unsigned char* shared_memory, int& slot) {
  T* const partial = reinterpret_cast<T*>(shared_memory + slot * warps * 8);
  slot ^= 1;
  if (threadIdx.x % 32 == 0) napkin_shared_write(partial + threadIdx.x / 32, mine);
  __syncthreads();
  mine = napkin_shared_read(partial + threadIdx.x % warps);
#pragma unroll
  for (int mask = 1; mask < warps; mask *= 2) mine = join(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  return mine;
}

)";

}  // namespace

ThreadedKernel row_launch(const RowNest& rows, const Hardware& hardware) {
  return {.nest = *rows.nest,
          .hardware = hardware,
          .block_level = rows.block_level,
          .threads = static_cast<int>(rows.warps * lanes_of_warp),
          .shared_bytes = rows.shared_bytes};
}

PrintedKernel row_kernel(const ThreadedKernel& launch, const RowNest& rows, const CodeNames& names,
                         const std::string& name) {
  return RowPrinter(launch, rows, names).run(name);
}

std::string row_definitions(const std::string& used_in) {
  const bool used = used_in.find("napkin_values<") != std::string::npos ||
                    used_in.find("napkin_join_lanes(") != std::string::npos ||
                    used_in.find("napkin_read_once<") != std::string::npos;
  return used ? std::string(functions) : "";
}

}  // namespace napkin
