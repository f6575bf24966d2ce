// Prints the C interface of a plan's kernels: a header with its documentation, and the launcher, which checks sizes,
// lays out the workspace and starts the kernels in order.
#include "emit/cuda/host/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/runtime/functions.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

std::string launch_head(const CudaPlan& plan) {
  return fmt::format("int {}_launch({}{}, void* workspace, void* stream)", plan.names.diagram, size_parameters(plan),
                     array_parameters(plan));
}

constexpr std::string_view start_text =
    R"(// Launches a kernel with this many blocks, as a grid of one or two dimensions, with dynamic shared memory.
template <class... Parameters>
static int start(void (*kernel)(Parameters...), long long blocks, int threads, int shared, void* stream,
                 Parameters... arguments) {
  const long long width = blocks < 2147483647 ? blocks : 2147483647, height = (blocks + width - 1) / width;
  if (height > 65535) return cudaErrorInvalidConfiguration;
  void* pointers[] = {(void*)&arguments...};
  return cudaLaunchKernel(kernel, dim3((unsigned)width, (unsigned)height), dim3((unsigned)threads), pointers,
                          (size_t)shared, (cudaStream_t)stream);
}

)";

constexpr std::string_view map_text =
    R"(// Of blocks that stay for several pieces: as many as run at once, but no more than there are pieces.
template <class... Parameters>
static long long at_once(const Prepared& made, void (*kernel)(Parameters...), long long pieces, int threads,
                         int shared) {
  int cores = 0, blocks = 0;
  if (cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, made.device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared) != cudaSuccess) {
    cudaGetLastError();
    return pieces;
  }
  const long long fit = (long long)cores * blocks;
  return fit < 1 || pieces < fit ? pieces : fit;
}

// How copies of tiles see an array: its sizes, and the box that is copied at once, slowest dimension first. False where
// they cannot, and then it says why if the array's name is given.
template <class T, int rank>
static bool map_tiles(Prepared& made, int number, const char* name, const T* array, const long long (&sizes)[rank],
                      const int (&box)[rank], int swizzle) {
  static void* const encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if defined(CUDART_VERSION) && CUDART_VERSION < 12050
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#endif
    if (error == cudaSuccess && result == cudaDriverEntryPointSuccess) return found;
    cudaGetLastError();
    return (void*)nullptr;
  }();
  cuuint64_t dimensions[rank], steps[rank];
  cuuint32_t boxes[rank], ones[rank];
  bool aligned = reinterpret_cast<size_t>(array) % 16 == 0;
  for (int i = 0; i < rank; ++i) {
    dimensions[i] = (cuuint64_t)sizes[rank - 1 - i];
    steps[i] = (i == 0 ? sizeof(T) : steps[i - 1]) * dimensions[i];
    boxes[i] = (cuuint32_t)box[rank - 1 - i];
    ones[i] = 1;
    aligned = aligned && (i == rank - 1 || steps[i] % 16 == 0);
  }
  const CUtensorMapDataType type = sizeof(T) == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : sizeof(T) == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUtensorMapSwizzle swizzles = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                      : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                      : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                      : CU_TENSOR_MAP_SWIZZLE_NONE;
  if (!aligned) return name && lacks(made, true, "rows of `", name, "` do not begin at multiples of 16 bytes");
  if (!encode) return name && lacks(made, false, "cuTensorMapEncodeTiled is missing");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
             &made.maps[number], type, rank, const_cast<T*>(array), dimensions, steps, boxes, ones,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzles, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS ||
         (name && lacks(made, false, "cuTensorMapEncodeTiled refuses `", name, "`"));
}

)";

constexpr std::string_view cluster_text =
    R"(// A launch of clusters of so many blocks each.
struct Clusters {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  Clusters(int cluster, long long clusters, int threads, int shared, void* stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)(clusters * cluster));
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  Clusters(const Clusters&) = delete;
};

// Of clusters that stay for several pieces: as many as run at once, but no more than there are pieces.
template <class... Parameters>
static int clusters_at_once(long long* number, void (*kernel)(Parameters...), int cluster, long long clusters,
                            int threads, int shared) {
  const Clusters one(cluster, 1, threads, shared, nullptr);
  int fit = 0;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&fit, kernel, &one.config);
  *number = clusters < fit ? clusters : fit;
  return error == cudaSuccess && fit < 1 ? cudaErrorInvalidConfiguration : error;
}

template <class... Parameters>
static int start_clusters(void (*kernel)(Parameters...), int cluster, long long clusters, int threads, int shared,
                          void* stream, Parameters... arguments) {
  const Clusters all(cluster, clusters, threads, shared, stream);
  return cudaLaunchKernelEx(&all.config, kernel, arguments...);
}

)";

