// The best sizes for the splits of one shape: branch and bound, outermost level first.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/model.hpp"
#include "search/score.hpp"
#include "search/space.hpp"

namespace napkin {

struct Tally {
  std::int64_t evaluated = 0;  // partitions whose figures were computed whole
  std::int64_t budget = 0;     // of choices; spent when it falls below zero
};

class Branch {
 public:
  Branch(const Space&, const Kernel& shape, const CostModel&, const Scoring&, Leaders&, Tally&);
  // Offers all partitions of the shape that may be among the best.
  void run();
  // The same without a bound: every partition of the shape.
  void run_all();

 private:
  struct Free {
    std::size_t split;
    std::int64_t divisor;
    std::int64_t least, most;  // sizes that any choice of the others leaves
  };
  void descend(std::size_t depth);
  void choose(std::size_t depth, std::int64_t size);
  std::vector<std::int64_t> choices(const Free&) const;
  bool hopeless(std::size_t depth);
  bool fits_at(std::size_t depth, std::int64_t size);
  void narrow(std::size_t depth);
  Figures bound(std::size_t depth);
  void offer();
  std::size_t labels() const;

  const Space& space_;
  const Partition& shape_;
  const CostModel& model_;
  const Scoring& scoring_;
  Leaders& leaders_;
  Tally& tally_;
  bool bounded_ = true;
  std::vector<Free> free_;                   // in the order of their choice
  std::size_t awkward_ = 0;                  // so many first ones must be chosen before a bound holds
  std::size_t settled_ = 0;                  // after so many ones the number of blocks is known
  std::vector<std::int64_t> sizes_;          // chosen; by split
  std::vector<std::int64_t> large_, small_;  // chosen, or the largest and the smallest that may be
  Figures exact_, most_, least_;
};

}  // namespace napkin
