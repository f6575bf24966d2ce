// Regions: where masks leave pieces out, what is moved and done is a sum over the pieces that are left.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loops/pieces.hpp"

namespace napkin {

// Pieces of some wires together, those that are passed over left out.
struct Region {
  // Asked of the pieces that the first `depths` splits of each wire leave, by wire of the region.
  struct Test {
    std::vector<Condition> conditions;
    std::vector<std::size_t> depths;
    bool operator==(const Test&) const = default;
  };
  // Pieces that are run; of those, pieces with a mask to test, or without one.
  enum class Part { run, masked, open };

  std::vector<WireId> wires;
  std::vector<std::size_t> cuts;        // of each wire, all splits
  std::vector<bool> measured;           // a piece counts with its length; else once
  std::vector<std::size_t> footprints;  // each piece counts with these as well
  std::vector<Test> needs;              // of the loops around: each must hold somewhere
  Test open;                            // where all hold everywhere, no mask is tested
  Part part = Part::run;
  bool operator==(const Region&) const = default;
};

// A wire and the nested sizes that it is cut into, the outermost first.
struct Cutting {
  std::int64_t extent = 0;
  std::vector<std::int64_t> sizes{};
};

// What a piece counts with, and by wire of the region whether that depends on its piece.
struct Footprints {
  std::function<std::int64_t(const Intervals&)> of;
  std::vector<bool> shaped;
  bool even = false;  // it depends on the lengths of pieces alone
};

// The sum over all pieces that belong to the region; cuttings by wire of the region. A piece counts with the product of
// `factors`, one for each of the region's footprints.
std::int64_t sum(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                 const std::vector<Footprints>& factors);
// The same of a region no wires of which are independent of the others; with one factor for all footprints.
std::int64_t sum_tied(const Region&, const std::vector<Cutting>&, std::size_t number_of_wires,
                      const Footprints& factor);
// The factor of pieces that have all of these factors, of `wires` wires; 1 if there is none.
Footprints product_of(std::vector<Footprints> factors, std::size_t wires);

}  // namespace napkin
