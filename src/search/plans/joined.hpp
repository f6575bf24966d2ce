// Joins the plans of consecutive runs of statements.
#pragma once

#include <vector>

#include "search/cuts/prices.hpp"

namespace napkin {

// A plan of some statements, its price, and a lower bound of the price of every such plan.
struct PlannedCut {
  FoundPlan found;
  Price price, least;
  std::size_t statements = 0;
};

class Joined {
 public:
  void add(PlannedCut run);
  std::int64_t evaluated() const { return all_.found.evaluated; }
  PlannedCut take();

 private:
  void compare(const FoundPlan& found, std::size_t statements);

  PlannedCut all_;
  std::vector<KernelCost> costs_, apart_;
  bool any_fused_ = false, comparable_ = true;
};

}  // namespace napkin
