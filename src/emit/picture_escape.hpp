// Words as they may stand in pictures: nothing that a name holds is taken for markup.
#pragma once

#include <string>
#include <string_view>

namespace napkin {

std::string xml(std::string_view text);
std::string tex(std::string_view text);

}  // namespace napkin
