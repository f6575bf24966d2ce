// Search: the best partition of a kernel, and the best cut of a diagram into kernels, for one machine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

enum class Objective { time, transfers, energy };

struct Goal {
  Objective objective = Objective::time;
  Model model = Model::machine;
  std::size_t top = 1;     // how many of the best to keep
  bool divide = true;      // streamed axes among cores that would stand idle
  bool chunks = true;      // prefixes in chunks of their axes, whose sizes must be the file's own
  std::int64_t chunk = 0;  // their length; 0: whatever is best, or none
  bool orders = true;      // products of many factors in other orders, for the sizes of the file
  double patience = 1;     // how many times as many partitions a search looks at before it gives up
  // Of the objective: a plan that is worse than this is of no use, and what can only be worse is not looked at.
  double within = std::numeric_limits<double>::infinity();
  // What a person wrote, already legal: the levels that it names stay as written (an axis that it does not name there
  // is whole there); the search splits only levels deeper than all of those, and proposes nothing for the others.
  Partition fixed = {};
  // Once a stop is requested the search ends within moments; what it then returns is of no use.
  std::stop_token stop = {};
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

// What fusing the statements of one kernel saved against a kernel for each of them, the best that a short search finds.
// What a statement costs alone counts for the first kernel that computes it.
struct Saved {
  struct Array {
    std::string array;       // no longer goes through the outermost memory, or less often
    std::int64_t bytes = 0;  // that it moved there
  };
  std::size_t kernel = 0;  // index into the plan
  std::vector<Array> arrays;
  std::int64_t bytes_apart = 0, bytes = 0;  // between the outermost memory and the next, of all arrays
  std::optional<double> time_apart_s, time_s;
};

// A kernel with fewer blocks than there are cores, or neighbours one of which has, divided along an axis that it
// streams: the parts leave their states, and the next kernel merges them.
struct AxisDivision {
  std::size_t kernel = 0;  // index into the plan; the merging kernel is the next
  std::string axis;
  std::int64_t parts = 1;
  std::int64_t blocks_divided = 0, blocks = 0, cores = 0;  // blocks of the parts, and undivided
  double groups = 0;  // positions that could be grouped undivided, computing nothing twice
  double time_undivided_s = 0, time_s = 0;
  std::vector<std::string> statements{};  // of which the two kernels are, by the arrays that they made undivided
  WireId wire{}, part{}, inside{};        // the axis, which of its parts, and where in one
};

// A product of factors that is summed in another order than the file's, which makes the plan better. Operations and
// times are those of the plans that were compared.
struct OrderTaken {
  std::string statement, factors;  // by the name of its array; "Q * K * V"
  std::vector<std::string> made;   // arrays that the order adds
  std::vector<std::string> met;    // and those that it reads in place of computing them again
  double operations_before = 0, operations = 0;
  std::optional<double> time_before_s, time_s;
};
// An order that a rounding forbids, of a diagram whose plan would be better without it.
struct OrderRefused {
  std::string statement;
  std::vector<std::string> rounded;  // "T to f16"
  double operations_before = 0, operations = 0;
  std::optional<double> time_before_s, time_s;
};

// A diagram cut into kernels.
struct FoundPlan {
  Diagram diagram;  // what the kernels are of: the one asked about, or that with products in another order, sweeps
                    // apart, prefixes in chunks, or kernels divided
  Diagram ordered;  // the one asked about, with its products in the orders that were taken
  std::vector<OrderTaken> orders;
  std::vector<OrderRefused> refused_orders;
  std::vector<Swept> swept;               // statements that fit nowhere as one
  std::vector<PrefixReduction> prefixes;  // taken in chunks
  std::vector<AxisDivision> divisions;
  Plan plan;
  Cost cost;
  std::vector<Found> kernels;  // in the order of plan.kernels
  std::int64_t candidates = 0, evaluated = 0;
  std::int64_t cuts = 0;      // different kernels that the legal cuts consist of
  bool optimal = false;       // no legal cut of the stated space is better
  std::string space;          // the legal cuts, in words
  std::optional<double> gap;  // where it is not proven: the share of the objective that a better cut could save at most
  std::optional<Cost> apart;  // of one kernel for each statement; none where one of them does not fit
  std::vector<Saved> saved;   // of every kernel of several statements; empty without `apart`
};
FoundPlan search(const Diagram&, const Hardware&, const Goal&);

// Plans what single warps run in place of each kernel of warpgroups.
void plan_instead(Plan&, const Hardware&);

// How the children of joined memories share a diagram: nothing crosses; what all need is there before the first step,
// or goes around from one to the next while they work on what they have; or each has a part of what is reduced, and the
// states are merged by a kernel of their own.
enum class Sharing : std::uint8_t { apart, gathered, rotated, merged };
std::string_view name(Sharing);
struct Shared {
  Sharing how = Sharing::apart;
  std::string labels;               // of the level, as `--partition` takes them
  std::int64_t crossing_bytes = 0;  // from one child to another
  double crossing_s = 0;            // were nothing else done meanwhile
  double time_s = 0;                // of all kernels
};
// The fastest of each kind, the fastest first, of the diagram as one kernel in an equal part for each child. Empty
// where no memories are joined, or another goal than the time of the machine is asked for.
std::vector<Shared> share(const Diagram&, const Hardware&, const Goal&);

// The slow twin: evaluates every partition of the same space.
Found search_exhaustively(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);
// The slow twin of the cuts: the objective of the best of all of them and its transfers at the outermost level, each
// kernel searched; none where none fits. For a few statements only.
std::optional<std::pair<double, double>> search_all_cuts(const Diagram&, const Hardware&, const Goal&);

}  // namespace napkin
