// Search: the best partition of a kernel, and the best cut of a diagram into kernels, for one machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

enum class Objective { time, transfers, energy };

struct Goal {
  Objective objective = Objective::time;
  Model model = Model::machine;
  std::size_t top = 1;  // how many of the best to keep
  // What a person wrote, already legal: the levels that it names stay as written (an axis that it does not name there
  // is whole there); the search splits only levels deeper than all of those, and proposes nothing for the others.
  Partition fixed;
};

struct Candidate {
  Kernel kernel;
  KernelCost cost;
};

// Best first; ties broken by transfers, then memory, then the partition itself, so that equal input gives equal
// output. Empty `best` means that nothing fits: `nearest` then is the candidate that comes closest, with its
// overruns.
struct Found {
  std::vector<Candidate> best;
  std::optional<Candidate> nearest;
  std::int64_t candidates = 0;  // size of the stated space
  std::int64_t evaluated = 0;
  bool optimal = false;  // no legal partition of the stated space is better
  std::string space;     // the stated space in words
};
Found search(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);

// A diagram cut into kernels.
struct FoundPlan {
  Plan plan;
  Cost cost;
  std::vector<Found> kernels;  // in the order of plan.kernels
  std::int64_t candidates = 0, evaluated = 0;
  bool optimal = false;
};
FoundPlan search(const Diagram&, const Hardware&, const Goal&);

// The slow twin: evaluates every partition of the same space.
Found search_exhaustively(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);

}  // namespace napkin
