// Emitters: a loop nest as text. They print what was decided and decide nothing about the plan.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// Whole lines of a text, as bytes from one to the next, and where in the diagram's file the array that they load,
// compute or save is declared.
struct Traced {
  std::size_t begin = 0, end = 0;
  Span span;
};
struct EmittedText {
  std::string text;
  std::vector<Traced> origins{};  // in the order of the text, none inside another
};

// The variables, then one line for each load, compute and save with shape, type, level, bytes and operations.
std::string emit_pseudocode(const LoopNest&, const Hardware&);
EmittedText emit_traced_pseudocode(const LoopNest&, const Hardware&);
// The same as `napkin.pseudocode/1`, see docs/json.md.
std::string emit_pseudocode_json(const LoopNest&, const Hardware&);

struct EmittedFile {
  std::string name;
  std::string text;
  std::vector<Traced> origins{};  // of files with kernels
};

// A reference kernel in CUDA C++ that follows the plan, for any sizes of its axes: NAME.cu and NAME.h with a C
// interface, NAME_harness.cu that checks and times it, and CMakeLists.txt; see docs/cuda.md. NAME is the diagram's.
// Every axis of the diagram needs a size: an axis that the plan leaves whole may later be that long at most.
std::vector<EmittedFile> emit_cuda(const Diagram&, const Plan&, const Hardware&);

// The same, with kernels on matrix units where `distribute` says how, by warps; and by warpgroups as well
// where the machine has that, launched where device and arrays allow. What is otherwise has a note that says why.
enum class CudaPath : std::uint8_t { reference, warps, tensor };
// Beside them NAME_torch.cpp and NAME_torch.py, which make them torch.ops.napkin.NAME. NAME_torch.py also loads the
// operator of a `gradient`, where one is named, and is built with NAME_autograd.cpp.
enum class CudaBinding : std::uint8_t { none, torch };
struct EmittedCode {
  std::vector<EmittedFile> files;
  std::vector<std::string> notes;
};
EmittedCode emit_cuda(const Diagram&, const Plan&, const Hardware&, CudaPath, CudaBinding = CudaBinding::none,
                      const std::string& gradient = "");

// What keeps a diagram from being the gradient of another, complete as a sentence without its full stop.
struct NoGradient {
  std::string reason;
};
// NAME_autograd.cpp, which makes torch.ops.napkin.GRADIENT the backward pass of torch.ops.napkin.NAME. Both diagrams
// are as their files have them. The gradient may read inputs and outputs of the other, and `dO` for its output O, and
// gives `dX` for inputs X.
std::variant<EmittedFile, NoGradient> torch_autograd(const Diagram&, const std::string& name, const Diagram& gradient,
                                                     const std::string& gradient_name);

// The same in portable C++20: NAME.cpp and NAME.h with a C interface, napkin_numbers.hpp, NAME_harness.cpp and
// CMakeLists.txt. Every axis of the diagram needs a size: one that the plan leaves whole may later be that long at
// most.
std::vector<EmittedFile> emit_cpp(const Diagram&, const Plan&, const Hardware&);

}  // namespace napkin
