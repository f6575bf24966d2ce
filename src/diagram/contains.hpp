// Whether one is among all of them.
#pragma once

#include <algorithm>
#include <vector>

namespace napkin {

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace napkin
