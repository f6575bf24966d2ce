// Kernels in C++ of many cases as one program, each in a namespace of its own, so that the compiler starts once.
#pragma once

#include <string>
#include <vector>

#include "support/kernel_cases.hpp"

namespace cpp_program {

struct Built {
  kernel_cases::Case given;
  napkin::Diagram diagram;
  std::string text, dispatch;  // its part of a program, and of that program's main
};

// The files of a case, written. A plan that does not fit the target is one of an H100.
Built build(const kernel_cases::Case&, const std::string& target, const napkin::Overrides& sizes);
Built build(const kernel_cases::Case&, const kernel_cases::Planned&);

// All of them in one program: `program NAME drive IN OUT SIZE...`, with what was refused as its status and 4 where
// outputs were written all the same, or `program NAME axis=size...`. Gives its folder.
std::string compile(const std::vector<Built>&, const std::string& program, const std::string& options);

}  // namespace cpp_program
