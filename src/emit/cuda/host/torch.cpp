// Wraps the launcher of a plan as a PyTorch operator. Axes get their sizes from the shapes of inputs; every input is
// checked for type, shape, layout and device; PyTorch allocates outputs and workspace.
#include "emit/cuda/host/torch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "diagram/assume.hpp"

namespace napkin {
namespace {

struct TorchType {
  Datatype type;
  std::string_view scalar, name;  // at::kHalf, torch.float16
};
constexpr std::array torch_types = {
    TorchType{Datatype::f64, "at::kDouble", "torch.float64"},
    TorchType{Datatype::f32, "at::kFloat", "torch.float32"},
    TorchType{Datatype::tf32, "at::kFloat", "torch.float32"},
    TorchType{Datatype::f16, "at::kHalf", "torch.float16"},
    TorchType{Datatype::bf16, "at::kBFloat16", "torch.bfloat16"},
    TorchType{Datatype::f8e4m3, "at::kFloat8_e4m3fn", "torch.float8_e4m3fn"},
    TorchType{Datatype::f8e5m2, "at::kFloat8_e5m2", "torch.float8_e5m2"},
    TorchType{Datatype::f8e8m0, "at::kByte", "torch.uint8"},
    TorchType{Datatype::f4e2m1, "at::kByte", "torch.uint8"},
    TorchType{Datatype::i8, "at::kChar", "torch.int8"},
    TorchType{Datatype::i4, "at::kByte", "torch.uint8"},
    TorchType{Datatype::i32, "at::kInt", "torch.int32"},
    TorchType{Datatype::boolean, "at::kBool", "torch.bool"},
};
const TorchType& torch_type(Datatype type) {
  return *std::find_if(torch_types.begin(), torch_types.end(), [&](const auto& row) { return row.type == type; });
}

constexpr std::string_view operator_opening =
    R"(// @NAME@ as an operator of PyTorch, torch.ops.napkin.@NAME@. Printed by napkin.
//
//   torch.ops.napkin.@SIGNATURE@
//
@PARAMETERS@//
// @NAME@_torch.py builds and loads it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <torch/library.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "@NAME@.h"

// Whose tensors the operator takes; a test on the host has it say CPU.
#ifndef NAPKIN_TORCH_DEVICE
#define NAPKIN_TORCH_DEVICE CUDA
#endif

namespace {

struct napkin_lengths {
  int @SIZES@;
};

// What every input has to be, wherever it lies.
void napkin_check(const at::Tensor& array, const char* name, at::ScalarType type, const char* type_name, int64_t dimensions,
           const char* shape) {
  TORCH_CHECK_TYPE(array.scalar_type() == type, "napkin.@NAME@: ", name, " must be ", type_name, ", and is ",
                   array.scalar_type());
  TORCH_CHECK_VALUE(array.dim() == dimensions, "napkin.@NAME@: ", name, " must have the ", dimensions, " dimensions ",
                    shape, ", and has the shape ", array.sizes());
  TORCH_CHECK_VALUE(array.is_contiguous(), "napkin.@NAME@: ", name,
                    " must be contiguous, and has the strides ", array.strides(), "; call .contiguous() on it");
}
// An axis is as long wherever it appears, and no longer than the kernels hold for.
void napkin_measure(int& size, int64_t length, const char* axis, const char* where, int64_t longest) {
  TORCH_CHECK_VALUE(size == 0 || size == length, "napkin.@NAME@: axis ", axis, " is ", size, " long, but ", length,
                    " in ", where);
  TORCH_CHECK_VALUE(length >= 1 && length <= longest, "napkin.@NAME@: axis ", axis, " of ", where, " is ", length,
                    " long, and must be from 1 to ", longest);
  size = static_cast<int>(length);
}
)";

constexpr std::string_view on_device_text = R"(
// That an input lies on the device, beside the first one.
void napkin_check_device(const at::Tensor& array, const char* name, const at::Tensor& first) {
  TORCH_CHECK_VALUE(array.device().type() == c10::DeviceType::NAPKIN_TORCH_DEVICE, "napkin.@NAME@: ", name,
                    " must be on a CUDA device, and is on ", array.device());
  TORCH_CHECK_VALUE(array.device() == first.device(), "napkin.@NAME@: ", name, " is on ", array.device(),
                    ", and the first input on ", first.device());
}
)";

constexpr std::string_view way_text = R"(
// That the last launch took the path of the plan, unless NAPKIN_DEMAND_PATH asks for one. What it may lack is told once:
// rows of 16 bytes, or a device that has the instructions.
void napkin_check_path(int error) {
  const char *const path = @NAME@_last_path(), *const planned = @NAME@_planned_path();
  const char* const demanded = std::getenv("NAPKIN_DEMAND_PATH");
  TORCH_CHECK(error != cudaErrorNotSupported, "napkin.@NAME@: the planned path is ", planned, ", NAPKIN_DEMAND_PATH is ",
              demanded ? demanded : "", ", and the kernels cannot run so; ", @NAME@_fallback_reason());
  if (error != cudaSuccess || (demanded && *demanded) || std::strcmp(path, planned) == 0) return;
  TORCH_CHECK(@NAME@_fallback_expected(), "napkin.@NAME@: the planned path is ", planned, ", and the kernels ran by ", path,
              "; ", @NAME@_fallback_reason());
  TORCH_WARN_ONCE("napkin.@NAME@: the planned path is ", planned, ", and the kernels run by ", path, "; ",
                  @NAME@_fallback_reason());
}
)";

