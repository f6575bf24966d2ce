// The C interface of a plan's kernels: a header that documents it, and the launcher that checks sizes, lays out the
// workspace and starts the kernels one after another.
#include "emit/cuda_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "emit/cuda_expression.hpp"
#include "emit/cuda_text.hpp"
#include "emit/cuda_types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

// "int q, int x, const void* Q, void* O, void* workspace, void* stream".
std::string size_parameters(const CudaPlan& plan) {
  std::vector<std::string> all;
  for (const auto& axis : plan.names.axes) all.push_back("int " + axis);
  return joined(all, ", ");
}
std::string array_parameters(const CudaPlan& plan) {
  std::string text;
  for (const auto id : plan.diagram.inputs) text += ", const void* " + plan.names.arrays[id.index];
  for (const auto id : plan.diagram.outputs) text += ", void* " + plan.names.arrays[id.index];
  return text;
}
std::string launch_head(const CudaPlan& plan) {
  return fmt::format("int {}_launch({}{}, void* workspace, void* stream)", plan.names.diagram, size_parameters(plan),
                     array_parameters(plan));
}
std::string workspace_head(const CudaPlan& plan) {
  return fmt::format("size_t {}_workspace_size({})", plan.names.diagram, size_parameters(plan));
}

// "f16[q, d]".
std::string shape(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  std::string axes;
  for (const auto wire : array.wires) axes += (axes.empty() ? "" : ", ") + diagram.at(diagram.at(wire).axis).name;
  return fmt::format("{}[{}]", row(array.type).name, axes);
}

std::string count(const CudaPlan& plan, ArrayId id) {
  std::string text = "(size_t)1";
  for (const auto wire : plan.diagram.at(id).wires) text += " * " + cuda_size(plan.diagram, plan.names, wire);
  return text;
}

void sizes_struct(const CudaPlan& plan, Lines& out) {
  out.open(fmt::format("struct {}_sizes", plan.names.diagram));
  out.line(fmt::format("int {};", joined(plan.names.axes, ", ")));
  out.close("};");
  out.line();
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

void possible(const CudaPlan& plan, Lines& out) {
  out.line("// Whether the kernels hold for these sizes.");
  out.open(fmt::format("static bool possible(const {}_sizes& n)", plan.names.diagram));
  std::vector<std::string> positive;
  for (const auto& axis : plan.names.axes) positive.push_back(fmt::format("n.{} >= 1", axis));
  out.line(fmt::format("if (!({})) return false;", joined(positive, " && ")));
  for (const auto& [axis, limit] : plan.limits)
    out.line(
        fmt::format("if (n.{} > {}) return false;  // left whole by the plan", plan.names.axes[axis.index], limit));
  for (const auto& condition : cuda_conditions(plan.diagram, plan.names))
    out.line(fmt::format("if (!({})) return false;", condition));
  out.line("return true;");
  out.close();
  out.line();
}

// The number of blocks: pieces of the groups that are blocks, multiplied.
std::string blocks(const CudaPlan& plan, const ThreadedKernel& kernel) {
  std::string text = "1LL";
  std::map<WireId, std::int64_t> around;
  for (const auto& group : kernel.nest.groups) {
    if (group.level > kernel.block_level) continue;
    const auto [outer, first] = around.try_emplace(group.wire, group.size);
    text += first ? fmt::format(" * pieces({}, {})", cuda_size(plan.diagram, plan.names, group.wire), group.size)
                  : fmt::format(" * {}", (outer->second + group.size - 1) / group.size);
    outer->second = std::min(outer->second, group.size);
  }
  return text.starts_with("1LL * ") ? "(long long)" + text.substr(6) : text;
}

// An argument as a typed pointer.
std::string argument(const CudaPlan& plan, ArrayId id, bool reads) {
  const auto& name = plan.names.arrays[id.index];
  const auto type = fmt::format("{}{}*", reads ? "const " : "", row(plan.diagram.at(id).type).cuda);
  const bool between = std::find(plan.between.begin(), plan.between.end(), id) != plan.between.end();
  return between ? (reads ? fmt::format("({}){}", type, name) : name) : fmt::format("static_cast<{}>({})", type, name);
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
  const auto sizes = fmt::format("const {}_sizes n = {{{}}};", plan.names.diagram, joined(plan.names.axes, ", "));
  const auto bytes = [&](ArrayId id) {
    return fmt::format("({} * sizeof({}) + 255) / 256 * 256", count(plan, id), row(plan.diagram.at(id).type).cuda);
  };
  out.open(fmt::format("extern \"C\" {}", workspace_head(plan)));
  if (!plan.between.empty()) out.line(sizes);
  for (const auto& axis : plan.names.axes)
    if (plan.between.empty()) out.line(fmt::format("(void){};", axis));
  std::vector<std::string> parts;
  for (const auto id : plan.between) parts.push_back(bytes(id));
  out.line(fmt::format("return {};", parts.empty() ? "0" : joined(parts, " + ")));
  out.close();
  out.line();
  out.open(fmt::format("extern \"C\" {}", launch_head(plan)));
  out.line(sizes);
  out.line("if (!possible(n)) return cudaErrorInvalidValue;");
  if (plan.between.empty()) out.line("(void)workspace;");
  for (std::size_t i = 0; i < plan.between.size(); ++i) {
    const auto id = plan.between[i];
    const auto type = row(plan.diagram.at(id).type).cuda;
    if (i == 0) out.line("char* space = static_cast<char*>(workspace);");
    out.line(fmt::format("{}* const {} = reinterpret_cast<{}*>(space);", type, plan.names.arrays[id.index], type));
    if (i + 1 < plan.between.size()) out.line(fmt::format("space += {};", bytes(id)));
  }
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) launch(plan, i, out);
  out.line("return error;");
  out.close();
}

