// Kernels printed in C++, compiled and run: every case at all its sizes against the plain meaning, by their own harness
// and by evaluate(); once with sanitizers, once with vectors. All cases are one program, each in a namespace of its
// own, so that the compiler starts once.
#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "support/catch.hpp"
#include "support/kernel_cases.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

// A case with a name of its own in its text too: several may be of one diagram.
Case renamed(Case each, const std::string& suffix) {
  each.name += suffix;
  each.text = std::regex_replace(each.text, std::regex("(^|\n)diagram [a-z_]+"), "$1diagram " + each.name,
                                 std::regex_constants::format_first_only);
  return each;
}

constexpr const char* common = R"(#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "napkin_numbers.hpp"
template <class T> double number(T value) { return napkin_float(value); }
template <> double number(double value) { return value; }
template <> double number(float value) { return value; }
template <> double number(int value) { return value; }
template <> double number(signed char value) { return value; }
template <> double number(bool value) { return value; }
template <class T> T stored(double value) { return T::of((float)value); }
template <> double stored(double value) { return value; }
template <> float stored(double value) { return (float)value; }
template <> int stored(double value) { return (int)value; }
template <> signed char stored(double value) { return (signed char)value; }
template <> bool stored(double value) { return value != 0; }
template <> unsigned char stored(double value) { return (unsigned char)value; }
template <class T> std::unique_ptr<T[]> make(size_t count, FILE* in) {
  std::unique_ptr<T[]> array(new T[count]);
  for (size_t i = 0; in && i < count; ++i) {
    double value = 0;
    if (std::fread(&value, sizeof value, 1, in) != 1) std::abort();
    array[i] = stored<T>(value);
  }
  return array;
}
template <class T> void give(FILE* out, const T* array, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double value = number(array[i]);
    std::fwrite(&value, sizeof value, 1, out);
  }
}
)";

std::string storage(Datatype type) {
  switch (type) {
    case Datatype::f64:
      return "double";
    case Datatype::f32:
    case Datatype::tf32:
      return "float";
    case Datatype::i8:
      return "signed char";
    case Datatype::i32:
      return "int";
    case Datatype::boolean:
      return "bool";
    default:
      return "napkin_" + std::string(row(type).name);
  }
}

// A function that reads inputs in double from a file, runs the kernels and writes outputs in double to another.
std::string driver(const Diagram& diagram) {
  std::string body, arguments, axes, ending;
  for (std::size_t a = 0; a < diagram.axes.size(); ++a) {
    body += fmt::format("  const int size{} = std::atoi(words[{}]);\n", a, a + 2);
    axes += fmt::format("size{}, ", a);
  }
  const auto size = [&](ArrayId id) {
    std::string text = "(size_t)1";
    for (const auto wire : diagram.at(id).wires) text += fmt::format(" * size{}", diagram.at(wire).axis.index);
    return text;
  };
  for (const auto* list : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *list) {
      const bool reads = list == &diagram.inputs;
      body += fmt::format("  auto array{} = make<{}>({}, {});\n", id.index, storage(diagram.at(id).type), size(id),
                          reads ? "in" : "nullptr");
      arguments += fmt::format("array{}.get(), ", id.index);
      if (!reads) ending += fmt::format("  give(out, array{}.get(), {});\n", id.index, size(id));
    }
  return fmt::format(R"(static int drive(char** words) {{
  FILE* in = std::fopen(words[0], "rb");
{1}  auto workspace = make<unsigned char>({0}_workspace_size({2}) + 16, nullptr);
  const int error = {0}_run({3}{4}workspace.get());
  std::fclose(in);
  FILE* out = std::fopen(words[1], "wb");
{5}  std::fclose(out);
  return error;
}}
)",
                     diagram.name, body, axes.substr(0, axes.size() - 2), axes, arguments, ending);
}

struct Built {
  Case given;
  Diagram diagram;
  std::string text, dispatch;  // its part of a program, and of that program's main
};