std::string started(const CudaPlan& plan, const CudaKernel& kernel, const std::vector<ArrayId>& inputs,
                    const std::string& number, const TileScheduler& scheduler = {}) {
  const auto& [threaded, printed] = kernel;
  const auto head = scheduler.cluster > 1 ? fmt::format("start_clusters({}, {}, ", printed.name, scheduler.cluster)
                                          : fmt::format("start({}, ", printed.name);
  return fmt::format("error = {}{}, {}, {}, stream, n{}", head, number, threaded.threads, threaded.shared_bytes,
                     arguments(plan, inputs, threaded.nest.outputs));
}

// "map_tiles(*made, 0, "A", A, {n.a, n.b}, {64, 64}, 128)".
std::string mapped(const CudaPlan& plan, const TileMap& map, std::size_t number, bool is_input = true) {
  const auto size = [&](WireId wire) { return code_size(plan.diagram, plan.names, wire); };
  const auto name = is_input ? fmt::format("\"{}\"", plan.diagram.at(map.array).name) : "nullptr";
  return fmt::format("map_tiles(*made, {}, {}, {}, {{{}}}, {{{}}}, {})", number, name,
                     argument(plan, map.array, is_input), listed(plan.diagram.at(map.array).wires, ", ", size),
                     fmt::join(map.box, ", "), map.swizzle);
}

// One kernel of the plan, with its number, and those of its first tensor map and of its first output's tensor map among
// all maps.
struct Launched {
  const PlannedKernel& kernel;
  std::size_t index, maps, stores;

  std::size_t map_of_store(std::size_t k) const { return maps + kernel.warpgroups->maps.size() + k; }
};

std::string room(const CudaKernel& kernel) {
  return fmt::format("make_room({}, {})", kernel.printed.name, kernel.threaded.shared_bytes);
}

// Prints the number of persistent blocks, if the kernel is persistent.
void prepare_blocks(const CudaPlan& plan, const WarpgroupKernel& warpgroups, std::size_t index, Lines& out) {
  const auto& threaded = warpgroups.threaded;
  const auto number = grid_size(threaded, plan.names, warpgroups.scheduler);
  const auto& name = warpgroups.printed.name;
  if (warpgroups.scheduler.cluster > 1)
    out.line("if (error == cudaSuccess) error = clusters_at_once(&made->blocks[{}], {}, {}, {}, {}, {});", index, name,
             warpgroups.scheduler.cluster, number, threaded.threads, threaded.shared_bytes);
  else if (warpgroups.scheduler.persistent)
    out.line("made->blocks[{}] = at_once(*made, {}, {}, {}, {});", index, name, number, threaded.threads,
             threaded.shared_bytes);
}

// Prints the test whether the warpgroup kernel can run, and the preparation of whichever kernel is launched.
void prepare_warpgroups(const CudaPlan& plan, const Launched& here, Lines& out) {
  const auto i = here.index;
  const auto& warpgroups = *here.kernel.warpgroups;
  std::string conditions = fmt::format("runs(*made, {}, {})", warpgroups.printed.name, warpgroups.threaded.threads);
  for (const auto& condition : warpgroups.conditions) conditions += " &&\n        " + condition;
  for (std::size_t k = 0; k < warpgroups.maps.size(); ++k)
    conditions += " &&\n        " + mapped(plan, warpgroups.maps[k], here.maps + k);
  out.line("if (demanded[{}] == other) lacks(*made, false, \"NAPKIN_DEMAND_PATH asks for another path\");", i);
  out.open("if (demanded[{}] != other && {})", i, conditions);
  for (std::size_t k = 0; k < warpgroups.stores.size(); ++k)
    out.line("made->mapped[{}] = {};", here.stores + k,
             mapped(plan, warpgroups.stores[k], here.map_of_store(k), false));
  out.line("error = {};", room(warpgroups));
  prepare_blocks(plan, warpgroups, i, out);
  out.otherwise();
  out.line("made->way[{}] = other;", i);
  out.line("error = demanded[{}] == planned ? (int)cudaErrorNotSupported : {};", i, room(here.kernel));
  out.close();
}

// Prints what is prepared once for all launches with the same device, sizes and arrays.
void prepare(const CudaPlan& plan, const Launched& here, Lines& out) {
  out.open("if (!made->ready[{}])", here.index);
  if (here.kernel.warpgroups)
    prepare_warpgroups(plan, here, out);
  else
    out.line("error = {};", room(here.kernel));
  out.line("if (error != cudaSuccess) return give_up(error, made);");
  out.line("made->ready[{}] = true;", here.index);
  out.close();
}

std::string warpgroups_started(const CudaPlan& plan, const Launched& here) {
  const auto& warpgroups = *here.kernel.warpgroups;
  const auto& scheduler = warpgroups.scheduler;
  std::string maps;
  for (std::size_t k = 0; k < warpgroups.maps.size(); ++k) maps += fmt::format(", made->maps[{}]", here.maps + k);
  for (std::size_t k = 0; k < warpgroups.stores.size(); ++k)
    maps += fmt::format(", made->maps[{}], made->mapped[{}]", here.map_of_store(k), here.stores + k);
  const auto number = scheduler.persistent || scheduler.cluster > 1
                          ? fmt::format("made->blocks[{}]", here.index)
                          : grid_size(warpgroups.threaded, plan.names, scheduler);
  return started(plan, warpgroups, warpgroups.inputs, number, scheduler) + maps + ");";
}

