// Tests that search or compile for minutes take some of their cases in turn.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace napkin::test {

// Whether they take all of them.
inline bool takes_every_case() { return std::getenv("NAPKIN_EVERY") != nullptr; }
// Whether a case is left out, where one of so many is taken.
inline bool left_out(std::size_t turn, std::size_t of = 2) { return turn % of != 0 && !takes_every_case(); }

}  // namespace napkin::test
