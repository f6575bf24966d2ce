// A program around a plan's kernels: random inputs, the plain meaning on the host, a comparison, and timing.
#include "emit/cuda_harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diagram/match.hpp"
#include "emit/cuda_text.hpp"
#include "emit/cuda_types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

constexpr double most_checked = 1e9;  // operations of the plain evaluation, unless sizes are given

// Operations of the plain statements: what an expression and its reductions do, at every position.
struct Work {
  const Diagram& diagram;
  std::vector<std::pair<std::set<WireId>, double>> terms{};  // operations at each position of the wires

  void add(std::vector<WireId> wires, double operations) {
    if (operations > 0) terms.emplace_back(std::set<WireId>(wires.begin(), wires.end()), operations);
  }
  // Of one position of `id`; reductions below it become terms of their own.
  double visit(ExprId id) {
    return match(
        diagram.at(id).node, [](const Constant&) { return 0.0; }, [](const Position&) { return 0.0; },
        [](const Size&) { return 0.0; }, [](const Access&) { return 0.0; },
        [&](const Apply& apply) {
          double all = apply.function->operations;
          for (const auto argument : apply.arguments) all += visit(argument);
          return all;
        },
        [&](const Cast& cast) { return visit(cast.value); },
        [&](const Reduce& reduce) {
          auto wires = free_wires(diagram, id);
          wires.insert(wires.end(), reduce.over.begin(), reduce.over.end());
          if (seen.insert(id).second) add(wires, visit(reduce.body) + 1);
          return 0.0;
        });
  }
  std::set<ExprId> seen{};
};
Work work_of(const Diagram& diagram) {
  Work work{diagram};
  for (const auto& statement : diagram.statements)
    work.add(diagram.at(statement.output).wires, work.visit(statement.value));
  return work;
}

// Sizes small enough for the plain evaluation: the longest axes are halved, but for those that meet in one index.
std::vector<std::int64_t> checked_sizes(const Diagram& diagram) {
  std::vector<std::int64_t> sizes;
  for (const auto& axis : diagram.axes) sizes.push_back(axis.size.value_or(1));
  std::set<std::uint32_t> tied;
  for (const auto& expr : diagram.exprs)
    if (const auto* read = std::get_if<Access>(&expr.node))
      for (std::size_t i = 0; i < read->at.size(); ++i) {
        const auto wire = diagram.at(read->array).wires[i];
        if (is_along(read->at[i], wire)) continue;
        tied.insert(diagram.at(wire).axis.index);
        for (const auto& term : read->at[i].terms) tied.insert(diagram.at(term.first).axis.index);
      }
  const auto work = work_of(diagram);
  const auto operations = [&] {
    double all = 0;
    for (const auto& [wires, each] : work.terms) {
      double product = each;
      for (const auto wire : wires) product *= static_cast<double>(sizes[diagram.at(wire).axis.index]);
      all += product;
    }
    return all;
  };
  while (operations() > most_checked) {
    std::uint32_t longest = 0;
    std::int64_t length = 1;
    for (std::uint32_t a = 0; a < sizes.size(); ++a)
      if (!tied.contains(a) && sizes[a] > length) longest = a, length = sizes[a];
    if (length == 1) break;
    sizes[longest] = (length + 1) / 2;
  }
  return sizes;
}

// The share of an output's norm that rounding may explain, by the coarsest format on the way.
double tolerance(const Diagram& diagram) {
  double all = 2e-5;
  for (const auto& array : diagram.arrays) switch (array.type) {
      case Datatype::f16:
      case Datatype::tf32:
        all = std::max(all, 4e-3);
        break;
      case Datatype::bf16:
        all = std::max(all, 3e-2);
        break;
      case Datatype::f8e4m3:
        all = std::max(all, 0.2);
        break;
      case Datatype::f8e5m2:
        all = std::max(all, 0.4);
        break;
      case Datatype::i8:
        all = std::max(all, 1e-2);
        break;
      case Datatype::f64:
      case Datatype::f32:
      case Datatype::i32:
      case Datatype::boolean:
        break;
    }
  return all;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

constexpr std::string_view opening =
    R"(// Checks the kernels of @NAME@ against its plain evaluation, and times them with --time.
// Printed by napkin.
//
//   @NAME@_harness [axis=size ...] [--time]
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

@DEFINITIONS@using Array = std::vector<double>;

static struct {
  int @AXES@;
} n;

static void check(int error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString((cudaError_t)error));
  std::exit(2);
}

)";

