// Instructions as functions of CUDA C++ with a line of PTX each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace napkin::instruction_text {

// Products of f8 after which a sum goes over into f32. Matrix units keep about 14 bits of a sum of them on Hopper,
// where DeepSeek-V3 takes 128 (arXiv 2412.19437, 3.3.2), and 22 on Ada (SageAttention2, arXiv 2411.10958).
constexpr std::int64_t promoted_f8 = 128;

// "{%0, %1}", operands from `first` on.
std::string operands(int first, int count);
// "\"=r\"(to[0]), ..."
std::string bound(std::string_view constraint, std::string_view name, int count);

// Those of compute capability 9.0, as many as the text uses.
std::string of_warpgroups(std::string_view used_in);
std::string of_stores(std::string_view used_in);

// Products in parts, which are made of instructions.
std::string of_parts(std::string_view used_in);

}  // namespace napkin::instruction_text
