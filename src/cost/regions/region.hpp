// Regions: if masks exclude pieces, transfers and operations are sums over the remaining pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loops/pieces.hpp"

namespace napkin {

// The combinations of pieces of some wires, without those that masks exclude.
struct Region {
  // A test of the pieces after the first `depths` splits of each wire, by wire of the region.
  struct Test {
    std::vector<Condition> conditions;
    std::vector<std::size_t> depths;
    bool operator==(const Test&) const = default;
  };
  // The pieces that run; those of them that test a mask, or that do not.
  enum class Part { run, masked, open };

  std::vector<WireId> wires;
  std::vector<std::size_t> cuts;        // of each wire, all splits
  std::vector<bool> measured;           // by wire: the length of a piece is a factor of the sum
  std::vector<std::size_t> footprints;  // the footprints of a piece, which are factors too
  std::vector<Test> needs;              // of the loops around: each must hold somewhere on a piece
  Test open;                            // if all of its conditions hold everywhere on a piece, no mask is tested
  Part part = Part::run;
  bool operator==(const Region&) const = default;
};

// The size of a wire, and the nested sizes that cut it, outermost first.
struct Cutting {
  std::int64_t extent = 0;
  std::vector<std::int64_t> sizes{};
};

// A factor of the pieces in a sum.
struct Footprints {
  std::function<std::int64_t(const Intervals&)> of;
  std::vector<bool> shaped;  // by wire of the region: the factor depends on its piece
  bool even = false;         // the factor depends only on the lengths of pieces
};

// The sum over all pieces that belong to the region; cuttings are by wire of the region. A piece counts with the
// product of `factors`, one for each of the region's footprints.
std::int64_t sum(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                 const std::vector<Footprints>& factors);
// The same for a region whose wires are all connected, with one factor for all footprints.
std::int64_t sum_tied(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                      const Footprints& factor);
// The product of all these factors, for `wires` wires; 1 if there are none.
Footprints product_of(std::vector<Footprints> factors, std::size_t wires);

}  // namespace napkin
