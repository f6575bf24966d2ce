// The functions that kernels on matrix units call.
#pragma once

#include <string>

namespace napkin {

// Definitions of the functions of such kernels that the text uses.
std::string warp_definitions(const std::string& used_in);

}  // namespace napkin
