// One of the two kernels into which a kernel is divided or parted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "derive/streams/divide.hpp"
#include "search/plans/likeness.hpp"

namespace napkin {

struct Half {
  std::shared_ptr<const Derivation> derivation;
  Likeness alike;
  double least_s = 0;            // lower bound of its time
  std::optional<Space> space{};  // made when it is first searched
};
Half half(const Diagram&, const std::vector<StatementId>&, const Hardware&, const Goal&);
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