class TorchPrinter {
 public:
  explicit TorchPrinter(const CudaPlan& plan) : plan_(plan), diagram_(plan.diagram) {
    for (const auto* names : {&plan.names.axes, &plan.names.arrays})
      for (const auto& each : *names) pool_.fresh(each);
    result_ = pool_.fresh("result"), error_ = pool_.fresh("error");
    find_arguments();
  }

  std::string run() {
    out_.verbatim(replaced(std::string(operator_opening), words()));
    sizes();
    out_.verbatim(replaced(std::string(on_device_text), words()));
    out_.verbatim(replaced(std::string(way_text), words()));
    outputs();
    implementation();
    out_.line();
    out_.line("}  // namespace");
    registration();
    return out_.text();
  }
  std::string signature() const {
    const auto argument = [](const TorchArgument& each) { return (each.array ? "Tensor " : "int ") + each.parameter; };
    const auto result = listed(diagram_.outputs, ", ", [](ArrayId) { return "Tensor"; });
    return fmt::format("{}({}) -> {}", plan_.names.diagram, listed(arguments_, ", ", argument),
                       diagram_.outputs.size() == 1 ? result : "(" + result + ")");
  }

 private:
  const std::string& name(ArrayId id) const { return plan_.names.arrays[id.index]; }
  // Finds the inputs and the axes that no input has.
  void find_arguments() {
    std::set<AxisId> measured;
    for (const auto id : diagram_.inputs) {
      arguments_.push_back({diagram_.at(id).name, name(id), id});
      for (const auto wire : diagram_.at(id).wires) measured.insert(diagram_.at(wire).axis);
    }
    for (const auto axis : given_axes(plan_)) {
      if (measured.contains(axis)) continue;
      asked_.push_back(axis);
      arguments_.push_back({diagram_.at(axis).name, plan_.names.axes[axis.index]});
    }
  }
  std::string shape(ArrayId id) const {
    const auto axes = listed(whole_shape(diagram_, id), ", ", [&](AxisId axis) { return diagram_.at(axis).name; });
    const auto share = row(diagram_.at(id).stored()).share;
    return share > 1 ? fmt::format("[{} / {}]", axes, share) : fmt::format("[{}]", axes);
  }
  std::string parameters() const {
    std::string text;
    const auto describe = [&](const std::string& what, ArrayId id) {
      const auto type = diagram_.at(id).stored();
      text += fmt::format("//   {:<8} {}{}, {}{}\n", name(id), what, shape(id), torch_type(type).name,
                          row(type).of_inputs ? fmt::format(" of {}", row(type).name) : "");
    };
    for (const auto id : diagram_.inputs) describe("", id);
    for (const auto axis : asked_)
      text += fmt::format("//   {:<8} size of axis {}\n", plan_.names.axes[axis.index], diagram_.at(axis).name);
    for (const auto id : diagram_.outputs) describe("gives ", id);
    return text;
  }
  std::vector<std::pair<std::string, std::string>> words() const {
    return {{"@NAME@", plan_.names.diagram},
            {"@SIGNATURE@", signature()},
            {"@PARAMETERS@", parameters()},
            {"@SIZES@", listed(given_names(plan_), ", ", [](const std::string& axis) { return axis + " = 0"; })}};
  }
  std::string longest(AxisId axis) const {
    const auto limit = plan_.limits.find(axis);
    return limit == plan_.limits.end() ? "INT_MAX" : fmt::format("{}", limit->second);
  }

