// A diagnostic of a profile, in the order a person tells it: what, where, what to do, and what else to look at.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "napkin/text.hpp"

namespace napkin::profile {

inline Diagnostic problem(std::string_view code, std::string message, Span span, std::string help = "",
                          std::vector<Label> others = {}) {
  return {code, std::move(message), span, "", std::move(others), {}, std::move(help)};
}

}  // namespace napkin::profile
