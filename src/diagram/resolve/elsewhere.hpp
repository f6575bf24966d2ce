// Functions of other languages, and what a diagram writes instead.
#pragma once

#include <string>
#include <string_view>

namespace napkin {

// The help for a call of `name`; empty where no other language is known to have it, or nothing can stand for it.
std::string written_instead(std::string_view name);

}  // namespace napkin
