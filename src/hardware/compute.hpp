// What a machine computes with: the map `compute` of a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/reader.hpp"

namespace napkin::profile {

// After levels and core are known.
void read_compute(Reader&, const Node&, const std::string& path);
// A positive decimal number without a leading zero.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace napkin::profile
