// The header that emitted C++ includes: number formats, buffers and the few functions that must vectorise.
#pragma once

#include <string_view>

namespace napkin {

extern const std::string_view cpp_numbers;  // the text of napkin_numbers.hpp

}  // namespace napkin