  void sizes() {
    out_.line();
    out_.open("napkin_lengths napkin_sizes({})", torch_parameters(arguments_));
    out_.line("napkin_lengths n;");
    for (const auto id : diagram_.inputs) {
      const auto stored = diagram_.at(id).stored();
      const auto& type = torch_type(stored);
      const auto& wires = diagram_.at(id).wires;
      out_.line("napkin_check({0}, \"{0}\", {1}, \"{2}\", {3}, \"{4}\");", name(id), type.scalar, type.name,
                wires.size(), shape(id));
      for (std::size_t k = 0; k < wires.size(); ++k)
        measure(
            diagram_.at(wires[k]).axis,
            fmt::format("{}.size({}){}", name(id), k,
                        k + 1 == wires.size() && row(stored).share > 1 ? fmt::format(" * {}", row(stored).share) : ""),
            name(id));
    }
    for (const auto axis : asked_) measure(axis, plan_.names.axes[axis.index], "the call");
    out_.line("return n;");
    out_.close();
  }
  void measure(AxisId axis, const std::string& length, const std::string& where) {
    out_.line("napkin_measure(n.{}, {}, \"{}\", \"{}\", {});", plan_.names.axes[axis.index], length,
              diagram_.at(axis).name, where, longest(axis));
  }

  void outputs() {
    std::vector<std::string> all;
    for (const auto id : diagram_.outputs) {
      const auto length = [&](AxisId axis) { return "n." + plan_.names.axes[axis.index]; };
      all.push_back(fmt::format("at::empty({{{}}}, like.options().dtype({}))",
                                listed(whole_shape(diagram_, id), ", ", length),
                                torch_type(diagram_.at(id).type).scalar));
    }
    out_.line();
    out_.open("{} napkin_outputs(const napkin_lengths& n, const at::Tensor& like)", torch_result(diagram_));
    if (std::all_of(diagram_.outputs.begin(), diagram_.outputs.end(),
                    [&](ArrayId id) { return diagram_.at(id).wires.empty(); }))
      out_.line("(void)n;");
    out_.line(torch_returned(all));
    out_.close();
    out_.line();
    out_.line("// What comes of the inputs without computing it: shapes and types.");
    out_.open("{} napkin_shapes({})", torch_result(diagram_), torch_parameters(arguments_));
    out_.line("return napkin_outputs(napkin_sizes({}), {});", torch_passed(arguments_), name(diagram_.inputs.front()));
    out_.close();
  }

  void implementation() {
    const auto& first = name(diagram_.inputs.front());
    const auto lengths = given_names(plan_, "n.");
    std::vector<std::string> pointers;
    for (const auto id : diagram_.inputs) pointers.push_back(name(id) + ".data_ptr()");
    for (std::size_t i = 0; i < diagram_.outputs.size(); ++i)
      pointers.push_back(diagram_.outputs.size() == 1 ? fmt::format("{}.data_ptr()", result_)
                                                      : fmt::format("std::get<{}>({}).data_ptr()", i, result_));
    out_.line();
    out_.line("// On the stream that is current where it is called.");
    out_.open("{} napkin_run({})", torch_result(diagram_), torch_parameters(arguments_));
    out_.line("const auto n = napkin_sizes({});", torch_passed(arguments_));
    for (const auto id : diagram_.inputs) out_.line("napkin_check_device({0}, \"{0}\", {1});", name(id), first);
    out_.line("const c10::cuda::CUDAGuard {}({}.device());", pool_.fresh("guard"), first);
    out_.line("auto {} = napkin_outputs(n, {});", result_, first);
    out_.line(
        "auto workspace = at::empty({{static_cast<int64_t>({}_workspace_size({}))}}, "
        "{}.options().dtype(at::kByte));",
        plan_.names.diagram, joined(lengths, ", "), first);
    out_.list(fmt::format("const int {} = {}_launch(", error_, plan_.names.diagram),
              launch_arguments(lengths, pointers), ");");
    out_.line("napkin_check_path({});", error_);
    check_error();
    out_.line("return {};", result_);
    out_.close();
  }
  void check_error() {
    out_.line("TORCH_CHECK_VALUE({} != cudaErrorInvalidValue,", error_);
    out_.line("                  \"napkin.{0}: the kernels do not hold for these sizes; {0}.h says for which\");",
              plan_.names.diagram);
    out_.line(
        "TORCH_CHECK({0} == cudaSuccess, \"napkin.{1}: \", "
        "cudaGetErrorString(static_cast<cudaError_t>({0})));",
        error_, plan_.names.diagram);
  }
  static std::vector<std::string> launch_arguments(std::vector<std::string> all,
                                                   const std::vector<std::string>& pointers) {
    all.insert(all.end(), pointers.begin(), pointers.end());
    all.emplace_back("workspace.data_ptr()");
    all.emplace_back("c10::cuda::getCurrentCUDAStream().stream()");
    return all;
  }

