// Whether a vector contains a value.
#pragma once

#include <algorithm>
#include <vector>

namespace napkin {

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace napkin
