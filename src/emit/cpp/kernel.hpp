// One kernel of a plan as C++ functions.
#pragma once

#include <string>

#include "emit/shared/page.hpp"
#include "napkin/hardware.hpp"

namespace napkin {

PrintedKernel cpp_kernel(const LoopNest&, const Hardware&, const CodeNames&, const std::string& name);

}  // namespace napkin
