// Prints a program around a plan's kernels: random inputs, the plain evaluation on the host, a comparison, and timing.
#include <fmt/format.h>

#include "emit/cuda/host/launch.hpp"
#include "emit/shared/check.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

constexpr std::string_view cuda_opening =
    R"(// Checks the kernels of @NAME@ against its plain evaluation, and times them with --time.
// Printed by napkin.
//
//   @NAME@_harness [axis=size ...] [--time] [--path PATH]
//
// It fails where the kernels do not run by the path: the planned one, or what NAPKIN_DEMAND_PATH or the option says;
// `any` is every path.
#include <cuda_runtime.h>
@HEADERS@
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "@NAME@.h"

// Bytes behind every array that nobody may write to.
#ifndef NAPKIN_MARGIN
#define NAPKIN_MARGIN 4096
#endif

@DEFINITIONS@using Array = std::vector<double>;

static struct {
  int @AXES@;
} n;
static const char* demanded;  // the path that launches have to take

static void check(int error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString((cudaError_t)error));
  std::exit(2);
}

)";

constexpr std::string_view cuda_both_text = R"(
// An array on the device and, in double, on the host.
template <class T>
struct Both {
  Array host;
  T* device = nullptr;
  size_t count;  // of what is stored: of numbers, so many of which share bytes
  explicit Both(size_t numbers, size_t share = 1) : host(numbers), count((numbers + share - 1) / share) {
    check(cudaMalloc((void**)&device, count * sizeof(T) + NAPKIN_MARGIN), "cudaMalloc");
    poison();
  }
  Both(const Both&) = delete;
  ~Both() { cudaFree(device); }
  template <class Draw>
  void fill(Draw draw) {
    const std::unique_ptr<T[]> stored(new T[host.size()]);
    for (size_t i = 0; i < host.size(); ++i) draw(host[i], stored[i]);
    copy(stored.get());
  }
  // Of codes of 4 bits, the first in the low half.
  template <class Draw>
  void fill_pairs(Draw draw) {
    const std::unique_ptr<T[]> stored(new T[count]);
    for (size_t i = 0; i < host.size(); ++i) {
      unsigned code = 0;
      draw(host[i], code);
      auto& two = stored[i / 2].two;
      two = (unsigned char)(i % 2 == 0 ? code : code << 4 | two);
    }
    copy(stored.get());
  }
  void copy(const T* stored) {
    check(cudaMemcpy(device, stored, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  // Bytes that are no number in any format, so that what is not written is found.
  void poison() { check(cudaMemset(device, 0xff, count * sizeof(T) + NAPKIN_MARGIN), "cudaMemset"); }
  // Whether nothing was written behind the end.
  bool ends(const char* name) const {
    std::vector<unsigned char> behind(NAPKIN_MARGIN + 1, 0xff);
    check(cudaMemcpy(behind.data(), (const unsigned char*)device + count * sizeof(T), NAPKIN_MARGIN,
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    size_t i = 0;
    while (i < behind.size() && behind[i] == 0xff) ++i;
    if (i == behind.size()) return true;
    std::printf("%s: written %zu bytes past its end, WRONG\n", name, i + 1);
    return false;
  }
  template <class Read>
  Array fetch(Read read) const {
    const std::unique_ptr<T[]> stored(new T[host.size()]);
    check(cudaMemcpy(stored.get(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    Array all(host.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = read(stored[i]);
    return all;
  }
};
)";

constexpr std::string_view path_text = R"(
// Which path the last launch took. Ends the program where that is another than it had to be.
static void check_path(int error) {
  const char *const path = @NAME@_last_path(), *const reason = @NAME@_fallback_reason();
  std::printf("path: %s, planned %s\n", path, @NAME@_planned_path());
  std::fflush(stdout);
  const bool any = std::strcmp(demanded, "any") == 0;
  if (error != cudaErrorNotSupported && (any || std::strcmp(demanded, path) == 0)) return;
  std::fprintf(stderr, "the path has to be %s%s%s\n", demanded, *reason ? "; " : "", reason);
  std::exit(3);
}
)";

constexpr std::string_view demand_text = R"(  demanded = std::getenv("NAPKIN_DEMAND_PATH");
  if (!demanded || !*demanded || std::strcmp(demanded, "planned") == 0) demanded = @NAME@_planned_path();
)";
constexpr std::string_view path_option_text = R"(    else if (std::strcmp(words[i], "--path") == 0 && i + 1 < count)
      demanded = std::strcmp(words[++i], "planned") == 0 ? @NAME@_planned_path() : words[i];
)";

constexpr std::string_view cuda_main_text = R"(@DIVIDE@  const bool good = run(true, false);
  if (times) {
    if (!given) n = {@PLANNED@};
    run(false, true);
  }
  return good ? 0 : 1;
}
)";

void run_function(const CudaPlan& plan, Lines& out) {
  const auto& diagram = plan.diagram;
  const auto name = [&](ArrayId id) { return plan.names.arrays[id.index]; };
  const auto sizes = given_names(plan, "n.");
  const auto arrays = given_arrays(plan);
  out.line("// Runs the kernels on random inputs; compares them with the reference, or times them.");
  out.open("static bool run(bool compares, bool times)");
  declare_arrays(plan, out);
  out.line("Both<unsigned char> workspace({}_workspace_size({}) + 16);", plan.names.diagram, joined(sizes, ", "));
  out.line("workspace.poison();");
  out.open("const auto launch = [&]");
  out.line("const int error = {}_launch({}, {}, workspace.device, nullptr);", plan.names.diagram, joined(sizes, ", "),
           listed(arrays, ", ", [&](ArrayId id) { return name(id) + ".device"; }));
  out.line("if (error == cudaErrorNotSupported) check_path(error);");
  out.line("check(error, \"launch\");");
  out.close("};");
  out.line("launch();");
  out.line("check_path(cudaSuccess);");
  out.line("check(cudaDeviceSynchronize(), \"kernel\");");
  std::string whole = "workspace.ends(\"workspace\")";
  for (const auto id : diagram.outputs) whole += fmt::format(" & {0}.ends(\"{0}\")", name(id));
  out.line("bool good = {};", whole);
  out.open("if (compares)");
  out.line("reference({});", listed(arrays, ", ", [&](ArrayId id) { return name(id) + ".host"; }));
  for (const auto id : diagram.outputs) compare_output(plan, id, out);
  out.close();
  out.line("if (times) time_launches(launch);");
  out.line("return good;");
  out.close();
}

void timing(const CudaPlan& plan, Lines& out) {
  out.verbatim(replaced(R"(
// The median of many launches, and what it amounts to if every array crosses once.
template <class Launch>
static void time_launches(Launch launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  for (int i = 0; i < 3; ++i) launch();
  std::vector<float> milliseconds;
  double total = 0;
  while (milliseconds.size() < 5 || (milliseconds.size() < 100 && total < 2000)) {
    float once = 0;
    check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&once, begin, end), "cudaEventElapsedTime");
    milliseconds.push_back(once);
    total += once;
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const double seconds = milliseconds[milliseconds.size() / 2] * 1e-3;
  const double bytes = @BYTES@;
  const double operations = @OPERATIONS@;
  std::printf("%.6f ms (median of %zu), %.1f GB/s, %.3f TFLOP/s\n", seconds * 1e3, milliseconds.size(),
              bytes / seconds * 1e-9, operations / seconds * 1e-12);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

)",
                        {{"@BYTES@", plain_bytes(plan)}, {"@OPERATIONS@", plain_operations(plan)}}));
}

}  // namespace

std::string cuda_harness(const CudaPlan& plan) {
  Lines body;
  body.verbatim(code_reference(plan));
  body.verbatim(random_text);
  body.verbatim(cuda_both_text);
  body.verbatim(error_text);
  body.verbatim(replaced(std::string(path_text), {{"@NAME@", plan.names.diagram}}));
  timing(plan, body);
  run_function(plan, body);
  define_divide_axes(plan, body);
  return code_harness(plan, cuda_opening, body.text(), cuda_main_text,
                      {{"@USAGE@", "[axis=size ...] [--time] [--path PATH]"},
                       {"@FURTHER@", replaced(std::string(demand_text), {{"@NAME@", plan.names.diagram}})},
                       {"@READ_FURTHER@", replaced(std::string(path_option_text), {{"@NAME@", plan.names.diagram}})},
                       {"@HEADERS@", cuda_headers(body.text())}});
}

std::string cuda_build_file(const CudaPlan& plan) {
  return replaced(
      R"(# Printed by napkin. Builds the kernels of @NAME@ as a library, and the program that checks and times them:
#   cmake -B build -DCMAKE_CUDA_ARCHITECTURES=@NEWEST@ && cmake --build build && build/@NAME@_harness --time
cmake_minimum_required(VERSION 3.24)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 @NEWEST@)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
project(@NAME@ LANGUAGES CXX CUDA)

add_library(@NAME@ @NAME@.cu)
target_include_directories(@NAME@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
add_executable(@NAME@_harness @NAME@_harness.cu)
target_link_libraries(@NAME@_harness PRIVATE @NAME@)
)",
      {{"@NAME@", plan.names.diagram}, {"@NEWEST@", any_warpgroups(plan) ? "90a" : "90"}});
}

}  // namespace napkin
