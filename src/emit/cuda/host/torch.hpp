// The kernels of a plan as a PyTorch operator.
#pragma once

#include <vector>

#include "emit/cuda/host/launch.hpp"
#include "napkin/emit.hpp"

namespace napkin {

// NAME_torch.cpp, which registers torch.ops.napkin.NAME, and NAME_torch.py, which builds and loads it; with the
// operator of its gradient, also NAME_autograd.cpp. Empty if the diagram has no inputs, because then nothing tells
// which device to use.
std::vector<EmittedFile> torch_binding(const CudaPlan&, const std::string& gradient);

}  // namespace napkin
