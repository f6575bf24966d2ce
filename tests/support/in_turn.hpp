// Tests that search or compile for minutes run every second or third of their cases, unless NAPKIN_EVERY is set.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace napkin::test {

inline bool takes_every_case() { return std::getenv("NAPKIN_EVERY") != nullptr; }
// Whether the case of that number is left out where one of `of` runs.
inline bool left_out(std::size_t turn, std::size_t of = 2) { return turn % of != 0 && !takes_every_case(); }

}  // namespace napkin::test
