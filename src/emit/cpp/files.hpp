// The C++ files of a plan: interface, kernels, and a program that checks and times them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/cpp/kernel.hpp"
#include "emit/shared/interface.hpp"

namespace napkin {

struct CppPlan : CodePlan {
  const Plan& plan;
  std::vector<PrintedKernel> kernels;      // in launch order
  std::optional<double> predicted_time_s;  // at the planned sizes
  std::string target;
};

std::string cpp_header(const CppPlan&);
EmittedText cpp_source(const CppPlan&);
std::string cpp_harness(const CppPlan&);
std::string cpp_build_file(const CppPlan&);  // CMakeLists.txt

}  // namespace napkin
