// Prints a program around a plan's C++ kernels: random inputs, the plain evaluation, a comparison, and the times of
// both.
#include <fmt/format.h>

#include "emit/cpp/files.hpp"
#include "emit/shared/check.hpp"

namespace napkin {
namespace {

constexpr std::string_view cpp_opening =
    R"(// Checks the kernels of @NAME@ against its plain evaluation, and times both with --time.
// Printed by napkin.
//
//   @NAME@_harness [axis=size ...] [--time]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "@NAME@.h"
#include "napkin_numbers.hpp"

@DEFINITIONS@using Array = std::vector<double>;

static struct {
  int @AXES@;
} n;

)";

constexpr std::string_view cpp_both_text = R"(
// An array as it is stored and, in double, for the plain evaluation.
template <class T>
struct Both {
  Array host;
  napkin_space<T> stored;
  explicit Both(size_t count, size_t share = 1) : host(count), stored((count + share - 1) / share) {}
  template <class Draw>
  void fill(Draw draw) {
    for (size_t i = 0; i < host.size(); ++i) draw(host[i], stored[(int)i]);
  }
  // Of codes of 4 bits, the first in the low half.
  template <class Draw>
  void fill_pairs(Draw draw) {
    for (size_t i = 0; i < host.size(); ++i) {
      unsigned code = 0;
      draw(host[i], code);
      auto& two = stored[(int)(i / 2)].two;
      two = (unsigned char)(i % 2 == 0 ? code : code << 4 | two);
    }
  }
  // Bytes that are no number in any format, so that what is not written is found.
  void poison() { std::memset((void*)&stored[0], 0xff, host.size() * sizeof(T)); }
  template <class Read>
  Array fetch(Read read) const {
    Array all(host.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = read(stored[(int)i]);
    return all;
  }
};

)";

constexpr std::string_view timing_text = R"(
// The median of several runs, in seconds; of few where one takes long.
template <class Run>
static double median_time(Run run) {
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 3 || (seconds.size() < 25 && total < 2)) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    seconds.push_back(passed.count());
    total += passed.count();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

static void report(double plain, double kernels) {
  const double operations = @OPERATIONS@;
  std::printf("plain loops %.3f ms, kernels %.3f ms: %.1f times as fast, %.2f GFLOP/s\n", plain * 1e3, kernels * 1e3,
              plain / kernels, operations / kernels * 1e-9);
@PREDICTED@}

)";

constexpr std::string_view cpp_main_text = R"(  if (times && !given) n = {@PLANNED@};
@DIVIDE@  return run(times) ? 0 : 1;
}
)";

void run_function(const CppPlan& plan, Lines& out) {
  const auto sizes = given_names(plan, "n.");
  const auto arrays = given_arrays(plan);
  const auto name = [&](ArrayId id) { return plan.names.arrays[id.index]; };
  out.line("// Runs the kernels on random inputs, compares them with the reference, and times both.");
  out.open("static bool run(bool times)");
  declare_arrays(plan, out);
  out.line("Both<unsigned char> workspace({}_workspace_size({}) + 16);", plan.names.diagram, joined(sizes, ", "));
  out.line("workspace.poison();");
  out.line("int failed = 0;");
  out.line("const auto kernels = [&] {{ failed = {}_run({}, {}, &workspace.stored[0]); }};", plan.names.diagram,
           joined(sizes, ", "), listed(arrays, ", ", [&](ArrayId id) { return "&" + name(id) + ".stored[0]"; }));
  out.line("const auto plain = [&] {{ reference({}); }};",
           listed(arrays, ", ", [&](ArrayId id) { return name(id) + ".host"; }));
  out.line("kernels();");
  out.line("if (failed) return std::printf(\"the kernels do not hold for these sizes\\n\"), false;");
  out.line("plain();");
  out.line("bool good = true;");
  for (const auto id : plan.diagram.outputs) compare_output(plan, id, out);
  out.line("if (times) report(median_time(plain), median_time(kernels));");
  out.line("return good;");
  out.close();
}

std::string predicted(const CppPlan& plan) {
  if (!plan.predicted_time_s) return "";
  std::string planned, words;
  for (std::size_t a = 0; a < plan.names.axes.size(); ++a) {
    const auto size = plan.diagram.axes[a].size.value_or(1);
    planned += fmt::format("{}n.{} == {}", a == 0 ? "" : " && ", plan.names.axes[a], size);
    words += fmt::format("{}{} {}", a == 0 ? "" : ", ", plan.diagram.axes[a].name, size);
  }
  return fmt::format("  if ({})\n    std::printf(\"predicted on {}: {:.3f} ms\\n\");\n", planned, plan.target,
                     *plan.predicted_time_s * 1e3);
}

}  // namespace

std::string cpp_harness(const CppPlan& plan) {
  Lines body;
  body.verbatim(code_reference(plan));
  body.verbatim(random_text);
  body.verbatim(cpp_both_text);
  body.verbatim(error_text);
  body.verbatim(
      replaced(std::string(timing_text), {{"@OPERATIONS@", plain_operations(plan)}, {"@PREDICTED@", predicted(plan)}}));
  run_function(plan, body);
  define_divide_axes(plan, body);
  return code_harness(plan, cpp_opening, body.text(), cpp_main_text,
                      {{"@USAGE@", "[axis=size ...] [--time]"}, {"@FURTHER@", ""}, {"@READ_FURTHER@", ""}});
}

std::string cpp_build_file(const CppPlan& plan) {
  return replaced(
      R"(# Printed by napkin. Builds the kernels of @NAME@ as a library, and the program that checks and times them:
#   cmake -B build && cmake --build build && build/@NAME@_harness --time
cmake_minimum_required(VERSION 3.20)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
project(@NAME@ LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)

add_library(@NAME@ @NAME@.cpp)
target_include_directories(@NAME@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(@NAME@ PRIVATE -O3 -march=native -fopenmp-simd)
find_package(OpenMP)
if(OpenMP_CXX_FOUND)
  target_link_libraries(@NAME@ PRIVATE OpenMP::OpenMP_CXX)
endif()
add_executable(@NAME@_harness @NAME@_harness.cpp)
target_link_libraries(@NAME@_harness PRIVATE @NAME@)
)",
      {{"@NAME@", plan.names.diagram}});
}

}  // namespace napkin
