// Verification: a plan run on random numbers, against the plain meaning and against its own prediction.
//
// The loop nests of all kernels run one after another and pass their arrays on. What they give is compared with what
// the statements mean, and what they move, hold and compute, counted one by one, with what was predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

// A plan at sizes at which it can be run: smaller axes and smaller pieces, ragged at the end and several of each
// where the plan has several. Axes of `kept`, and their pieces, stay as planned where they are small enough. Every
// index stays inside its array. Its kernels know no density of a mask: predicted is then what all pieces together move
// and compute, as it is counted, since what is expected of random masks cannot be.
struct Shrunk {
  Diagram diagram;
  Plan plan;
};
Shrunk shrink(const Diagram&, const Plan&, const Hardware&, std::vector<AxisId> kept);

// Numbers between -1 and 1 rounded to their type, small integers, masks true for about their density (else half).
// Equal seeds give equal numbers everywhere.
Values random_values(const Diagram&, std::uint64_t seed);

struct VerifiedOutput {
  std::string array;
  double error = 0;     // the largest difference, absolute
  double relative = 0;  // that over the largest value of the array
  double allowed = 0;   // of `error`; docs/theory.md, verification
};
struct VerifiedLevel {
  std::size_t level = 1;
  Count::At predicted, counted;
  bool matches = true;  // all four numbers
  bool fits = true;     // what was counted, in
  double room = 0;      // of all that hold a piece together, in bytes or values as the level counts
};
struct VerifiedKernel {
  std::vector<std::string> statements;
  Partition partition;
  std::vector<VerifiedLevel> levels;
  double predicted_operations = 0, counted_operations = 0;
};
struct Verification {
  Diagram diagram;  // at the sizes that were run
  Hardware hardware;
  std::vector<VerifiedKernel> kernels;
  std::vector<VerifiedOutput> outputs;
  bool ok = true;
};

// `predicted` is the cost of the same plan, `estimate(plan, hardware, ...)`. Every axis needs a size, and all of them
// should be small.
Verification verify_plan(const Diagram&, const Plan&, const Cost& predicted, const Hardware&);

}  // namespace napkin
