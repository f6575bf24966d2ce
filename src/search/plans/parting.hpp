// A plan with one of its kernels as two.
#pragma once

#include <optional>
#include <vector>

#include "search/plans/half.hpp"
#include "search/plans/likeness.hpp"

namespace napkin {

// The same plan with one kernel of several statements as two: divisions of either may save more than fusing them did.
class Parting {
 public:
  Parting(const FoundPlan& whole, const Hardware& hardware, const Goal& goal, Searched& searched)
      : whole_(whole), hardware_(hardware), goal_(goal), searched_(searched) {}

  // Of statements `at` and later of the kernel the second kernel is made. None where the two take at least so long that
  // the plan takes `most_s` seconds, or where they do not fit.
  std::optional<FoundPlan> part(std::size_t kernel, std::size_t at, double most_s) const;
  // No other kernel computes a statement of it as well.
  bool is_alone(std::size_t kernel) const;

 private:
  Found searched(const Half&) const;
  FoundPlan with(std::size_t kernel, std::vector<Found> both) const;

  const FoundPlan& whole_;
  const Hardware& hardware_;
  const Goal& goal_;
  Searched& searched_;
};

}  // namespace napkin
