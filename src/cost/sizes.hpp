// Sizes of pieces as keys.
#pragma once

#include <cstdint>
#include <span>

namespace napkin {

struct HashOfSizes {
  std::size_t operator()(std::span<const std::int64_t> sizes) const {
    std::uint64_t all = sizes.size();
    for (const auto size : sizes) {
      all = (all ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15;
      all ^= all >> 32;
    }
    return static_cast<std::size_t>(all);
  }
};

}  // namespace napkin
