// Cost: what a partition moves, holds and takes, level by level.
//
// H (transfers) and M (memory) follow docs/theory.md sections 2 to 5, exact for ragged pieces. Counts are 64-bit and
// checked; what does not fit in 63 bits is reported as overflow, never wrapped.
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
  double times = 0;               // transfer over the array's own size
  bool saved = false;             // else loaded
  Datatype type = Datatype::f32;  // in which it crosses
};
struct HeldArray {
  std::string array;
  std::int64_t values = 0, bytes = 0;
  Datatype type = Datatype::f32, stored = Datatype::f32;  // here, and of the array
};
struct LevelCost {
  std::size_t level = 1;
  std::int64_t transfer_values = 0, transfer_bytes = 0;  // between this level and its parent, whole launch
  // Of it, what one child gets from another; where the level above is nothing but these children's memories.
  std::optional<std::int64_t> crossing_bytes = {};
  // The transfer in whole sectors, which is what takes time; where the profile knows them.
  std::optional<std::int64_t> sector_bytes = {};
  // Exact: the largest column, temporaries and state too; where a launch is timed, of its registers those of a warp.
  std::int64_t memory_values = 0, memory_bytes = 0;
  std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;  // the paper's: inputs, outputs, streamed tiles
  std::optional<double> capacity;                                // in bytes, or in values where the level counts values
  std::int64_t groups = 1;                                       // pieces at this level, all parents together
  std::int64_t groups_per_parent = 1;
  std::int64_t together = 1;  // units that hold a piece between them: then `capacity` is that of all of them
  std::optional<double> ideal_time_s, time_s;
  std::vector<ArrayCost> arrays;
  std::vector<HeldArray> held;  // what the largest column holds, largest first
};
struct UnitCost {
  Unit unit = Unit::fma;
  double operations = 0;  // that it executes
  std::optional<double> ideal_time_s, time_s;
  double asked = 0;  // of them, those of the loops: products in parts count once
};

// H and M as readable expressions in the sizes of axes and pieces, and the least H over all pieces to leading order:
// H* = sum of alpha * M^-beta.
struct ClosedTerm {
  std::string alpha;
  double alpha_value = 0;  // at the sizes given; 0 where symbolic sizes remain
  double beta = 0;
};
// Where transfers keep up with operations: each byte that moves must be worth this many operations.
struct Balance {
  Unit unit = Unit::fma;           // that takes longest ideally
  double operations_per_byte = 0;  // of the machine: the unit's rate over the bandwidth into the level
  std::optional<double>
      least_room;  // of the level, with axes as long as one likes; bytes, or values where it counts them
  struct AxisLength {
    std::string axis;
    std::optional<double> in_any_room, in_this_room;  // none: no length is enough
  };
  std::vector<AxisLength> least_lengths;  // of axes that matter, the others as they are
};
// What the least transfers would gain: each a factor of the time they take.
struct Gains {
  std::optional<double> half_the_bytes, twice_the_room;
  struct Siblings {
    std::int64_t count = 1;
    double saved = 0;                        // share of the time
    std::vector<double> saved_by_term = {};  // of each term of H*, alone
  };
  std::vector<Siblings> siblings;  // that read each other's memory and so share what they load
};
// The best whole numbers for the pieces, with numbers of pieces counted as ratios.
struct WholePieces {
  std::vector<std::pair<std::string, std::int64_t>> pieces;
  double values = 0;  // H there
};
struct ClosedForm {
  std::string H, M, H_star;
  std::vector<ClosedTerm> terms;
  std::vector<std::string> dropped;    // monomials of M that H_star leaves out
  std::optional<double> bound_values;  // H_star at the level's capacity
  std::optional<WholePieces> whole;
  std::optional<Balance> balance;  // where H* is symbolic and the machine has both rates
  Gains gains;
};

// What does not fit: where, by how much, and by which array most.
struct Overrun {
  std::size_t level;
  double over;        // bytes, or values
  std::string array;  // of memory
  std::string what;   // "memory", "memory of all groups", "memory of all arrays", "groups"; "launch": no block can run
  std::string why{};  // of a launch: "a thread would need 289 registers of 255"
};

// A loop that passes over pieces on which a mask lets nothing through.
struct MaskCost {
  std::size_t level;
  std::string axis;                     // of the loop
  std::vector<std::string> conditions;  // each must hold somewhere on a piece
  std::int64_t run = 0, all = 0;        // pieces, of the wires in the conditions together
  bool expected = false;                // of a random mask; else counted
};

// What every program moves that computes a kernel, between memories of so much room and the one above them, however it
// is written.
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
  std::string bound_by;    // a level or unit
  std::string bound_from;  // of a level, where most of that time its transfers come from: the level above, or a cache
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
// Of kernels that run one after another.
Cost total(std::vector<KernelCost>);

// `room` of each of so many memories, in bytes or with `in_values` in values. docs/theory.md, around the best.
LowerBound lower_bound(const Derivation&, double room, bool in_values, double memories = 1);

// The slow twin of estimate: runs the nest and counts. For small sizes only.
Count count(const Kernel&, const Hardware&);

}  // namespace napkin
