// Emitted kernels compiled for the host, and run there.
#include "cuda/emulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "diagram/assume.hpp"
#include "napkin/cost.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace emulate {
namespace {

constexpr std::uint64_t seed = 7;  // of what drivers read

// A folder whose files are compiled for the host, the flags of that, and what the files of the emulation begin with
// that the build has compiled with them.
struct Build {
  std::string folder, flags, emulation;
};
Build sanitized(const std::string& folder) {
  return {folder, NAPKIN_EMULATION_SANITIZED, NAPKIN_EMULATION_FOLDER "/sanitized"};
}
Build plain(const std::string& folder) { return {folder, NAPKIN_EMULATION_PLAIN, NAPKIN_EMULATION_FOLDER "/plain"}; }

void require(const std::string& command) {
  const auto ran = run(command);
  INFO(ran.output);
  REQUIRE(ran.status == 0);
}
void compile(const Build& build, const std::string& file) {
  require(fmt::format(
      "cd {} && {} {} -Wall -Wextra -Werror -I {}/tests/cuda/emulation -include {}.hpp -x c++ -c {} -o {}.o",
      build.folder, NAPKIN_CXX_COMPILER, build.flags, NAPKIN_SOURCE_DIR, build.emulation, file, file));
}
void link(const Build& build, const std::vector<std::string>& files, const std::string& program) {
  require(fmt::format("cd {} && {} {} {}.o {}_*.o -o {}", build.folder, NAPKIN_CXX_COMPILER, build.flags,
                      fmt::join(files, ".o "), build.emulation, program));
}
std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
// Kernels of one diagram, mistakes or not, have one harness.
void compile_harness(const Build& build, const std::string& stem) {
  static std::map<std::string, std::string> compiled;  // objects, by what is compiled
  const auto file = build.folder + "/" + stem + "_harness.cu";
  const auto [known, anew] =
      compiled.try_emplace(build.flags + text_of(file) + text_of(build.folder + "/" + stem + ".h"), file + ".o");
  if (anew)
    compile(build, stem + "_harness.cu");
  else if (known->second != file + ".o")
    std::filesystem::copy_file(known->second, file + ".o", std::filesystem::copy_options::overwrite_existing);
}
std::string build_harness(const Build& build, const std::string& stem) {
  compile(build, stem + ".cu");
  compile_harness(build, stem);
  link(build, {stem + ".cu", stem + "_harness.cu"}, "harness");
  return build.folder;
}

// Whether nobody gives the size of an axis, for the launcher finds it.
bool is_of_parts(const Diagram& diagram, AxisId axis) {
  return std::ranges::any_of(divided_axes(diagram),
                             [&](const Parts& parts) { return parts.part == axis || parts.inside == axis; }) ||
         std::ranges::any_of(ragged_blocks(diagram), [&](const RaggedBlocks& blocks) {
           return blocks.block == axis || blocks.inside == axis || blocks.last == axis;
         });
}

// A program that reads inputs in double from a file, launches what the included file declares and writes outputs in
// double to another.
std::string driver(const Diagram& diagram, const std::string& included) {
  std::string body, arguments, axes;
  for (std::size_t a = 0; a < diagram.axes.size(); ++a) {
    if (is_of_parts(diagram, AxisId{static_cast<std::uint32_t>(a)})) continue;
    body += fmt::format("  const int size{} = std::atoi(words[{}]);\n", a, a + 3);
    axes += fmt::format("size{}, ", a);
  }
  const auto size = [&](ArrayId id) {
    std::string text = "(size_t)1";
    for (const auto axis : whole_shape(diagram, id)) text += fmt::format(" * size{}", axis.index);
    return text;
  };
  std::string ending;
  for (const auto* list : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *list) {
      const auto& type = row(diagram.at(id).stored());
      const bool reads = list == &diagram.inputs;
      if (type.of_inputs)
        body += fmt::format(
            "  auto* array{0} = make<unsigned char>({1} / {2}, nullptr);\n"
            "  code(array{0}, {1}, {2}, in, code_{3});\n",
            id.index, size(id), type.share, type.name);
      else
        body += fmt::format("  auto* array{0} = make<{1}>({2}, {3});\n", id.index, type.cuda, size(id),
                            reads ? "in" : "nullptr");
      arguments += fmt::format("array{}, ", id.index);
      if (!reads) ending += fmt::format("  give(out, array{}, {});\n", id.index, size(id));
    }
  return fmt::format(R"(#include "{6}"
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
{7}int main(int, char** words) {{
  FILE* in = std::fopen(words[1], "rb");
{1}  auto* workspace = make<unsigned char>({0}_workspace_size({2}) + 16, nullptr);
  const int error = {0}_launch({3}{4}workspace, nullptr);
  FILE* out = std::fopen(words[2], "wb");
{5}  std::fclose(out);
  return error;
}}
)",
                     diagram.name, body, axes.substr(0, axes.size() - 2), axes, arguments, ending, included,
                     coded_inputs);
}
// Folders that have a driver, which is built once for all sizes.
std::set<std::string> driven;
// Beside the kernel of a harness; and of a folder without one.
void build_driver_beside(const Build& build, const Diagram& diagram) {
  if (!driven.insert(build.folder).second) return;
  std::ofstream(build.folder + "/driver.cpp") << driver(diagram, diagram.name + ".h");
  compile(build, "driver.cpp");
  link(build, {diagram.name + ".cu", "driver.cpp"}, "driver");
}
std::string build_driver_alone(const Build& build, const Diagram& diagram) {
  driven.insert(build.folder);
  std::ofstream(build.folder + "/driver.cpp") << driver(diagram, diagram.name + ".cu");
  compile(build, "driver.cpp");
  link(build, {"driver.cpp"}, "driver");
  return build.folder;
}

}  // namespace

