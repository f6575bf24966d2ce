// One kernel of a plan as functions in C++.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/shared/names.hpp"
#include "napkin/emit.hpp"
#include "napkin/loops.hpp"

namespace napkin {

struct CppKernel {
  std::string name;
  std::string text;
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::vector<Traced> origins;            // of lines of the text
};
CppKernel cpp_kernel(const LoopNest&, const Hardware&, const CodeNames&, const std::string& name);

}  // namespace napkin
