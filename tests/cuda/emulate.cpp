// Emitted kernels compiled for the host, and run there.
#include "cuda/emulate.hpp"

#include <fmt/format.h>

#include <sstream>

#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace emulate {
namespace {
// Compiles one emitted file, or the driver, for the host. The emulation is compiled already, by the build.
std::string compile(const std::string& folder, const std::string& file) {
  return fmt::format("cd {} && {} {} -Wall -Wextra -Werror -I {}/tests/cuda/emulation -include {} -x c++ -c {} -o {}.o",
                     folder, NAPKIN_CXX_COMPILER, NAPKIN_EMULATION_FLAGS, NAPKIN_SOURCE_DIR, NAPKIN_EMULATION_HEADER,
                     file, file);
}

std::string size_list(const Diagram& diagram) {
  std::string text;
  for (const auto& axis : diagram.axes) text += fmt::format("{}{}", text.empty() ? "" : ", ", *axis.size);
  return text;
}
// A program that reads inputs in double from a file, launches and writes outputs in double to another.
std::string driver(const Diagram& diagram) {
  std::string body, arguments, axes;
  for (std::size_t a = 0; a < diagram.axes.size(); ++a) {
    body += fmt::format("  const int size{} = std::atoi(words[{}]);\n", a, a + 3);
    axes += fmt::format("size{}, ", a);
  }
  const auto size = [&](ArrayId id) {
    std::string text = "(size_t)1";
    for (const auto wire : diagram.at(id).wires) text += fmt::format(" * size{}", diagram.at(wire).axis.index);
    return text;
  };
  std::string ending;
  for (const auto* list : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *list) {
      const auto type = row(diagram.at(id).type).cuda;
      const bool reads = list == &diagram.inputs;
      body +=
          fmt::format("  auto* array{0} = make<{1}>({2}, {3});\n", id.index, type, size(id), reads ? "in" : "nullptr");
      arguments += fmt::format("array{}, ", id.index);
      if (!reads) ending += fmt::format("  give(out, array{}, {});\n", id.index, size(id));
    }
  return fmt::format(R"(#include "{0}.h"
template <class T> double number(T value) {{ return (double)(float)value; }}
template <> double number(double value) {{ return value; }}
template <> double number(int value) {{ return value; }}
template <class T> T stored(double value) {{ return T((float)value); }}
template <> double stored(double value) {{ return value; }}
template <> int stored(double value) {{ return (int)value; }}
template <class T> T* make(size_t count, FILE* in) {{
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, count * sizeof(T))) std::abort();
  for (size_t i = 0; in && i < count; ++i) {{
    double value = 0;
    if (std::fread(&value, sizeof value, 1, in) != 1) std::abort();
    static_cast<T*>(pointer)[i] = stored<T>(value);
  }}
  return static_cast<T*>(pointer);
}}
template <class T> void give(FILE* out, const T* array, size_t count) {{
  for (size_t i = 0; i < count; ++i) {{
    const double value = number(array[i]);
    std::fwrite(&value, sizeof value, 1, out);
  }}
}}
int main(int, char** words) {{
  FILE* in = std::fopen(words[1], "rb");
{1}  auto* workspace = make<unsigned char>({0}_workspace_size({2}) + 16, nullptr);
  const int error = {0}_launch({3}{4}workspace, nullptr);
  FILE* out = std::fopen(words[2], "wb");
{5}  std::fclose(out);
  return error;
}}
)",
                     diagram.name, body, axes.substr(0, axes.size() - 2), axes, arguments, ending);
}

}  // namespace

std::string build(const std::string& name, const Diagram& diagram, std::vector<EmittedFile> files) {
  files.push_back({"driver.cpp", driver(diagram)});
  const auto folder = write("cuda_tests/" + name, files);
  const auto& stem = diagram.name;
  for (const auto& file : {stem + ".cu", stem + "_harness.cu", std::string("driver.cpp")}) {
    const auto compiled = run(compile(folder, file));
    INFO(compiled.output);
    REQUIRE(compiled.status == 0);
  }
  const auto linked =
      run(fmt::format("cd {0} && {1} -fsanitize=undefined {2}.cu.o {2}_harness.cu.o -o harness && {1} "
                      "-fsanitize=undefined {2}.cu.o driver.cpp.o -o driver",
                      folder, NAPKIN_CXX_COMPILER, stem));
  INFO(linked.output);
  REQUIRE(linked.status == 0);
  return folder;
}

kernel_cases::Ran harness(const std::string& folder, const std::string& sizes) {
  return run(fmt::format("cd {} && NAPKIN_EMULATION_COUNTS=1 ./harness {} 2>&1", folder, sizes));
}
std::int64_t model_bytes(const kernel_cases::Case& each, const kernel_cases::Planned& planned, const std::string& sizes,
                         const std::function<Partition(const Kernel&)>& distributed) {
  const auto diagram = read_text(each.text, sizes_of(sizes));
  std::int64_t bytes = 0;
  for (const auto& kernel : planned.plan.kernels) {
    const auto again = make_kernel(std::make_shared<const Derivation>(derive(diagram, kernel.derivation->statements)),
                                   distributed(kernel));
    bytes += estimate(again, planned.hardware, Model::machine).levels.front().transfer_bytes;
  }
  return bytes;
}

Counts counts(const std::string& output) {
  Counts all;
  std::istringstream lines(output);
  std::string name;
  long long value = 0;
  while (lines >> name)
    if (lines >> value)
      all[name] = value;
    else
      lines.clear();
  return all;
}

void run_all(const Case& each, const Planned& planned, const std::string& folder,
             const std::function<Partition(const Kernel&)>& distributed, const std::function<void(Counts&)>& also) {
  for (const auto& sizes : each.run_sizes) {
    CAPTURE(sizes);
    const auto ran = harness(folder, sizes);
    INFO(ran.output);
    REQUIRE(ran.status == 0);
    auto counted = counts(ran.output);
    also(counted);
    CHECK(counted["read_bytes"] + counted["written_bytes"] == model_bytes(each, planned, sizes, distributed));
    if (sizes == each.run_sizes.front()) compare(each.text, folder, sizes);
  }
}

void compare(const std::string& text, const std::string& folder, const std::string& words) {
  const auto diagram = read_text(text, sizes_of(words));
  auto values = random_values(diagram, 7);
  write_doubles(folder + "/in", values, diagram.inputs);
  std::string sizes = size_list(diagram);
  std::erase(sizes, ',');
  const auto ran = run(fmt::format("cd {} && ./driver in out {}", folder, sizes));
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  evaluate(diagram, values, true);
  const auto outputs = read_outputs(folder + "/out", diagram);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CAPTURE(diagram.at(diagram.outputs[i]).name);
    CHECK(relative_error(outputs[i], values.arrays[diagram.outputs[i].index]) <= tolerance(diagram));
  }
}

}  // namespace emulate
