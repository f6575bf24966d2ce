// A short name for a long text: equal texts have equal ones, and others almost surely have others.
#pragma once

#include <string>
#include <string_view>

namespace napkin {

// 64 bits as 16 hexadecimal digits, the same on every machine (FNV-1a).
std::string fingerprint(std::string_view text);

}  // namespace napkin
