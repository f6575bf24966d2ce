// A hash map with sizes of pieces as keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace napkin {

// A hash map whose keys are sequences of sizes of equal length. Keys are stored contiguously, so that a new key needs
// no allocation of its own.
template <class Value>
class BySizes {
 public:
  // The value of these sizes, and whether it is new. The pointer is valid until the next call. All calls must have the
  // same number of sizes.
  std::pair<Value*, bool> at(std::span<const std::int64_t> sizes) {
    if (2 * (values_.size() + 1) > places_.size()) grow(sizes.size());
    auto& place = places_[find(sizes)];
    const bool fresh = place == 0;
    if (fresh) {
      keys_.insert(keys_.end(), sizes.begin(), sizes.end());
      values_.emplace_back();
      place = static_cast<std::uint32_t>(values_.size());
    }
    return {&values_[place - 1], fresh};
  }

 private:
  // The slot of a key, or the empty slot for it.
  std::size_t find(std::span<const std::int64_t> sizes) const {
    const auto mask = places_.size() - 1;
    auto at = hash(sizes) & mask;
    while (places_[at] != 0 && !std::ranges::equal(sizes, key(places_[at] - 1, sizes.size()))) at = (at + 1) & mask;
    return at;
  }
  std::span<const std::int64_t> key(std::size_t value, std::size_t length) const {
    return std::span(keys_).subspan(value * length, length);
  }
  void grow(std::size_t length) {
    places_.assign(std::max<std::size_t>(16, 4 * places_.size()), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) places_[find(key(i, length))] = static_cast<std::uint32_t>(i + 1);
  }
  static std::size_t hash(std::span<const std::int64_t> sizes) {
    std::uint64_t all = sizes.size();
    for (const auto size : sizes) {
      all = (all ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15;
      all ^= all >> 32;
    }
    return static_cast<std::size_t>(all);
  }

  std::vector<std::int64_t> keys_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> places_;  // indices into the values, counted from 1; 0 for an empty slot
};

}  // namespace napkin
