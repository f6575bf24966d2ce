// Instructions as functions of CUDA C++ with a line of PTX each.
#pragma once

#include <string>
#include <string_view>

namespace napkin::instruction_text {

// "{%0, %1}", operands from `first` on.
std::string operands(int first, int count);
// "\"=r\"(to[0]), ..."
std::string bound(std::string_view constraint, std::string_view name, int count);

// Those of compute capability 9.0, as many as the text uses.
std::string of_teams(std::string_view used_in);
std::string of_stores(std::string_view used_in);

}  // namespace napkin::instruction_text
