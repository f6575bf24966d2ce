// The C interface of a plan's kernels: a header that documents it, and the launcher that checks sizes, lays out the
// workspace and starts the kernels one after another.
#include "emit/cuda_launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "emit/code_types.hpp"
#include "emit/cuda_warps.hpp"

namespace napkin {
namespace {

std::string launch_head(const CudaPlan& plan) {
  return fmt::format("int {}_launch({}{}, void* workspace, void* stream)", plan.names.diagram, size_parameters(plan),
                     array_parameters(plan));
}

constexpr std::string_view start_text =
    R"(// Starts a kernel on so many blocks, as a grid of one or two dimensions, with dynamic shared memory.
template <class... Parameters>
static int start(void (*kernel)(Parameters...), long long blocks, int threads, int shared, void* stream,
                 Parameters... arguments) {
  if (shared > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error != cudaSuccess) return error;
  }
  const long long width = blocks < 2147483647 ? blocks : 2147483647, height = (blocks + width - 1) / width;
  if (height > 65535) return cudaErrorInvalidConfiguration;
  void* pointers[] = {(void*)&arguments...};
  return cudaLaunchKernel(kernel, dim3((unsigned)width, (unsigned)height), dim3((unsigned)threads), pointers,
                          (size_t)shared, (cudaStream_t)stream);
}

)";

constexpr std::string_view map_text =
    R"(// Whether the kernel was compiled for the device, where it may have so many threads.
template <class... Parameters>
static bool runs(void (*kernel)(Parameters...), int threads) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.maxThreadsPerBlock >= threads;
}

// Of blocks that stay for several pieces: as many as run at once, but no more than there are pieces.
template <class... Parameters>
static long long at_once(void (*kernel)(Parameters...), long long pieces, int threads, int shared) {
  int device = 0, cores = 0, blocks = 0;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared) != cudaSuccess)
    return pieces;
  const long long fit = (long long)cores * blocks;
  return fit < 1 || pieces < fit ? pieces : fit;
}

// How copies of tiles see an array: its sizes, and the box that is copied at once, slowest dimension first. False where
// they cannot: rows that do not begin at multiples of 16 bytes.
template <class T, int rank>
static bool map_tiles(CUtensorMap* map, const T* array, const long long (&sizes)[rank], const int (&box)[rank],
                      int swizzle) {
  static void* const encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if defined(CUDART_VERSION) && CUDART_VERSION < 12050
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#endif
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : nullptr;
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
  return aligned && encode &&
         reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
             map, type, rank, const_cast<T*>(array), dimensions, steps, boxes, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzles, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

)";

constexpr std::string_view cluster_text =
    R"(// Starts clusters of so many blocks each, which stay for several pieces: as many as run at once.
template <class... Parameters>
static int start_clusters(void (*kernel)(Parameters...), int cluster, long long clusters, int threads, int shared,
                          void* stream, Parameters... arguments) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = (unsigned)cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)cluster);
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = (size_t)shared;
  config.stream = (cudaStream_t)stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int fit = 0;
  error = cudaOccupancyMaxActiveClusters(&fit, kernel, &config);
  if (error != cudaSuccess) return error;
  if (fit < 1) return cudaErrorInvalidConfiguration;
  config.gridDim = dim3((unsigned)((clusters < fit ? clusters : fit) * cluster));
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

)";

// The number of blocks: pieces of the groups that are blocks, multiplied. Along a wire there may be clusters of them.
std::string blocks(const CudaPlan& plan, const ThreadedKernel& kernel, const Walk& walk) {
  std::string text = "1LL";
  std::map<WireId, std::int64_t> around;
  for (const auto& group : kernel.nest.groups) {
    if (group.level > kernel.block_level) continue;
    const auto [outer, first] = around.try_emplace(group.wire, group.size);
    const auto size = group.size * (walk.along == group.wire ? walk.cluster : 1);
    text += first ? fmt::format(" * pieces({}, {})", code_size(plan.diagram, plan.names, group.wire), size)
                  : fmt::format(" * {}", (outer->second + group.size - 1) / group.size);
    outer->second = std::min(outer->second, group.size);
  }
  return text.starts_with("1LL * ") ? "(long long)" + text.substr(6) : text;
}

std::string started(const CudaPlan& plan, const ThreadedKernel& kernel, const std::vector<ArrayId>& inputs,
                    const std::string& name, const Walk& walk = {}) {
  std::string arguments;
  for (const auto id : inputs) arguments += ", " + argument(plan, id, true);
  for (const auto id : kernel.nest.outputs) arguments += ", " + argument(plan, id, false);
  auto number = blocks(plan, kernel, walk);
  if (walk.cluster > 1)
    return fmt::format("error = start_clusters({}, {}, {}, {}, {}, stream, n{}", name, walk.cluster, number,
                       kernel.threads, kernel.shared_bytes, arguments);
  if (walk.stays) number = fmt::format("at_once({}, {}, {}, {})", name, number, kernel.threads, kernel.shared_bytes);
  return fmt::format("error = start({}, {}, {}, {}, stream, n{}", name, number, kernel.threads, kernel.shared_bytes,
                     arguments);
}