std::string build(const std::string& name, const Diagram& diagram, const std::vector<EmittedFile>& files) {
  return build_harness(sanitized(write("cuda_tests/" + name, files)), diagram.name);
}

Ran program(const std::string& name, const std::string& text) {
  const auto build = sanitized(write("cuda_tests/" + name, {{"program.cpp", text}}));
  compile(build, "program.cpp");
  link(build, {"program.cpp"}, "program");
  return run(build.folder + "/program");
}

std::string run_on_warps(const Case& each, const std::string& machine) {
  const auto planned = plan(each, machine);
  const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
  CAPTURE(code.notes);
  CHECK(code.notes.empty());
  const auto distributed = [&](const Kernel& kernel) {
    const auto made = distribute(kernel, planned.hardware);
    const auto* warps = std::get_if<WarpNest>(&made);
    return warps ? std::optional(warps->partition) : std::nullopt;
  };
  run_all(each, planned, code.files, distributed, [](Counts& counted) { CHECK(counted["matrix_operations"] > 0); });
  return code.files.front().text;
}

std::string planted(const std::string& name, const Diagram& diagram, std::vector<EmittedFile> files,
                    const std::string& behind, const std::vector<Mistake>& mistakes, const std::string& sizes) {
  auto& text = files.front().text;
  for (const auto& [right, wrong, which] : mistakes) {
    auto at = text.find(right, text.find(behind));
    for (int i = 0; i < which; ++i) at = text.find(right, at + 1);
    REQUIRE(at != text.npos);
    do {
      text.replace(at, right.size(), wrong);
      at = text.find(right, at + wrong.size());
    } while (which < 0 && at != text.npos);
  }
  return harness(build_harness(plain(write("cuda_tests/" + name, files)), diagram.name), sizes).output;
}

kernel_cases::Ran harness(const std::string& folder, const std::string& sizes) {
  return run(fmt::format("cd {} && NAPKIN_EMULATION_COUNTS=1 ./harness {} --path any 2>&1", folder, sizes));
}

