// Verification: a plan run on numbers of many kinds, against the plain meaning and against its own prediction.
//
// The loop nests of all kernels run one after another and pass their arrays on. What they give, in exact arithmetic
// and in the formats that kernels compute in, is compared with what the statements mean; what they move, hold and
// compute, counted one by one, with what was predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// Kinds of numbers to run on. What an algorithm gets wrong it gets wrong on some of them.
enum class Numbers : std::uint8_t {
  ordinary,       // between -1 and 1, small integers; masks true for about their density (else half)
  offset,         // far from zero, so that few digits are left for the differences
  outlier_first,  // ordinary, and large numbers among the first along an axis
  outlier_last,   // and among the last
  alternating,    // the next one of every number has the other sign
  constant,       // one number for each array, masks all true
  masked,         // every second row of a mask holds nothing
  huge,           // most squares are beyond the range
  tiny,           // and below it
};
std::string_view name(Numbers);
inline constexpr Numbers all_numbers[] = {Numbers::ordinary,     Numbers::offset,      Numbers::outlier_first,
                                          Numbers::outlier_last, Numbers::alternating, Numbers::constant,
                                          Numbers::masked,       Numbers::huge,        Numbers::tiny};

// Inputs of that kind, rounded to their types. Equal seeds give equal numbers everywhere.
Values random_values(const Diagram&, std::uint64_t seed, Numbers = Numbers::ordinary);

// Of all values of an output, on all data and at all sizes, the one farthest beyond what it may differ from its
// meaning, or nearest to that.
struct VerifiedOutput {
  std::string array;
  double error = 0;     // its difference from the meaning, absolute
  double relative = 0;  // that over the largest value that the array was to have there
  double allowed = 0;   // of `error`; docs/theory.md, verification
  Numbers numbers = Numbers::ordinary;
  std::vector<std::int64_t> sizes{};  // by axis
  bool right() const { return error <= allowed; }
};
struct VerifiedLevel {
  std::size_t level = 1;
  Count::At predicted, counted;
  bool matches = true;  // all four numbers
  bool fits = true;     // what was counted, in
  double room = 0;      // of all that hold a piece together, in bytes or values as the level counts
};
struct VerifiedKernel {
  std::string name{};  // instead of its statements, where nobody wrote those
  std::vector<std::string> statements;
  Partition partition;
  std::vector<VerifiedLevel> levels;
  double predicted_operations = 0, counted_operations = 0;
};
struct Verification {
  Diagram diagram;  // at the sizes that were run
  Hardware hardware;
  std::vector<VerifiedKernel> kernels;
  std::vector<VerifiedOutput> outputs;            // computed in the formats of the kernels
  std::vector<VerifiedOutput> exact;              // without any rounding
  std::vector<std::vector<std::int64_t>> others;  // sizes, by axis, at which the same pieces were run too
  std::vector<std::string> faults;                // of nests that could not be run there
  bool ok = true;
};

// `predicted` is the cost of the same plan, `estimate(plan, hardware, ...)`. Every axis needs a size, and all of them
// should be small. Where the plan's diagram was made of another one, by dividing axes or taking statements apart, that
// one is the `source`, whose statements say what is meant; its arrays and axes are found by their names.
Verification verify_plan(const Diagram&, const Plan&, const Cost& predicted, const Hardware&,
                         std::span<const Numbers> = all_numbers, const Diagram* source = nullptr);

}  // namespace napkin
