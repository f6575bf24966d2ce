// The text of a loop nest while it is walked, and the model that is made of it. The phases of make_cost_model() share
// it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "cost/model/places.hpp"
#include "loops/work.hpp"

namespace napkin {

struct Walked {
  // The conditions of a loop, and the loops down to it.
  struct Needs {
    std::vector<Condition> conditions;
    std::size_t level;
    std::vector<Split> loops;
  };

  CostModel& model;
  const Kernel& shape;
  const LoopNest& nest;
  const Hardware& hardware;
  Places places{model, shape.partition, nest};
  bool multiplies = has_contraction(*shape.derivation, hardware);

  // What stands around the statement that the walk has reached.
  std::vector<Split> loops{};
  std::vector<Needs> needs{};           // of these loops
  std::map<Asked, std::size_t> asks{};  // of the tests before in their bodies, to their shares

  // What the walk has found out for later phases.
  bool contracts = false;  // some column
  std::map<BufferId, std::vector<Split>> home{};
  std::set<BufferId> swept{};                     // carried state over which an inner loop runs
  std::map<const Compute*, std::size_t> depth{};  // loops around it

  const Diagram& diagram() const { return nest.scratch; }
  std::size_t leaf() const { return hardware.levels.size() - 1; }
};

}  // namespace napkin