constexpr std::string_view values_text = R"(
// The same numbers for everybody: splitmix64.
static double random_unit() {
  static unsigned long long state = 1;
  unsigned long long z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

// An array on the device and, in double, on the host.
template <class T>
struct Both {
  Array host;
  T* device = nullptr;
  explicit Both(size_t count) : host(count) { check(cudaMalloc((void**)&device, count * sizeof(T)), "cudaMalloc"); }
  Both(const Both&) = delete;
  ~Both() { cudaFree(device); }
  template <class Draw>
  void fill(Draw draw) {
    const std::unique_ptr<T[]> stored(new T[host.size()]);
    for (size_t i = 0; i < host.size(); ++i) draw(host[i], stored[i]);
    check(cudaMemcpy(device, stored.get(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  // Bytes that are no number in any format, so that what is not written is found.
  void poison() { check(cudaMemset(device, 0xff, host.size() * sizeof(T)), "cudaMemset"); }
  template <class Read>
  Array fetch(Read read) const {
    const std::unique_ptr<T[]> stored(new T[host.size()]);
    check(cudaMemcpy(stored.get(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    Array all(host.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = read(stored[i]);
    return all;
  }
};

// Relative error by norm. No number where none is expected counts as right, elsewhere as wrong.
static double relative_error(const Array& got, const Array& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    if (!std::isfinite(difference)) return INFINITY;
  }
  for (const double value : expected)
    if (std::isfinite(value)) norm += value * value;
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

)";

constexpr std::string_view main_text = R"(
static bool option(const char* text) {
@OPTIONS@  return false;
}

int main(int count, char** words) {
  bool times = false, given = false;
  n = {@CHECKED@};
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--time") == 0)
      times = true;
    else if (option(words[i]))
      given = true;
    else
      return std::fprintf(stderr, "usage: %s [axis=size ...] [--time], axes: @AXES@\n", words[0]), 2;
  const bool good = run(true, false);
  if (times) {
    if (!given) n = {@PLANNED@};
    run(false, true);
  }
  return good ? 0 : 1;
}
)";

// How a value drawn in double gets its host and its stored form.
std::string draw(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  const auto& type = cuda_type(array.type);
  std::string drawn = "2 * random_unit() - 1";
  if (array.type == Datatype::boolean) drawn = fmt::format("random_unit() < {}", array.density.value_or(0.5));
  if (array.type == Datatype::i8 || array.type == Datatype::i32) drawn = "std::floor(9 * random_unit()) - 4";
  const auto own = array.type == Datatype::boolean ? "bool" : type.own;
  return fmt::format("const {} drawn = {}({}); stored = {}; host = {};", own, own, drawn, filled(type.write, "drawn"),
                     filled(type.read, "stored"));
}

void run_function(const CudaPlan& plan, Lines& out) {
  const auto& diagram = plan.diagram;
  const auto name = [&](ArrayId id) { return plan.names.arrays[id.index]; };
  const auto count = [&](ArrayId id) {
    std::string text = "(size_t)1";
    for (const auto wire : diagram.at(id).wires) text += " * " + cuda_size(diagram, plan.names, wire);
    return text;
  };
  const auto storage = [&](ArrayId id) { return row(diagram.at(id).type).cuda; };
  std::vector<std::string> sizes, pointers, hosts;
  for (const auto& axis : plan.names.axes) sizes.push_back("n." + axis);
  out.line("// Runs the kernels on random inputs; compares them with the reference, or times them.");
  out.open("static bool run(bool compares, bool times)");
  for (const auto id : diagram.inputs) {
    out.line(fmt::format("Both<{}> {}({});", storage(id), name(id), count(id)));
    out.line(fmt::format("{}.fill([](double& host, {}& stored) {{ {} }});", name(id), storage(id), draw(diagram, id)));
    pointers.push_back(name(id) + ".device");
    hosts.push_back(name(id) + ".host");
  }
  for (const auto id : diagram.outputs) {
    out.line(fmt::format("Both<{}> {}({});", storage(id), name(id), count(id)));
    out.line(fmt::format("{}.poison();", name(id)));
    pointers.push_back(name(id) + ".device");
    hosts.push_back(name(id) + ".host");
  }
  out.line(fmt::format("Both<unsigned char> workspace({}_workspace_size({}) + 16);", plan.names.diagram,
                       joined(sizes, ", ")));
  out.line("workspace.poison();");
  out.open("const auto launch = [&]");
  out.line(fmt::format("check({}_launch({}, {}, workspace.device, nullptr), \"launch\");", plan.names.diagram,
                       joined(sizes, ", "), joined(pointers, ", ")));
  out.close("};");
  out.line("launch();");
  out.line("check(cudaDeviceSynchronize(), \"kernel\");");
  out.line("bool good = true;");
  out.open("if (compares)");
  out.line(fmt::format("reference({});", joined(hosts, ", ")));
  for (const auto id : diagram.outputs) {
    const auto read = filled(cuda_type(diagram.at(id).type).read, "stored");
    out.open("");
    out.line(fmt::format("const auto got = {}.fetch([](const {}& stored) {{ return double({}); }});", name(id),
                         storage(id), read));
    out.line(fmt::format("const double error = relative_error(got, {}.host);", name(id)));
    out.line(fmt::format("std::printf(\"{}: relative error %.2e, %s\\n\", error, error <= {} ? \"good\" : \"WRONG\");",
                         name(id), tolerance(diagram)));
    out.line(fmt::format("good = good && error <= {};", tolerance(diagram)));
    out.close();
  }
  out.close();
  out.line("if (times) time_launches(launch);");
  out.line("return good;");
  out.close();
}

// Bytes of every input read and every output written once, and operations of the plain statements.
void timing(const CudaPlan& plan, Lines& out) {
  const auto& diagram = plan.diagram;
  std::vector<std::string> bytes, operations;
  const auto sizes = [&](const auto& wires) {
    std::string text;
    for (const auto wire : wires) text += " * " + cuda_size(diagram, plan.names, wire);
    return text;
  };
  for (const auto* list : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *list)
      bytes.push_back(fmt::format("{}.0{}", row(diagram.at(id).type).bytes, sizes(diagram.at(id).wires)));
  for (const auto& [wires, each] : work_of(diagram).terms)
    operations.push_back(fmt::format("{:.1f}{}", each, sizes(wires)));
  if (operations.empty()) operations.push_back("0.0");
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
                        {{"@BYTES@", joined(bytes, " + ")}, {"@OPERATIONS@", joined(operations, " + ")}}));
}

}  // namespace

std::string cuda_harness(const CudaPlan& plan) {
  Lines body;
  body.verbatim(cuda_reference(plan));
  body.verbatim(values_text);
  timing(plan, body);
  run_function(plan, body);
  std::string options;
  std::vector<std::string> planned, checked;
  for (std::size_t a = 0; a < plan.names.axes.size(); ++a) {
    const auto& axis = plan.names.axes[a];
    options +=
        fmt::format("  if (std::sscanf(text, \"{}=%d\", &n.{}) == 1) return true;\n", plan.diagram.axes[a].name, axis);
    planned.push_back(fmt::format("{}", plan.diagram.axes[a].size.value_or(1)));
  }
  for (const auto size : checked_sizes(plan.diagram)) checked.push_back(fmt::format("{}", size));
  const std::vector<std::pair<std::string, std::string>> words = {{"@NAME@", plan.names.diagram},
                                                                  {"@AXES@", joined(plan.names.axes, ", ")},
                                                                  {"@OPTIONS@", options},
                                                                  {"@CHECKED@", joined(checked, ", ")},
                                                                  {"@PLANNED@", joined(planned, ", ")},
                                                                  {"@HEADERS@", cuda_headers(body.text())},
                                                                  {"@DEFINITIONS@", cuda_definitions(body.text())}};
  return replaced(std::string(opening), words) + body.text() + replaced(std::string(main_text), words);
}

std::string cuda_build_file(const CudaPlan& plan) {
  return replaced(
      R"(# Printed by napkin. Builds the kernels of @NAME@ as a library, and the program that checks and times them:
#   cmake -B build -DCMAKE_CUDA_ARCHITECTURES=90 && cmake --build build && build/@NAME@_harness --time
cmake_minimum_required(VERSION 3.24)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
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
      {{"@NAME@", plan.names.diagram}});
}

}  // namespace napkin