void launch(const CudaPlan& plan, const Launched& here, Lines& out) {
  const auto& threaded = here.kernel.threaded;
  const auto alone = started(plan, here.kernel, threaded.nest.inputs, grid_size(threaded, plan.names, {})) + ");";
  prepare(plan, here, out);
  out.line("take(*made, {});", here.index);
  if (here.kernel.warpgroups) {
    out.line("if (made->way[{}] == planned)", here.index);
    out.line("  " + warpgroups_started(plan, here));
    out.line("else");
    out.line("  " + alone);
  } else {
    out.line(alone);
  }
  out.line("if (error != cudaSuccess) return give_up(error, made);");
}

bool any_clusters(const CudaPlan& plan) {
  return std::ranges::any_of(plan.kernels, [](const PlannedKernel& each) {
    return each.warpgroups && each.warpgroups->scheduler.cluster > 1;
  });
}

void launcher(const CudaPlan& plan, Lines& out) {
  out.open("extern \"C\" {}", launch_head(plan));
  out.line("last.path[0] = last.reason[0] = 0, last.expected = false;");
  declare_all_sizes(plan, out);
  out.line("if (!possible(n)) return cudaErrorInvalidValue;");
  out.line("int demanded[kernel_count], error = cudaSuccess;");
  out.open("if (!read_demand(demanded))");
  out.line("std::strcpy(last.reason, \"NAPKIN_DEMAND_PATH names no path of these kernels\");");
  out.line("return cudaErrorNotSupported;");
  out.close();
  const auto array = [&](ArrayId id) { return plan.names.arrays[id.index] + ", "; };
  out.line("const void* const arrays[] = {{{}workspace}};", listed(given_arrays(plan), "", array));
  out.line("Prepared* const made = prepared_for(n, arrays, demanded, &error);");
  out.line("if (!made) return give_up(error, made);");
  divide_workspace(plan, out);
  MapCount before;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    launch(plan, {plan.kernels[i], i, before.maps, before.stores}, out);
    before.add(plan.kernels[i]);
  }
  out.line("return cudaSuccess;");
  out.close();
}

}  // namespace

void MapCount::add(const PlannedKernel& kernel) {
  if (!kernel.warpgroups) return;
  maps += kernel.warpgroups->maps.size() + kernel.warpgroups->stores.size();
  stores += kernel.warpgroups->stores.size();
}

bool any_warpgroups(const CudaPlan& plan) {
  return std::ranges::any_of(plan.kernels, [](const PlannedKernel& each) { return each.warpgroups.has_value(); });
}

std::string cuda_header(const CudaPlan& plan) {
  Lines out;
  open_header(plan, "the kernels that napkin printed",
              "All arrays are in device memory, row major, aligned as cudaMalloc aligns.", out);
  out.line("/* Bytes of workspace, in device memory, that a launch with these sizes needs; 0 where it needs none. */");
  out.line(workspace_head(plan) + ";\n");
  out.line(
      "/* Starts the kernels on a stream (a cudaStream_t, or null) and returns a cudaError_t; cudaErrorInvalidValue");
  out.line(
      " * where the kernels do not hold for the sizes. The environment variable NAPKIN_DEMAND_PATH may demand a path, "
      "see");
  out.line(
      " * below, or `planned`; cudaErrorNotSupported is returned where a kernel cannot run so, and nothing more "
      "started.");
  describe_parameters(plan, out);
  out.line(" */");
  out.line(launch_head(plan) + ";\n");
  out.verbatim(path_declarations(plan));
  close_header(out);
  return out.text();
}

EmittedText cuda_source(const CudaPlan& plan) {
  EmittedText kernels;
  const auto add = [&](const PrintedKernel& kernel) { append(kernels, kernel.text + "\n", kernel.origins); };
  for (const auto& kernel : plan.kernels) {
    if (kernel.warpgroups) add(kernel.warpgroups->printed);
    add(kernel.printed);
  }
  Lines rest;
  rest.verbatim(path_definitions(plan));
  rest.verbatim(start_text);
  if (any_warpgroups(plan)) rest.verbatim(map_text);
  if (any_clusters(plan)) rest.verbatim(cluster_text);
  define_size_functions(plan, rest);
  launcher(plan, rest);
  return code_source(plan, kernels, rest.text(), [&](const std::string& code) {
    const auto notes = listed(plan.notes, "", [](const std::string& note) { return "// " + note + ".\n"; });
    return fmt::format("{}#include \"{}.h\"\n\n{}{}", notes, plan.names.diagram, cuda_headers(code),
                       any_warpgroups(plan) ? "#include <cuda.h>\n" : "") +
           "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include "
           "<cstring>\n\n" +
           code_definitions(Language::cuda, code) + warp_definitions(kernels.text);
  });
}

}  // namespace napkin