Built build(const Case& given, const std::string& target, const Overrides& sizes) {
  auto planned = plan(given, target, sizes);
  if (planned.plan.kernels.empty()) planned = plan(given, "h100-sxm5", sizes);  // rows too long for a processor
  const auto& name = planned.diagram.name;
  write("cpp_tests/" + name, emit_cpp(planned.diagram, planned.plan, planned.hardware));
  auto text = fmt::format(
      "namespace case_{0} {{\n#include \"{0}/{0}.cpp\"\nnamespace harness {{\n#include "
      "\"{0}/{0}_harness.cpp\"\n}}\n{1}}}\n",
      name, driver(planned.diagram));
  auto dispatch = fmt::format(
      "  if (name == \"{0}\") return drives ? case_{0}::drive(words + 3) : case_{0}::harness::main(count - 1, words + "
      "1);\n",
      name);
  return {given, planned.diagram, std::move(text), std::move(dispatch)};
}

// All of them in one program: `program NAME drive IN OUT SIZE...` or `program NAME axis=size...`. Gives its folder.
std::string compile(const std::vector<Built>& cases, const std::string& program, const std::string& options) {
  std::string text, dispatch;
  for (const auto& each : cases) text += each.text, dispatch += each.dispatch;
  const auto whole = fmt::format(
      "{}\n{}int main(int count, char** words) {{\n  const std::string name = words[1];\n"
      "  const bool drives = count > 2 && std::string(words[2]) == \"drive\";\n{}  return 3;\n}}\n",
      common, text, dispatch);
  const auto folder = write("cpp_tests", {{program + ".cpp", whole}});
  const auto compiled =
      run(fmt::format("cd {} && {} -std=c++20 -fopenmp-simd -Wall -Wextra -Werror {} -I {} {}.cpp -o {}", folder,
                      NAPKIN_CXX_COMPILER, options, cases.front().diagram.name, program, program));
  INFO(compiled.output);
  REQUIRE(compiled.status == 0);
  return folder;
}

void compare(const Built& each, const std::string& folder, const std::string& program, const std::string& words) {
  const auto diagram = read_text(each.given.text, sizes_of(words));
  auto values = random_values(diagram, 7);
  write_doubles(folder + "/in", values, diagram.inputs);
  std::string sizes;
  for (const auto& axis : diagram.axes) sizes += fmt::format(" {}", *axis.size);
  const auto ran = run(fmt::format("cd {} && ./{} {} drive in out{}", folder, program, diagram.name, sizes));
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  evaluate(diagram, values, true);
  const auto outputs = read_outputs(folder + "/out", diagram);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CAPTURE(diagram.at(diagram.outputs[i]).name);
    CHECK(relative_error(outputs[i], values.arrays[diagram.outputs[i].index]) <= tolerance(diagram));
  }
}

void check(const std::vector<Built>& cases, const std::string& program, const std::string& options) {
  const auto folder = compile(cases, program, options);
  for (const auto& each : cases)
    for (const auto& sizes : each.given.run_sizes) {
      CAPTURE(each.given.name, sizes);
      const auto harness = run(fmt::format("cd {} && ./{} {} {}", folder, program, each.given.name, sizes));
      INFO(harness.output);
      CHECK(harness.status == 0);
      if (sizes == each.given.run_sizes.front()) compare(each, folder, program, sizes);
    }
}

}  // namespace

TEST_CASE("kernels in C++ compute what the diagram means", "[cpp]") {
  std::vector<Built> all;
  for (const auto& each : cases()) all.push_back(build(renamed(each, ""), "h100-sxm5", {}));
  check(all, "checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
}

TEST_CASE("so do those of a processor's plans at small sizes, as vectors", "[cpp]") {
  std::vector<Built> all;
  for (const auto& each : cases())
    if (each.labels.empty())
      all.push_back(build(renamed(each, "_small"), "x86-64-avx2", sizes_of(each.run_sizes.back())));
  check(all, "small_checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
  check(all, "small_fast", "-O3 -march=native");
}

TEST_CASE("kernels hold for longer axes than planned where the plan splits them", "[cpp]") {
  auto matmul = cases().front();
  matmul.name = "matmul_longer";
  matmul.labels = {"group a 8, c 24, stream b 1 at l2; group a 3, c 8 at reg"};
  matmul.run_sizes = {"a=70 b=300 c=90", "a=1 b=1 c=1"};
  const std::vector<Built> all = {build(renamed(matmul, ""), "x86-64-avx2", sizes_of("a=5 b=6 c=7"))};
  check(all, "longer_checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
  check(all, "longer_parallel", "-O2 -fopenmp");
  check(all, "longer_plain", "-O2 -fno-openmp-simd -Wno-unknown-pragmas");
}
