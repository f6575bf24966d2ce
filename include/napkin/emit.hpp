// Emitters print a loop nest as text. They decide nothing about the plan.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// Whole lines of a text, as a range of bytes, and the declaration in the diagram's file of the array that these lines
// load, compute or save.
struct Traced {
  std::size_t begin = 0, end = 0;
  Span span;
};
struct EmittedText {
  std::string text;
  std::vector<Traced> origins{};  // in the order of the text, without overlaps
};

// The variables, then one line for each load, compute and save with shape, type, level, bytes and operations.
std::string emit_pseudocode(const LoopNest&, const Hardware&);
EmittedText emit_traced_pseudocode(const LoopNest&, const Hardware&);
// The same as JSON, `napkin.pseudocode/1`; see docs/json.md.
std::string emit_pseudocode_json(const LoopNest&, const Hardware&);

struct EmittedFile {
  std::string name;
  std::string text;
  std::vector<Traced> origins{};  // only in files with kernels
};

// A reference kernel in CUDA C++ that follows the plan, for any sizes of its axes. The files are NAME.cu and NAME.h
// with a C interface, NAME_harness.cu that checks and times it, and CMakeLists.txt; see docs/cuda.md. NAME is that of
// the diagram. Every axis of the diagram needs a size. If the plan does not split an axis, its size is also the largest
// size that the kernel accepts.
std::vector<EmittedFile> emit_cuda(const Diagram&, const Plan&, const Hardware&);

// `warps` adds kernels of single warps on matrix units, if `distribute` can make them. `tensor` also adds kernels of
// warpgroups if the machine has their instructions; these are launched if the device and the arrays allow it. A note
// gives the reason for every exception.
enum class CudaPath : std::uint8_t { reference, warps, tensor };
// `torch` adds NAME_torch.cpp and NAME_torch.py, which provide the kernels as torch.ops.napkin.NAME. If a `gradient` is
// named, NAME_torch.py also loads its operator and is built with NAME_autograd.cpp.
enum class CudaBinding : std::uint8_t { none, torch };
struct EmittedCode {
  std::vector<EmittedFile> files;
  std::vector<std::string> notes;
};
EmittedCode emit_cuda(const Diagram&, const Plan&, const Hardware&, CudaPath, CudaBinding = CudaBinding::none,
                      const std::string& gradient = "");

// Why a diagram cannot be the gradient of another, a complete sentence without its full stop.
struct NoGradient {
  std::string reason;
};
// NAME_autograd.cpp, which makes torch.ops.napkin.GRADIENT the backward pass of torch.ops.napkin.NAME. Both diagrams
// are those of their files. The gradient may read inputs and outputs of the other diagram, and `dO` for its output O.
// It computes `dX` for inputs X.
std::variant<EmittedFile, NoGradient> torch_autograd(const Diagram&, const std::string& name, const Diagram& gradient,
                                                     const std::string& gradient_name);

// The reference kernel in portable C++20: NAME.cpp and NAME.h with a C interface, napkin_numbers.hpp, NAME_harness.cpp
// and CMakeLists.txt. Every axis of the diagram needs a size. If the plan does not split an axis, its size is also the
// largest size that the kernel accepts.
std::vector<EmittedFile> emit_cpp(const Diagram&, const Plan&, const Hardware&);

}  // namespace napkin
