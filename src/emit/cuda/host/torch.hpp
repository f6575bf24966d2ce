// The kernels of a plan as a PyTorch operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emit/cuda/host/launch.hpp"
#include "napkin/emit.hpp"

namespace napkin {

// NAME_torch.cpp, which registers torch.ops.napkin.NAME, and NAME_torch.py, which builds and loads it; with the
// operator of its gradient, also NAME_autograd.cpp. Empty if the diagram has no inputs, because then nothing tells
// which device to use.
std::vector<EmittedFile> torch_binding(const CudaPlan&, const std::string& gradient);

// An argument of an operator: a tensor, or the size of an axis that no tensor has.
struct TorchArgument {
  std::string name, parameter;  // in the diagram, and in the code
  std::optional<ArrayId> array{};
  std::string_view type() const { return array ? "const at::Tensor&" : "int64_t"; }
};
using TorchArguments = std::vector<TorchArgument>;
std::string torch_parameters(const TorchArguments&);  // "const at::Tensor& Q, int64_t u"
std::string torch_passed(const TorchArguments&);      // "Q, u", the arguments that pass them on
// A tensor, or a tuple of tensors if there are several: the type, and the statement that returns it.
std::string torch_result(const Diagram&);
std::string torch_returned(const std::vector<std::string>& tensors);

}  // namespace napkin
