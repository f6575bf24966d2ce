// A plan with one of its kernels replaced by two.
#pragma once

#include <optional>
#include <vector>

#include "search/plans/half.hpp"
#include "search/plans/likeness.hpp"

namespace napkin {

// The same plan with one kernel of several statements replaced by two. Divisions of these may save more than the
// fusion.
class Parting {
 public:
  Parting(const FoundPlan& whole, const Hardware& hardware, const Goal& goal, Searched& searched)
      : whole_(whole), hardware_(hardware), goal_(goal), searched_(searched), least_(whole.diagram, hardware, goal) {}

  // The second kernel gets the statements from index `at` on. None if even the smaller of their lower bounds
  // makes the plan take `most_s` seconds or longer, or if they do not fit.
  std::optional<FoundPlan> part(std::size_t kernel, std::size_t at, double most_s) const;
  // True if no other kernel computes one of its statements too.
  bool is_alone(std::size_t kernel) const;

 private:
  Found searched(Half&) const;
  FoundPlan with(std::size_t kernel, std::vector<Found> both) const;
  std::size_t after_producers(const Found& half, std::size_t kernel) const;

  const FoundPlan& whole_;
  const Hardware& hardware_;
  const Goal& goal_;
  Searched& searched_;
  LeastPrices least_;
};

}  // namespace napkin