// The kernels as they are distributed, at the sizes of a diagram.
std::vector<Kernel> kernels_at(const Diagram& diagram, const Planned& planned, const Distributed& distributed) {
  std::vector<Kernel> all;
  const auto in_blocks = sums_in_blocks(diagram).diagram;
  for (const auto& kernel : planned.plan.kernels)
    if (const auto partition = distributed(kernel))
      all.push_back(make_kernel(std::make_shared<const Derivation>(
                                    derive(in_blocks, kernel.derivation->statements, kernel.derivation->outputs)),
                                *partition));
  return all;
}
std::int64_t model_bytes(const Diagram& diagram, const Planned& planned, const Distributed& distributed) {
  std::int64_t bytes = 0;
  for (const auto& kernel : kernels_at(diagram, planned, distributed))
    bytes += estimate(kernel, planned.hardware, Model::machine).levels.front().transfer_bytes;
  return bytes;
}
std::int64_t interpreted_bytes(const Diagram& diagram, const Planned& planned, const Distributed& distributed) {
  std::int64_t bytes = 0;
  auto values = drawn_values(sums_in_blocks(diagram).diagram, seed);
  for (const auto& kernel : kernels_at(diagram, planned, distributed))
    bytes += interpret(lower(kernel, planned.hardware), planned.hardware, values).levels.front().transfer_bytes;
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

std::string build_alone(const std::string& name, const Diagram& diagram, const std::vector<EmittedFile>& files) {
  return build_driver_alone(plain(write("cuda_tests/" + name, files)), diagram);
}
std::string build_driver(const std::string& name, const Diagram& diagram, const std::vector<EmittedFile>& files) {
  return build_driver_alone(sanitized(write("cuda_tests/" + name, files)), diagram);
}

void run_all(const Case& each, const Planned& planned, const std::vector<EmittedFile>& files,
             const Distributed& distributed, const std::function<void(Counts&)>& also) {
  const auto folder = build_driver(each.name, planned.diagram, files);
  for (const auto& sizes : each.run_sizes) {
    CAPTURE(sizes);
    auto counted = compare(each.text, folder, sizes);
    also(counted);
    CHECK(counted["read_bytes"] + counted["written_bytes"] ==
          model_bytes(read_text(each.text, sizes_of(sizes)), planned, distributed));
  }
}

Result run_alone(const std::string& folder, const Diagram& diagram, const Values& inputs) {
  write_doubles(folder + "/in", inputs, diagram.inputs);
  std::string sizes;
  for (const auto& axis : diagram.axes) sizes += fmt::format(" {}", *axis.size);
  Result result{run(fmt::format("cd {} && NAPKIN_EMULATION_COUNTS=1 ./driver in out{}", folder, sizes)), {}};
  result.counts = counts(result.ran.output);
  if (result.ran.status == 0) result.outputs = read_outputs(folder + "/out", diagram);
  return result;
}

// The outputs that differ from what they mean by more than sums in another order explain.
static std::vector<std::string> wrong_outputs(const Diagram& diagram, const Result& result, const Values& meant) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    const auto id = diagram.outputs[i];
    if (!(relative_error(result.outputs[i], meant.arrays[id.index]) <= tolerance(diagram)))
      names.push_back(diagram.at(id).name);
  }
  return names;
}

Counts compare(const std::string& text, const std::string& folder, const std::string& words) {
  const auto diagram = read_text(text, sizes_of(words));
  build_driver_beside(sanitized(folder), diagram);
  const auto inputs = drawn_values(diagram, seed);
  const auto result = run_alone(folder, diagram, inputs);
  INFO(result.ran.output);
  REQUIRE(result.ran.status == 0);
  auto meant = inputs;
  evaluate(diagram, meant, true);
  if (!wrong_outputs(diagram, result, meant).empty()) {
    meant = inputs;
    evaluate(diagram, meant, false);
    CHECK(wrong_outputs(diagram, result, meant) == std::vector<std::string>{});
  }
  return result.counts;
}

}  // namespace emulate
