// Joins the operators of a diagram and of its gradient into one operator that PyTorch differentiates.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "diagram/contains.hpp"
#include "emit/cuda/host/torch.hpp"

namespace napkin {
namespace {

constexpr std::string_view opening =
    R"(// The gradients of torch.ops.napkin.@NAME@, by torch.ops.napkin.@GRADIENT@. Printed by napkin.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <class Signature>
auto napkin_operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}
// One tensor or several as a list.
variable_list napkin_list(const at::Tensor& one) { return {one}; }
template <class... Tensors>
variable_list napkin_list(const std::tuple<Tensors...>& all) {
  return std::apply([](const auto&... each) { return variable_list{each...}; }, all);
}
)";

class Joining {
 public:
  Joining(const Diagram& forward, const std::string& name, const Diagram& gradient, const std::string& gradient_name)
      : forward_(forward),
        gradient_(gradient),
        name_(name),
        gradient_name_(gradient_name),
        taken_(arguments(forward)),
        given_(arguments(gradient)) {}

  std::variant<EmittedFile, NoGradient> run() {
    find_sources();
    find_results();
    if (!problem_.empty()) return NoGradient{problem_};
    out_.verbatim(replaced(std::string(opening), {{"@NAME@", name_}, {"@GRADIENT@", gradient_name_}}));
    function();
    registration();
    return EmittedFile{name_ + "_autograd.cpp", out_.text()};
  }

 private:
  static TorchArguments arguments(const Diagram& diagram) {
    TorchArguments all;
    std::vector<AxisId> measured;
    const auto add = [&](const std::string& name, std::optional<ArrayId> array) {
      all.push_back({name, fmt::format("argument_{}", all.size() + 1), array});
    };
    for (const auto id : diagram.inputs) {
      add(diagram.at(id).name, id);
      for (const auto wire : diagram.at(id).wires) measured.push_back(diagram.at(wire).axis);
    }
    for (std::uint32_t a = 0; a < diagram.axes.size(); ++a)
      if (!contains(measured, AxisId{a})) add(diagram.axes[a].name, {});
    return all;
  }
  void fail(std::string reason) {
    if (problem_.empty()) problem_ = std::move(reason);
  }
  static const ArrayId* named(const Diagram& diagram, const std::vector<ArrayId>& all, const std::string& name) {
    const auto found = std::ranges::find_if(all, [&](ArrayId id) { return diagram.at(id).name == name; });
    return found == all.end() ? nullptr : &*found;
  }
  static std::string shape(const Diagram& diagram, ArrayId id) {
    const auto axis = [&](WireId wire) { return diagram.at(diagram.at(wire).axis).name; };
    return fmt::format("{}[{}]", row(diagram.at(id).stored()).name, listed(diagram.at(id).wires, ", ", axis));
  }
  void must_match(ArrayId own, ArrayId other) {
    const auto a = shape(gradient_, own), b = shape(forward_, other);
    if (a != b)
      fail(fmt::format("`{}` is {}, and `{}` of `{}` is {}", gradient_.at(own).name, a, forward_.at(other).name,
                       forward_.name, b));
  }

  // Finds the source of each argument of the gradient: a saved value, or the gradient given for an output.
  void find_sources() {
    for (const auto& argument : given_) argument.array ? find_tensor(*argument.array) : find_size(argument.name);
  }
  void find_tensor(ArrayId id) {
    const auto& name = gradient_.at(id).name;
    const auto* input = named(forward_, forward_.inputs, name);
    const auto* output = named(forward_, forward_.outputs, name);
    const auto* of = name.starts_with("d") ? named(forward_, forward_.outputs, name.substr(1)) : nullptr;
    if (input || output) {
      must_match(id, input ? *input : *output);
      sources_.push_back(fmt::format("saved[{}]", saved_.size()));
      saved_.push_back(input ? taken_[place(forward_.inputs, *input)].parameter
                             : fmt::format("results[{}]", place(forward_.outputs, *output)));
    } else if (of) {
      must_match(id, *of);
      sources_.push_back(fmt::format("given[{}].contiguous()", place(forward_.outputs, *of)));
      differentiated_.push_back(*of);
    } else {
      fail(
          fmt::format("its input `{0}` is no input or output of `{1}`, and no output of `{1}` with a d before its name",
                      name, forward_.name));
    }
  }
  void find_size(const std::string& axis) {
    sources_.push_back(fmt::format("context->saved_data[\"{}\"].toInt()", axis));
    for (const auto& [name, parameter, array] : taken_) {
      if (!array && name == axis) return void(sizes_[axis] = parameter);
      const auto wires = array ? forward_.at(*array).wires : std::vector<WireId>();
      for (std::size_t k = 0; k < wires.size(); ++k)
        if (forward_.at(forward_.at(wires[k]).axis).name == axis)
          return void(sizes_[axis] = fmt::format("{}.size({})", parameter, k));
    }
    fail(fmt::format("its axis `{}` is not one of `{}`", axis, forward_.name));
  }
  // Finds the result of the gradient that belongs to each argument.
  void find_results() {
    for (const auto& argument : taken_) {
      const auto* found = argument.array ? named(gradient_, gradient_.outputs, "d" + argument.name) : nullptr;
      if (found) must_match(*found, *argument.array);
      results_.push_back(found ? fmt::format("results[{}]", place(gradient_.outputs, *found)) : "at::Tensor()");
    }
    for (const auto id : gradient_.outputs) {
      const auto& name = gradient_.at(id).name;
      if (!name.starts_with("d") || !named(forward_, forward_.inputs, name.substr(1)))
        fail(fmt::format("its output `{}` is no input of `{}` with a d before its name", name, forward_.name));
    }
    if (differentiated_.empty()) fail(fmt::format("it reads the gradient of no output of `{}`", forward_.name));
  }
  static std::size_t place(const std::vector<ArrayId>& all, ArrayId id) {
    return static_cast<std::size_t>(std::ranges::find(all, id) - all.begin());
  }

