// Cost: the transfers, memory, operations and time of a partition, level by level.
//
// H (transfers) and M (memory) follow docs/theory.md, transfers and memory, and are exact for ragged pieces. Counts are
// 64-bit and checked: a count beyond 63 bits is reported as overflow and never wraps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

enum class Model { machine, ideal };

struct ArrayCost {
  std::string array;  // an input or output of the kernel
  std::int64_t transfer_values = 0;
  std::int64_t transfer_bytes = 0;
  double times = 0;               // transferred values divided by the values of the array
  bool saved = false;             // else loaded
  Datatype type = Datatype::f32;  // format in which it is transferred
};
struct HeldArray {
  std::string array;
  std::int64_t values = 0, bytes = 0;
  Datatype type = Datatype::f32, stored = Datatype::f32;  // format at this level, and of the array in memory
};
struct LevelCost {
  std::size_t level = 1;
  std::int64_t transfer_values = 0, transfer_bytes = 0;  // between this level and its parent, whole launch
  // The part of the transfer that one child gets from another. Present if the level above consists of the joined
  // memories of these children.
  std::optional<std::int64_t> crossing_bytes = {};
  // The transfer in whole sectors, which determine its time. Present if the profile has the size of a sector.
  std::optional<std::int64_t> sector_bytes = {};
  // Exact: at the fullest instant, with temporaries and state. For the registers of a timed launch, those of one warp.
  std::int64_t memory_values = 0, memory_bytes = 0;
  std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;  // as in the paper: inputs, outputs, streamed tiles
  std::optional<double> capacity;                                // in bytes, or in values if the level counts values
  std::int64_t groups = 1;                                       // at this level, over the whole launch
  std::int64_t groups_per_parent = 1;
  std::int64_t together = 1;  // children that hold one piece together; `capacity` is that of all of them
  std::optional<double> ideal_time_s, time_s;
  std::vector<ArrayCost> arrays;
  std::vector<HeldArray> held;  // the arrays at the fullest instant, largest first
};
struct UnitCost {
  Unit unit = Unit::fma;
  double operations = 0;  // executed
  std::optional<double> ideal_time_s, time_s;
  double asked = 0;  // operations of the loop nest, in which a product in parts counts once
};

// A term of the least H over all sizes of pieces, to leading order: H* = sum of alpha * M^-beta.
struct ClosedTerm {
  std::string alpha;
  double alpha_value = 0;  // at the given sizes; 0 if symbolic sizes remain
  double beta = 0;
};
// The condition under which transfers keep up with operations: a kernel executes at least `operations_per_byte`
// operations for every byte that it moves.
struct Balance {
  Unit unit = Unit::fma;           // the slowest unit in the ideal model
  double operations_per_byte = 0;  // of the machine: the unit's rate over the bandwidth into the level
  // Least capacity of the level for axes of any length, in bytes, or in values if the level counts values.
  std::optional<double> least_room;
  struct AxisLength {
    std::string axis;
    std::optional<double> in_any_room, in_this_room;  // with any capacity, with the level's; none: no length is enough
  };
  std::vector<AxisLength> least_lengths;  // of axes whose length matters, each with the other axes unchanged
};
// The factors by which changes would reduce the least transfers.
struct Gains {
  std::optional<double> half_the_bytes, twice_the_room;
  struct Siblings {
    std::int64_t count = 1;
    double saved = 0;                        // share of the transfer time
    std::vector<double> saved_by_term = {};  // the same for each term of H* alone
  };
  std::vector<Siblings> siblings;  // by their number; siblings read each other's memory and so share their loads
};
// The best integer sizes of pieces, if the number of pieces counts as a ratio that is not rounded up.
struct WholePieces {
  std::vector<std::pair<std::string, std::int64_t>> pieces;
  double values = 0;  // H at these sizes
};
// H and M as readable expressions in the sizes of axes and pieces, and H*.
struct ClosedForm {
  std::string H, M, H_star;
  std::vector<ClosedTerm> terms;
  std::vector<std::string> dropped;    // monomials of M that H_star neglects
  std::optional<double> bound_values;  // H_star at the level's capacity
  std::optional<WholePieces> whole;
  std::optional<Balance> balance;  // none unless H* is symbolic and the machine has both rates
  Gains gains;
};

// Something that does not fit at a level.
struct Overrun {
  std::size_t level;
  double over;        // the excess in bytes, or values; of "groups", their number
  std::string array;  // for memory: the largest array there
  std::string what;   // "memory", "memory of all groups", "memory of all arrays", "groups"; "launch": no block can run
  std::string why{};  // for a launch: "a thread would need 289 registers of 255"
};

// A loop that skips pieces which a mask excludes completely.
struct MaskCost {
  std::size_t level;
  std::string axis;                     // of the loop
  std::vector<std::string> conditions;  // each must hold somewhere on a piece that runs
  std::int64_t run = 0, all = 0;        // pieces of the wires in the conditions: those that run, and all
  bool expected = false;                // `run` is expected for a random mask; else it is counted
};

// A lower bound of what any program that computes a kernel moves between memories of a given capacity and the level
// above them.
struct LowerBound {
  double moved = 0;  // bytes, or values
  std::string why;   // "inputs read once, outputs written once", or the theorem
};

struct KernelCost {
  std::vector<LevelCost> levels;  // one per level below the outermost
  std::vector<UnitCost> units;
  std::vector<MaskCost> masks;
  ClosedForm closed_form;             // at the first level below the outermost
  LowerBound every_program;           // into all memories of the first level below the outermost
  std::int64_t compulsory_bytes = 0;  // every input read once, every output written once
  std::optional<double> ideal_time_s, time_s, energy_j;
  std::string bound_by;           // a level or unit
  std::string bound_from;         // if a level: the slowest source of its transfers, the level above or a cache
  std::vector<Overrun> overruns;  // empty: it fits
  bool overflow = false;
};
struct Cost {
  std::vector<KernelCost> kernels;
  double operations = 0;
  std::optional<double> ideal_time_s, time_s, energy_j;
};

KernelCost estimate(const Kernel&, const Hardware&, Model);
Cost estimate(const Plan&, const Hardware&, Model);
// The cost of kernels that run one after another.
Cost total(std::vector<KernelCost>);

// `room` is the capacity of each of `memories` memories, in bytes or, with `in_values`, in values. docs/theory.md,
// around the best.
LowerBound lower_bound(const Derivation&, double room, bool in_values, double memories = 1);

// The slow twin of estimate: runs the nest and counts. For small sizes only.
Count count(const Kernel&, const Hardware&);

}  // namespace napkin
