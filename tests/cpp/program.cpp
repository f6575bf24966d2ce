// Kernels in C++ of many cases as one program.
#include "cpp/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/assume.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

namespace cpp_program {

using namespace napkin;
using namespace kernel_cases;

namespace {

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
constexpr int canary = 0x5a;
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
  std::memset((void*)array.get(), canary, count * sizeof(T));
  for (size_t i = 0; in && i < count; ++i) {
    double value = 0;
    if (std::fread(&value, sizeof value, 1, in) != 1) std::abort();
    array[i] = stored<T>(value);
  }
  return array;
}
template <class T> bool written(const T* array, size_t count) {
  const auto* bytes = (const unsigned char*)array;
  return std::any_of(bytes, bytes + count * sizeof(T), [](unsigned char byte) { return byte != canary; });
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
  std::string body, arguments, axes, ending, written;
  for (std::size_t a = 0; a < diagram.axes.size(); ++a) {
    const auto is_this = [&](AxisId axis) { return axis.index == a; };
    if (std::ranges::any_of(divided_axes(diagram),
                            [&](const Parts& parts) {
                              return is_this(parts.part) || is_this(parts.inside);  // nobody gives their sizes
                            }) ||
        std::ranges::any_of(ragged_blocks(diagram), [&](const RaggedBlocks& blocks) {
          return is_this(blocks.block) || is_this(blocks.inside) || is_this(blocks.last);
        }))
      continue;
    body += fmt::format("  const int size{} = std::atoi(words[{}]);\n", a, a + 2);
    axes += fmt::format("size{}, ", a);
  }
  const auto size = [&](ArrayId id) {
    std::string text = "(size_t)1";
    for (const auto axis : whole_shape(diagram, id)) text += fmt::format(" * size{}", axis.index);
    return text;
  };
  for (const auto* list : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *list) {
      const bool reads = list == &diagram.inputs;
      const auto& type = row(diagram.at(id).stored());
      if (type.of_inputs)
        body += fmt::format(
            "  auto array{0} = make<unsigned char>({1} / {2}, nullptr);\n"
            "  code(array{0}.get(), {1}, {2}, in, code_{3});\n",
            id.index, size(id), type.share, type.name);
      else
        body += fmt::format("  auto array{} = make<{}>({}, {});\n", id.index, storage(diagram.at(id).type), size(id),
                            reads ? "in" : "nullptr");
      arguments += fmt::format("array{}.get(), ", id.index);
      if (reads) continue;
      ending += fmt::format("  give(out, array{}.get(), {});\n", id.index, size(id));
      written += fmt::format(" || written(array{}.get(), {})", id.index, size(id));
    }
  return fmt::format(R"(static int drive(char** words) {{
  FILE* in = std::fopen(words[0], "rb");
{1}  auto workspace = make<unsigned char>({0}_workspace_size({2}) + 16, nullptr);
  const int error = {0}_run({3}{4}workspace.get());
  std::fclose(in);
  if (error) return false{6} ? 4 : error;
  FILE* out = std::fopen(words[1], "wb");
{5}  std::fclose(out);
  return 0;
}}
)",
                     diagram.name, body, axes.substr(0, axes.size() - 2), axes, arguments, ending, written);
}

}  // namespace

Built build(const Case& given, const std::string& target, const Overrides& sizes) {
  auto planned = plan(given, target, sizes);
  if (planned.plan.kernels.empty()) planned = plan(given, "h100-sxm5", sizes);  // rows too long for a processor
  return build(given, planned);
}
Built build(const Case& given, const Planned& planned) {
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

std::string compile(const std::vector<Built>& cases, const std::string& program, const std::string& options) {
  std::string text, dispatch;
  for (const auto& each : cases) text += each.text, dispatch += each.dispatch;
  const auto whole = fmt::format(
      "{}\n{}\n{}int main(int count, char** words) {{\n  const std::string name = words[1];\n"
      "  const bool drives = count > 2 && std::string(words[2]) == \"drive\";\n{}  return 3;\n}}\n",
      common, coded_inputs, text, dispatch);
  const auto folder = write("cpp_tests", {{program + ".cpp", whole}});
  const auto compiled =
      run(fmt::format("cd {} && {} -std=c++20 -fopenmp-simd -Wall -Wextra -Werror {} -I {} {}.cpp -o {}", folder,
                      NAPKIN_CXX_COMPILER, options, cases.front().diagram.name, program, program));
  INFO(compiled.output);
  REQUIRE(compiled.status == 0);
  return folder;
}

}  // namespace cpp_program