// "map_tiles(&maps[0], A, {n.a, n.b}, {64, 64}, 128)".
std::string mapped(const CudaPlan& plan, const TileMap& map, std::size_t number, bool is_input = true) {
  std::vector<std::string> sizes;
  for (const auto wire : plan.diagram.at(map.array).wires) sizes.push_back(code_size(plan.diagram, plan.names, wire));
  return fmt::format("map_tiles(&maps[{}], {}, {{{}}}, {{{}}}, {})", number, argument(plan, map.array, is_input),
                     fmt::join(sizes, ", "), fmt::join(map.box, ", "), map.swizzle);
}

// The kernel of teams where it can run, else the other.
void launch_teams(const CudaPlan& plan, const TeamKernel& teams, Lines& out) {
  std::string conditions = fmt::format("runs({}, {})", teams.kernel.name, teams.threaded.threads), maps;
  for (std::size_t i = 0; i < teams.maps.size(); ++i) {
    conditions += " &&\n      " + mapped(plan, teams.maps[i], i);
    maps += fmt::format(", maps[{}]", i);
  }
  out.line(fmt::format("CUtensorMap maps[{}] = {{}};", teams.maps.size() + teams.stores.size()));
  out.open(fmt::format("if ({})", conditions));
  for (std::size_t i = 0; i < teams.stores.size(); ++i) {
    const auto number = teams.maps.size() + i;
    out.declare(fmt::format("mapped{}", i), mapped(plan, teams.stores[i], number, false));
    maps += fmt::format(", maps[{}], mapped{}", number, i);
  }
  out.line(started(plan, teams.threaded, teams.inputs, teams.kernel.name, teams.walk) + maps + ");");
  out.close("} else {");
  out.deepen();
}

void launch(const CudaPlan& plan, std::size_t index, Lines& out) {
  const auto& kernel = plan.threaded[index];
  const auto& teams = plan.teams[index];
  const auto other = started(plan, kernel, kernel.nest.inputs, plan.kernels[index].name) + ");";
  if (teams) {
    if (index == 0) out.line("int error = cudaSuccess;");
    out.open("");
    launch_teams(plan, *teams, out);
    out.line(other);
    out.close();
    out.close();
  } else {
    out.line((index == 0 ? "int " : "") + other);
  }
  if (index + 1 < plan.kernels.size()) out.line("if (error != cudaSuccess) return error;");
}

bool any_clusters(const CudaPlan& plan) {
  return std::any_of(plan.teams.begin(), plan.teams.end(),
                     [](const auto& each) { return each && each->walk.cluster > 1; });
}

void launcher(const CudaPlan& plan, Lines& out) {
  out.open(fmt::format("extern \"C\" {}", launch_head(plan)));
  out.line(fmt::format("const {}_sizes n = {{{}}};", plan.names.diagram, joined(plan.names.axes, ", ")));
  out.line("if (!possible(n)) return cudaErrorInvalidValue;");
  divide_workspace(plan, out);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) launch(plan, i, out);
  out.line("return error;");
  out.close();
}

}  // namespace

bool any_teams(const CudaPlan& plan) {
  return std::any_of(plan.teams.begin(), plan.teams.end(), [](const auto& each) { return each.has_value(); });
}

std::string cuda_header(const CudaPlan& plan) {
  Lines out;
  const auto& diagram = plan.diagram;
  std::string guard = plan.names.diagram + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
  out.line(fmt::format("/* {}: the kernels that napkin printed for this plan:", diagram.name));
  out.line(fmt::format(" *   {}", plan.labels));
  out.line(" *");
  out.line(" * All arrays are in device memory, row major, aligned as cudaMalloc aligns. */");
  out.line(fmt::format("#ifndef {}\n#define {}\n", guard, guard));
  out.line("#include <stddef.h>\n");
  out.line("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  out.line("/* Bytes of workspace, in device memory, that a launch with these sizes needs; 0 where it needs none. */");
  out.line(workspace_head(plan) + ";\n");
  out.line(
      "/* Starts the kernels on a stream (a cudaStream_t, or null) and returns a cudaError_t; cudaErrorInvalidValue");
  out.line(" * where the kernels do not hold for the sizes.");
  describe_parameters(plan, out);
  out.line(" */");
  out.line(launch_head(plan) + ";\n");
  out.line("#ifdef __cplusplus\n}\n#endif\n");
  out.line("#endif");
  return out.text();
}

std::string cuda_source(const CudaPlan& plan) {
  Lines body;
  define_sizes(plan, body);
  std::string kernels;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    if (plan.teams[i]) kernels += plan.teams[i]->kernel.text + "\n";
    kernels += plan.kernels[i].text + "\n";
  }
  Lines rest;
  rest.verbatim(start_text);
  if (any_teams(plan)) rest.verbatim(map_text);
  if (any_clusters(plan)) rest.verbatim(cluster_text);
  define_possible(plan, rest);
  define_workspace_size(plan, rest);
  launcher(plan, rest);
  const auto code = body.text() + kernels + rest.text();
  std::string notes;
  for (const auto& note : plan.notes) notes += "// " + note + ".\n";
  return fmt::format(
             "// {}: {}\n//\n// Printed by napkin from its loop nest; see {}.h for the interface.\n{}#include "
             "\"{}.h\"\n\n",
             plan.diagram.name, plan.labels, plan.names.diagram, notes, plan.names.diagram) +
         cuda_headers(code) + (any_teams(plan) ? "#include <cuda.h>\n" : "") +
         "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstring>\n\n" +
         code_definitions(Language::cuda, code) + warp_definitions(kernels) + code;
}

}  // namespace napkin
