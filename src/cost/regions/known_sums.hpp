// Sums over pieces that the models of several shapes have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cost/regions/by_sizes.hpp"
#include "cost/regions/region.hpp"

namespace napkin {

// Sums that the models of one thread have computed so far, by the sizes that cut a region. Two regions share their sums
// if they test the same conditions on the same wires, even if their shapes differ in other splits.
class KnownSums {
 public:
  using Sums = BySizes<std::int64_t>;
  struct Asked {
    Region region;                                                          // without its cuts and footprints
    std::vector<std::size_t> splits;                                        // by wire: the number of splits
    std::vector<std::int64_t> extents;                                      // by wire
    std::vector<std::vector<std::pair<Index, std::int64_t>>> footprints{};  // with the sizes of dimensions
    bool operator==(const Asked&) const = default;
  };
  std::shared_ptr<Sums> of(Asked);

 private:
  std::vector<std::pair<Asked, std::shared_ptr<Sums>>> all_;
};

}  // namespace napkin