  void registration() {
    const auto& name = plan_.names.diagram;
    out_.line();
    out_.line("TORCH_LIBRARY_FRAGMENT(napkin, library) {{ library.def(\"{}\"); }}", signature());
    out_.line(
        "TORCH_LIBRARY_IMPL(napkin, NAPKIN_TORCH_DEVICE, library) {{ library.impl(\"{}\", TORCH_FN(napkin_run)); }}",
        name);
    out_.line("TORCH_LIBRARY_IMPL(napkin, Meta, library) {{ library.impl(\"{}\", TORCH_FN(napkin_shapes)); }}", name);
  }

  const CudaPlan& plan_;
  const Diagram& diagram_;
  Lines out_;
  Identifiers pool_;
  std::string result_, error_;
  TorchArguments arguments_;
  std::vector<AxisId> asked_;  // axes that no input has; their sizes are arguments
};

// Warpgroup instructions exist only under the full name of the architecture.
constexpr std::string_view for_warpgroups =
    R"( + (
        ["-gencode=arch=compute_90a,code=sm_90a"]
        if torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
        else []
    ))";

constexpr std::string_view loads_gradient =
    R"(
import {0}_torch  # torch.ops.napkin.{0}, which backward passes call
)";

constexpr std::string_view loader =
    R"("""torch.ops.napkin.@NAME@: importing this builds the kernels, once, and loads them. Printed by napkin.

    import torch, @NAME@_torch
    torch.ops.napkin.@SIGNATURE@
"""
import os

@IMPORTS@from torch.utils.cpp_extension import load

_here = os.path.dirname(os.path.abspath(__file__))
load(
    name="napkin_@NAME@",
    sources=[os.path.join(_here, file) for file in ("@NAME@.cu", "@NAME@_torch.cpp"@MORE@)],
    extra_include_paths=[_here],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"]@FLAGS@,
    is_python_module=False,
)
@GRADIENT@)";

}  // namespace

std::string torch_parameters(const TorchArguments& all) {
  return listed(all, ", ", [](const TorchArgument& each) { return fmt::format("{} {}", each.type(), each.parameter); });
}
std::string torch_passed(const TorchArguments& all) {
  return listed(all, ", ", [](const TorchArgument& each) { return each.parameter; });
}
std::string torch_result(const Diagram& diagram) {
  const auto tensors = listed(diagram.outputs, ", ", [](ArrayId) { return "at::Tensor"; });
  return diagram.outputs.size() == 1 ? tensors : fmt::format("std::tuple<{}>", tensors);
}
std::string torch_returned(const std::vector<std::string>& tensors) {
  return tensors.size() == 1 ? fmt::format("return {};", tensors[0])
                             : fmt::format("return std::make_tuple({});", joined(tensors, ", "));
}

std::vector<EmittedFile> torch_binding(const CudaPlan& plan, const std::string& gradient) {
  if (plan.diagram.inputs.empty()) return {};
  TorchPrinter printer(plan);
  const auto& name = plan.names.diagram;
  auto source = printer.run();
  return {{name + "_torch.cpp", std::move(source)},
          {name + "_torch.py", replaced(std::string(loader),
                                        {{"@NAME@", name},
                                         {"@SIGNATURE@", printer.signature()},
                                         {"@MORE@", gradient.empty() ? "" : fmt::format(", \"{}_autograd.cpp\"", name)},
                                         {"@GRADIENT@", gradient.empty() ? "" : fmt::format(loads_gradient, gradient)},
                                         {"@IMPORTS@", any_warpgroups(plan) ? "import torch\n" : ""},
                                         {"@FLAGS@", any_warpgroups(plan) ? std::string(for_warpgroups) : ""}})}};
}

}  // namespace napkin
