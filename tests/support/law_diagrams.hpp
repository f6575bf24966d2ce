// How many random diagrams a law is asked of.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "support/sanitized.hpp"

namespace napkin::testing {

// More of them by the environment, for a long run by hand: NAPKIN_LAW_DIAGRAMS=100000.
inline std::uint32_t law_diagrams() {
  const char* asked = std::getenv("NAPKIN_LAW_DIAGRAMS");
  return asked ? static_cast<std::uint32_t>(std::stoul(asked)) : test::sanitized ? 300 : 2000;
}

}  // namespace napkin::testing