  // Declares the function `run`, which calls an operator.
  void declare_run(const Diagram& diagram, const TorchArguments& arguments, const std::string& name) {
    out_.line("static const auto run = napkin_operator<{}({})>(\"napkin::{}\");", torch_result(diagram),
              listed(arguments, ", ", [](const TorchArgument& each) { return each.type(); }), name);
  }

  void function() {
    out_.line();
    for (const auto& each : taken_) out_.line("// {} is {}", each.parameter, each.name);
    out_.open("struct napkin_function : torch::autograd::Function<napkin_function>");
    forward();
    backward();
    out_.close("};");
  }
  void forward() {
    out_.open("static variable_list forward(AutogradContext* context, {})", torch_parameters(taken_));
    out_.line("const at::AutoDispatchBelowADInplaceOrView below;");
    declare_run(forward_, taken_, name_);
    out_.line("const auto results = napkin_list(run.call({}));", torch_passed(taken_));
    out_.list("context->save_for_backward({", saved_, "});");
    for (const auto& [axis, size] : sizes_) out_.line("context->saved_data[\"{}\"] = {};", axis, size);
    std::vector<std::string> others;
    for (std::size_t i = 0; i < forward_.outputs.size(); ++i)
      if (!contains(differentiated_, forward_.outputs[i])) others.push_back(fmt::format("results[{}]", i));
    if (!others.empty()) out_.list("context->mark_non_differentiable({", others, "});");
    out_.line("return results;");
    out_.close();
  }
  void backward() {
    out_.open("static variable_list backward(AutogradContext* context, variable_list given)");
    out_.line("TORCH_CHECK(!at::GradMode::is_enabled(),");
    out_.line("            \"napkin.{}: there are no gradients of its gradients; do not ask for create_graph\");",
              name_);
    declare_run(gradient_, given_, gradient_name_);
    out_.line("const auto saved = context->get_saved_variables();");
    out_.list("const auto results = napkin_list(run.call(", sources_, "));");
    out_.list("return {", results_, "};");
    out_.close();
  }
  void registration() {
    out_.line();
    out_.open("{} napkin_differentiable({})", torch_result(forward_), torch_parameters(taken_));
    out_.line("const auto results = napkin_function::apply({});", torch_passed(taken_));
    std::vector<std::string> all;
    for (std::size_t i = 0; i < forward_.outputs.size(); ++i) all.push_back(fmt::format("results[{}]", i));
    out_.line(torch_returned(all));
    out_.close();
    out_.line();
    out_.line("}  // namespace");
    out_.line();
    out_.line(
        "TORCH_LIBRARY_IMPL(napkin, Autograd, library) {{ library.impl(\"{}\", "
        "TORCH_FN(napkin_differentiable)); }}",
        name_);
  }

  const Diagram &forward_, &gradient_;
  const std::string &name_, &gradient_name_;
  TorchArguments taken_, given_;              // by the operator, and by the operator of the gradient
  std::vector<std::string> saved_;            // values that forward saves
  std::vector<std::string> sources_;          // of the gradient's arguments, as expressions in backward
  std::map<std::string, std::string> sizes_;  // sizes that forward saves, by axis
  std::vector<std::string> results_;          // of backward, one for each argument
  std::vector<ArrayId> differentiated_;       // outputs whose gradients are read
  std::string problem_;
  Lines out_;
};

}  // namespace

std::variant<EmittedFile, NoGradient> torch_autograd(const Diagram& forward, const std::string& name,
                                                     const Diagram& gradient, const std::string& gradient_name) {
  return Joining(forward, name, gradient, gradient_name).run();
}

}  // namespace napkin
