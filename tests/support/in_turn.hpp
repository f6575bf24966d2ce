// Tests that search or compile for minutes run every second or third of their cases, unless NAPKIN_EVERY is set.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace napkin::test {

inline bool takes_every_case() { return std::getenv("NAPKIN_EVERY") != nullptr; }
// Whether the case of that number is left out where one of `of` runs.
inline bool left_out(std::size_t turn, std::size_t of = 2) { return turn % of != 0 && !takes_every_case(); }
// Those of some cases that run.
template <class Case>
std::vector<Case> some_of(const std::vector<Case>& all, std::size_t of = 2) {
  std::vector<Case> some;
  for (std::size_t turn = 0; turn < all.size(); ++turn)
    if (!left_out(turn, of)) some.push_back(all[turn]);
  return some;
}

}  // namespace napkin::test
