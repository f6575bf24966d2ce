// The values of a box of an array, and the positions of the box.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "loops/pieces.hpp"

namespace napkin {

// The present contents of a buffer: the values of one box of its array.
struct Tile {
  std::vector<Interval> box;
  std::vector<double> values;

  explicit Tile(std::vector<Interval> where) : box(std::move(where)) {
    std::size_t size = 1;
    for (const auto& side : box) size *= static_cast<std::size_t>(side.length());
    values.assign(size, std::numeric_limits<double>::quiet_NaN());  // none yet
  }
  std::size_t index(const std::vector<std::int64_t>& at) const {
    std::size_t flat = 0;
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (at[i] < box[i].begin || at[i] >= box[i].end) throw std::logic_error("a nest reaches outside of a buffer");
      flat = flat * static_cast<std::size_t>(box[i].length()) + static_cast<std::size_t>(at[i] - box[i].begin);
    }
    return flat;
  }
};

// Calls `visit` for every position of a box, last dimension fastest.
template <class Visit>
void for_each(const std::vector<Interval>& box, Visit visit) {
  std::vector<std::int64_t> at;
  for (const auto& side : box) {
    if (side.length() <= 0) return;
    at.push_back(side.begin);
  }
  while (true) {
    visit(at);
    auto i = box.size();
    while (i > 0 && ++at[i - 1] == box[i - 1].end) --i, at[i] = box[i].begin;
    if (i == 0) return;
  }
}

}  // namespace napkin
