// Functions of other languages, and how a diagram expresses them.
#pragma once

#include <string>
#include <string_view>

namespace napkin {

// The help for a call of `name`; empty if no other language is known to have it, or if the language cannot express it.
std::string written_instead(std::string_view name);

}  // namespace napkin
