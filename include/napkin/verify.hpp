// Verification runs a plan on many kinds of numbers and compares it with the definition and with its own prediction.
//
// The loop nests of all kernels run one after another and pass their arrays on. Their results, in exact arithmetic and
// in the formats that kernels compute in, are compared with those of the statements as defined. Their transfers, memory
// and operations, counted one by one, are compared with the prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

// A plan at sizes that are small enough to run. Axes and pieces are smaller; if the plan has several pieces of a split,
// there are still several, and the last one is ragged. Axes of `kept`, and their pieces, stay as planned if they are
// small enough. Every index stays inside its array. Masks have no density in it. The prediction then covers all pieces,
// and so does the count, because an expectation over random masks cannot be counted.
struct Shrunk {
  Diagram diagram;
  Plan plan;
};
Shrunk shrink(const Diagram&, const Plan&, const Hardware&, std::vector<AxisId> kept);

// Kinds of numbers to run on. Some errors of an algorithm show only on certain kinds.
enum class Numbers : std::uint8_t {
  ordinary,       // between -1 and 1, small integers; masks are true for about their density (half without one)
  offset,         // far from zero, so that few digits are left for the differences
  outlier_first,  // ordinary, and large numbers among the first along an axis
  outlier_last,   // the same among the last
  alternating,    // each number has the opposite sign of the one before it
  constant,       // one number for each array; masks are all true
  masked,         // every second row of a mask is empty
  huge,           // most squares are above the range
  tiny,           // most squares are below the range
};
std::string_view name(Numbers);
inline constexpr Numbers all_numbers[] = {Numbers::ordinary,     Numbers::offset,      Numbers::outlier_first,
                                          Numbers::outlier_last, Numbers::alternating, Numbers::constant,
                                          Numbers::masked,       Numbers::huge,        Numbers::tiny};

// Inputs of that kind, rounded to their types. Equal seeds give equal numbers everywhere.
Values random_values(const Diagram&, std::uint64_t seed, Numbers = Numbers::ordinary);

// The value of an output that uses most of its allowance, or exceeds it most, on all numbers and at all sizes.
struct VerifiedOutput {
  std::string array;
  double error = 0;     // absolute difference from the definition
  double relative = 0;  // `error` divided by the largest value that the array should have in that run
  double allowed = 0;   // the largest allowed `error`; docs/theory.md, verification
  Numbers numbers = Numbers::ordinary;
  std::vector<std::int64_t> sizes{};  // by axis
  bool right() const { return error <= allowed; }
};
struct VerifiedLevel {
  std::size_t level = 1;
  Count::At predicted, counted;
  bool matches = true;  // all four numbers are equal
  bool fits = true;     // the counted memory fits in `room`
  double room = 0;      // capacity of all children that hold a piece together, in bytes or values as the level counts
};
struct VerifiedKernel {
  std::string name{};  // shown in place of its statements, if these are not the user's own
  std::vector<std::string> statements;
  Partition partition;
  std::vector<VerifiedLevel> levels;
  double predicted_operations = 0, counted_operations = 0;
};
struct Verification {
  Diagram diagram;  // at the sizes of the run
  Hardware hardware;
  std::vector<VerifiedKernel> kernels;
  std::vector<VerifiedOutput> outputs;            // computed in the formats of the kernels
  std::vector<VerifiedOutput> exact;              // without any rounding
  std::vector<std::vector<std::int64_t>> others;  // other sizes, by axis, at which the same nests also ran
  std::vector<std::string> faults;                // errors of nests that could not run at those sizes
  bool ok = true;
};

// `predicted` is the cost of the same plan, `estimate(plan, hardware, ...)`. Every axis needs a size, and all sizes
// should be small. If the plan's diagram was made from another one, by dividing axes or splitting statements, that one
// is the `source` and its statements are the definition. Its arrays and axes are found by their names.
Verification verify_plan(const Diagram&, const Plan&, const Cost& predicted, const Hardware&,
                         std::span<const Numbers> = all_numbers, const Diagram* source = nullptr);

}  // namespace napkin
