// One of the two kernels into which a kernel is divided or parted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "derive/streams/divide.hpp"
#include "search/cuts/prices.hpp"
#include "search/plans/likeness.hpp"

namespace napkin {

struct Half {
  Cut cut;
  double least_s = 0;  // lower bound of its time
  // Made when it is first searched, because the lower bound rules out most halves.
  std::shared_ptr<const Derivation> derivation{};
  Likeness alike{};
  std::optional<Space> space{};
};
Half half(const Diagram&, const std::vector<StatementId>&, const LeastPrices&);
// Derives a half of this diagram, unless that was done before.
void derive_half(Half&, const Diagram&, const Hardware&);
const Space& space(Half&, const Hardware&, const Goal&);

// The two kernels of a division of a wire into `parts`; none if there is no such division.
struct Halves {
  Divided divided;
  Half partial, merging;
};
std::optional<Halves> halves(const Diagram&, const Derivation& fused, WireId, std::int64_t parts, const Hardware&,
                             const Goal&);

// Sets the plan and its cost from the best candidate of every kernel in it.
void take_best(FoundPlan&);

}  // namespace napkin
