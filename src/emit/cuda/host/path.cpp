// Prints the choice of a path for every kernel of a plan: warpgroups if they can run, else the kernel printed as their
// fallback. The launcher reports which path it took and why, takes a demanded path, and prepares a launch once for each
// device, sizes and arrays.
#include <fmt/format.h>

#include "emit/cuda/host/launch.hpp"

namespace napkin {
namespace {

constexpr std::string_view declarations_text =
    R"(/* How kernels run: one word for each, in their order, between commas. `warpgroups` are warpgroups with wgmma and
 * TMA, `warps` single warps with mma.sync, `rows` rows over warps, and `threads` plain threads. The path of the plan, and
 * that of the last launch of the calling thread, "" before any. */
const char* @NAME@_planned_path(void);
const char* @NAME@_last_path(void);

/* Why the last launch of the calling thread did not take the path of the plan, in one sentence; "" where it did. And
 * whether that was to be expected: rows of an array are not aligned, or the device is none that has the instructions. */
const char* @NAME@_fallback_reason(void);
int @NAME@_fallback_expected(void);

)";

constexpr std::string_view ways_text =
    R"(// By kernel: how it is planned to run, and what runs in its place.
enum { planned, other, either };
constexpr int kernel_count = @COUNT@;
static const char* const ways[kernel_count][2] = {@WAYS@};

// How the last launch of this thread ran.
static thread_local struct {
  char path[@LENGTH@], reason[256];
  bool expected;
} last;

extern "C" const char* @NAME@_planned_path(void) { return "@PLANNED@"; }
extern "C" const char* @NAME@_last_path(void) { return last.path; }
extern "C" const char* @NAME@_fallback_reason(void) { return last.reason; }
extern "C" int @NAME@_fallback_expected(void) { return last.expected; }

// The path that every kernel has to take, as NAPKIN_DEMAND_PATH says. False where it names no path of these kernels.
static bool read_demand(int (&demanded)[kernel_count]) {
  const char* at = std::getenv("NAPKIN_DEMAND_PATH");
  for (int& each : demanded) each = either;
  if (!at || !*at) return true;
  if (std::strcmp(at, "planned") == 0) at = @NAME@_planned_path();
  for (int i = 0; i < kernel_count; ++i) {
    if (i > 0 && *at != ',') return false;
    at += i > 0;
    const size_t length = std::strcspn(at, ",");
    for (int way = other; way >= planned; --way)
      if (std::strlen(ways[i][way]) == length && std::strncmp(ways[i][way], at, length) == 0) demanded[i] = way;
    if (demanded[i] == either) return false;
    at += length;
  }
  return *at == 0;
}

)";

constexpr std::string_view prepared_text =
    R"(// What the host makes for a launch. It lasts while device, sizes, arrays and what is demanded stay what they are.
struct Prepared {
  bool lasts = false;
  int device = 0, demanded[kernel_count] = {};
  @NAME@_sizes n = {};
  const void* arrays[@ARRAYS@] = {};
  bool ready[kernel_count] = {};
  int way[kernel_count] = {};
  long long blocks[kernel_count] = {};  // of kernels whose blocks stay
@MAPS@  char reason[sizeof last.reason] = "";
  bool expected = false;
};

// The place of such a launch among the last few of this thread; null where there is no device.
static Prepared* prepared_for(const @NAME@_sizes& n, const void* const (&arrays)[@ARRAYS@],
                              const int (&demanded)[kernel_count], int* error) {
  static thread_local Prepared kept[8];
  static thread_local int oldest = 0;
  int device = 0;
  if ((*error = cudaGetDevice(&device)) != cudaSuccess) return nullptr;
  for (Prepared& each : kept)
    if (each.lasts && each.device == device && @SAME_SIZES@std::memcmp(each.arrays, arrays, sizeof arrays) == 0 &&
        std::memcmp(each.demanded, demanded, sizeof demanded) == 0)
      return &each;
  Prepared& made = kept[oldest];
  oldest = (oldest + 1) % 8;
  made = Prepared();
  made.lasts = true, made.device = device, made.n = n;
  std::memcpy(made.arrays, arrays, sizeof arrays);
  std::memcpy(made.demanded, demanded, sizeof demanded);
  return &made;
}