// The greatest or least value of an index: every position at its end or at 0.
std::string extreme(const Diagram& diagram, const CudaNames& names, const Index& index, bool greatest) {
  const std::map<WireId, std::int64_t> sign(index.terms.begin(), index.terms.end());
  return cuda_index(index, [&](WireId wire) {
    return (sign.at(wire) > 0) == greatest ? cuda_size(diagram, names, wire) + " - 1" : std::string("0");
  });
}

}  // namespace

std::vector<std::string> cuda_conditions(const Diagram& diagram, const CudaNames& names) {
  std::set<std::string> found;
  for (const auto& expr : diagram.exprs) {
    const auto* read = std::get_if<Access>(&expr.node);
    if (!read) continue;
    const auto& wires = diagram.at(read->array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      const auto& index = read->at[i];
      if (is_along(index, wires[i])) continue;
      found.insert(fmt::format("{} < {}", extreme(diagram, names, index, true), cuda_size(diagram, names, wires[i])));
      const bool negative = index.offset < 0 || std::any_of(index.terms.begin(), index.terms.end(),
                                                            [](const auto& term) { return term.second < 0; });
      if (negative) found.insert(fmt::format("{} >= 0", extreme(diagram, names, index, false)));
    }
  }
  return {found.begin(), found.end()};
}

std::string cuda_header(const CudaPlan& plan) {
  Lines out;
  const auto& diagram = plan.diagram;
  std::string guard = plan.names.diagram + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
  out.line(fmt::format("/* {}: the reference kernel that napkin printed for this plan:", diagram.name));
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
  for (std::uint32_t a = 0; a < diagram.axes.size(); ++a) {
    const auto limit = plan.limits.find(AxisId{a});
    out.line(fmt::format(" *   {:<10} size of axis {}{}", plan.names.axes[a], diagram.axes[a].name,
                         limit == plan.limits.end() ? "" : fmt::format(", at most {}", limit->second)));
  }
  for (const auto id : diagram.inputs)
    out.line(fmt::format(" *   {:<10} input {}", plan.names.arrays[id.index], shape(diagram, id)));
  for (const auto id : diagram.outputs)
    out.line(fmt::format(" *   {:<10} output {}", plan.names.arrays[id.index], shape(diagram, id)));
  out.line(" */");
  out.line(launch_head(plan) + ";\n");
  out.line("#ifdef __cplusplus\n}\n#endif\n");
  out.line("#endif");
  return out.text();
}

std::string cuda_source(const CudaPlan& plan) {
  Lines body;
  sizes_struct(plan, body);
  std::string kernels;
  for (const auto& kernel : plan.kernels) kernels += kernel.text + "\n";
  Lines rest;
  rest.verbatim(start_text);
  possible(plan, rest);
  launcher(plan, rest);
  const auto code = body.text() + kernels + rest.text();
  return fmt::format(
             "// {}: {}\n//\n// Printed by napkin from its loop nest; see {}.h for the interface.\n#include "
             "\"{}.h\"\n\n",
             plan.diagram.name, plan.labels, plan.names.diagram, plan.names.diagram) +
         cuda_headers(code) + "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstring>\n\n" +
         cuda_definitions(code) + code;
}

}  // namespace napkin
