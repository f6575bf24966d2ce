// One of the two kernels that another one becomes.
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
  double least_s = 0;            // that it takes at least
  std::optional<Space> space{};  // once it is searched
};
Half half(const Diagram&, const std::vector<StatementId>&, const Hardware&, const Goal&);
const Space& space(Half&, const Hardware&, const Goal&);

// Of a division into so many parts of a wire; none where there is no such division.
struct Halves {
  Divided divided;
  Half partial, merging;
};
std::optional<Halves> halves(const Diagram&, const Derivation& fused, WireId, std::int64_t parts, const Hardware&,
                             const Goal&);

// The plan and its cost, of the best of every kernel that was found.
void take_best(FoundPlan&);

}  // namespace napkin