// Says which path a kernel takes.
static void take(const Prepared& made, int kernel) {
  if (kernel > 0) std::strcat(last.path, ",");
  std::strcat(last.path, ways[kernel][made.way[kernel]]);
  if (made.way[kernel] == planned || last.reason[0]) return;
  std::strcpy(last.reason, made.reason);
  last.expected = made.expected;
}

// The end of a launch that failed: nothing of it is kept, and no error is left behind for others to find.
static int give_up(int error, Prepared* made) {
  cudaGetLastError();
  if (made && !last.reason[0]) std::strcpy(last.reason, made->reason), last.expected = made->expected;
  if (made) made->lasts = false;
  return error;
}

// Allows a kernel more shared memory than the default.
template <class... Parameters>
static int make_room(void (*kernel)(Parameters...), int shared) {
  return shared > 48 * 1024 ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)
                            : cudaSuccess;
}

)";

// The functions that record why a warpgroup kernel does not run.
constexpr std::string_view reasons_text =
    R"(// What a kernel of warpgroups lacks: the first such thing is the reason, or the first that was not to be expected.
// Always false.
static bool lacks(Prepared& made, bool expected, const char* before, const char* name = "", const char* after = "") {
  if (!made.reason[0] || (made.expected && !expected)) {
    std::snprintf(made.reason, sizeof made.reason, "warpgroups: %s%s%s", before, name, after);
    made.expected = expected;
  }
  return false;
}

// Whether the kernel was compiled for the device, where it may have so many threads.
template <class... Parameters>
static bool runs(Prepared& made, void (*kernel)(Parameters...), int threads) {
  cudaFuncAttributes attributes = {};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess && attributes.maxThreadsPerBlock >= threads) return true;
  cudaGetLastError();
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, made.device) == cudaSuccess && major != 9)
    return lacks(made, true, "the device cannot run sm_90a code");
  return error == cudaSuccess
             ? lacks(made, false, "the build has no sm_90a code, or the device allows fewer threads than it needs")
             : lacks(made, false, "its attributes cannot be read, ", cudaGetErrorString(error));
}

)";

std::string quoted_ways(const CudaPlan& plan) {
  return listed(plan.kernels, ", ", [](const PlannedKernel& kernel) {
    return fmt::format("{{\"{}\", \"{}\"}}", kernel.planned_way(), kernel.way);
  });
}

// "warpgroups,rows".
std::string planned_path(const CudaPlan& plan) {
  return listed(plan.kernels, ",", [](const PlannedKernel& kernel) { return kernel.planned_way(); });
}

// An upper bound on the length of a path's text.
std::size_t path_length(const CudaPlan& plan) { return plan.kernels.size() * sizeof "warpgroups"; }

std::string maps(const CudaPlan& plan) {
  MapCount all;
  for (const auto& kernel : plan.kernels) all.add(kernel);
  const auto [maps, stores] = all;
  std::string text;
  if (maps > 0) text += fmt::format("  CUtensorMap maps[{}] = {{}};\n", maps);
  if (stores > 0) text += fmt::format("  int mapped[{}] = {{}};  // whether outputs leave by TMA\n", stores);
  return text;
}

}  // namespace

std::string path_declarations(const CudaPlan& plan) {
  return replaced(std::string(declarations_text), {{"@NAME@", plan.names.diagram}});
}

std::string path_definitions(const CudaPlan& plan) {
  const auto arrays = plan.diagram.inputs.size() + plan.diagram.outputs.size() + 1;
  const auto text = std::string(ways_text) + std::string(prepared_text);
  return replaced(
      any_warpgroups(plan) ? text + std::string(reasons_text) : text,
      {{"@NAME@", plan.names.diagram},
       {"@COUNT@", fmt::format("{}", plan.kernels.size())},
       {"@WAYS@", quoted_ways(plan)},
       {"@LENGTH@", fmt::format("{}", path_length(plan))},
       {"@PLANNED@", planned_path(plan)},
       {"@ARRAYS@", fmt::format("{}", arrays)},
       {"@SAME_SIZES@", plan.names.axes.empty() ? "" : "std::memcmp(&each.n, &n, sizeof n) == 0 &&\n        "},
       {"@MAPS@", maps(plan)}});
}

}  // namespace napkin
