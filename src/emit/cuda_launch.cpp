// The C interface of a plan's kernels: a header that documents it, and the launcher that checks sizes, lays out the
// workspace and starts the kernels one after another.
#include "emit/cuda_launch.hpp"

#include <fmt/format.h>

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

// The number of blocks: pieces of the groups that are blocks, multiplied.
std::string blocks(const CudaPlan& plan, const ThreadedKernel& kernel) {
  std::string text = "1LL";
  std::map<WireId, std::int64_t> around;
  for (const auto& group : kernel.nest.groups) {
    if (group.level > kernel.block_level) continue;
    const auto [outer, first] = around.try_emplace(group.wire, group.size);
    text += first ? fmt::format(" * pieces({}, {})", code_size(plan.diagram, plan.names, group.wire), group.size)
                  : fmt::format(" * {}", (outer->second + group.size - 1) / group.size);
    outer->second = std::min(outer->second, group.size);
  }
  return text.starts_with("1LL * ") ? "(long long)" + text.substr(6) : text;
}

void launch(const CudaPlan& plan, std::size_t index, Lines& out) {
  const auto& kernel = plan.threaded[index];
  std::string arguments;
  for (const auto id : kernel.nest.inputs) arguments += ", " + argument(plan, id, true);
  for (const auto id : kernel.nest.outputs) arguments += ", " + argument(plan, id, false);
  out.line(fmt::format("{}error = start({}, {}, {}, {}, stream, n{});", index == 0 ? "int " : "",
                       plan.kernels[index].name, blocks(plan, kernel), kernel.threads, kernel.shared_bytes, arguments));
  if (index + 1 < plan.kernels.size()) out.line("if (error != cudaSuccess) return error;");
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
  for (const auto& kernel : plan.kernels) kernels += kernel.text + "\n";
  Lines rest;
  rest.verbatim(start_text);
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
         cuda_headers(code) + "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstring>\n\n" +
         code_definitions(Language::cuda, code) + warp_definitions(kernels) + code;
}

}  // namespace napkin
