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
  std::size_t top = 1;     // how many of the best to return
  bool divide = true;      // may divide streamed axes among cores that would be idle
  bool chunks = true;      // may compute prefixes in chunks of their axes; sizes must be those of the file
  std::int64_t chunk = 0;  // length of these chunks; 0: the best length, or no chunks
  bool orders = true;      // may contract products of many factors in other orders, for the sizes of the file
  double patience = 1;     // multiplies the number of partitions that a search evaluates before it gives up
  // Bound of the objective: a plan that is worse is of no use, and partitions that can only be worse are skipped.
  double within = std::numeric_limits<double>::infinity();
  // The partition that a person wrote, already legal. The levels that it names stay as written: an axis that it does
  // not name at one of them is whole there. The search splits only levels deeper than all of these.
  Partition fixed = {};
  // After a stop is requested the search ends within moments, and its result is of no use.
  std::stop_token stop = {};
};

struct Candidate {
  Kernel kernel;
  KernelCost cost;
};

// The best candidates, best first. Ties are broken by transfers, then memory, then the partition itself, so that equal
// input gives equal output. If `best` is empty, nothing fits, and `nearest` is the candidate that is closest to
// fitting, with its overruns.
struct Found {
  std::vector<Candidate> best;
  std::optional<Candidate> nearest;
  std::int64_t candidates = 0;  // size of the stated space
  std::int64_t evaluated = 0;
  bool optimal = false;  // no legal partition of the stated space is better
  std::string space;     // the stated space in words
};
Found search(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);

// The saving by fusion: the statements of one kernel compared with one kernel for each of them, each the best that a
// short search finds. If several kernels compute a statement, its cost alone counts for the first of them.
struct Saved {
  struct Array {
    std::string array;       // not moved through the outermost memory any more, or less often
    std::int64_t bytes = 0;  // saved there
  };
  std::size_t kernel = 0;  // index into the plan
  std::vector<Array> arrays;
  std::int64_t bytes_apart = 0, bytes = 0;  // between the outermost memory and the next level, of all arrays
  std::optional<double> time_apart_s, time_s;
};

// A kernel with fewer blocks than cores (or a run of consecutive kernels, one of which has fewer), divided along a
// streamed axis. The parts save their states, and the next kernels merge them.
struct AxisDivision {
  std::size_t kernel = 0;  // index into the plan
  std::size_t merges = 1;  // kernels after it that merge: several where one of all states would not run in rows
  bool has(std::size_t k) const { return kernel <= k && k <= kernel + merges; }
  std::string axis;
  std::int64_t parts = 1;
  std::int64_t blocks_divided = 0, blocks = 0, cores = 0;  // blocks of the parts, and undivided
  double groups = 0;  // positions that groups could split without the division, computing nothing twice
  double time_undivided_s = 0, time_s = 0;
  std::vector<std::string> statements{};  // of these kernels, by their arrays before the division
  WireId wire{}, part{}, inside{};        // the axis, the index of a part, and the position in a part
};

// A product of many factors that is contracted in another order than the file's because the plan is better. Operations
// and times are those of the two plans compared.
struct OrderTaken {
  std::string statement, factors;  // name of the statement's array; "Q * K * V"
  std::vector<std::string> made;   // arrays that the order adds
  std::vector<std::string> met;    // existing arrays that it reads instead of computing them again
  double operations_before = 0, operations = 0;
  std::optional<double> time_before_s, time_s;
};
// An order that a rounding forbids although the plan would be better with it.
struct OrderRefused {
  std::string statement;
  std::vector<std::string> rounded;  // "T to f16"
  double operations_before = 0, operations = 0;
  std::optional<double> time_before_s, time_s;
};

// A diagram cut into kernels.
struct FoundPlan {
  Diagram diagram;  // of the kernels: the given one, or that with products in another order, sweeps in statements of
                    // their own, prefixes in chunks, or kernels divided
  Diagram ordered;  // the given one, with its products in the orders of `orders`
  std::vector<OrderTaken> orders;
  std::vector<OrderRefused> refused_orders;
  std::vector<Swept> swept;               // statements that fit only as several sweeps
  std::vector<PrefixReduction> prefixes;  // computed in chunks
  std::vector<AxisDivision> divisions;
  Plan plan;
  Cost cost;
  std::vector<Found> kernels;  // in the order of plan.kernels
  std::int64_t candidates = 0, evaluated = 0;
  std::int64_t cuts = 0;      // the number of different kernels in all legal cuts
  bool optimal = false;       // no legal cut of the stated space is better
  std::string space;          // the legal cuts, in words
  std::optional<double> gap;  // if it is not proven: the share of the objective that a better cut could save at most
  std::optional<Cost> apart;  // with one kernel for each statement; none if one of them does not fit
  std::vector<Saved> saved;   // for every kernel of several statements; empty without `apart`
};
FoundPlan search(const Diagram&, const Hardware&, const Goal&);

// Sets plan.instead: for each kernel of warpgroups, the kernel of single warps that can replace it.
void plan_instead(Plan&, const Hardware&);

// How the children of joined memories share a diagram. Apart: nothing crosses. Gathered: each has all shared data
// before the first step. Rotated: shared data moves from one child to the next while they compute on the pieces that
// they have. Merged: each reduces a part, and another kernel merges the states.
enum class Sharing : std::uint8_t { apart, gathered, rotated, merged };
std::string_view name(Sharing);
struct Shared {
  Sharing how = Sharing::apart;
  std::string labels;               // labels of the level, as `--partition` takes them
  std::int64_t crossing_bytes = 0;  // from one child to another
  double crossing_s = 0;            // if nothing else ran meanwhile
  double time_s = 0;                // of all kernels
};
// The fastest of each kind, fastest first, for the diagram as one kernel with an equal part for each child. Empty if no
// memories are joined, or if the goal is not the time in the model of the machine.
std::vector<Shared> share(const Diagram&, const Hardware&, const Goal&);

// The slow twin of search: evaluates every partition of the same space.
Found search_exhaustively(std::shared_ptr<const Derivation>, const Hardware&, const Goal&);
// The slow twin for cuts: tries all cuts, with a search for each kernel. Returns the objective of the best one and its
// transfers at the outermost level; none if none fits. For a few statements only.
std::optional<std::pair<double, double>> search_all_cuts(const Diagram&, const Hardware&, const Goal&);

}  // namespace napkin
