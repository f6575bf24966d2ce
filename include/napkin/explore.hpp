// Exploration: the surroundings of the best plan. It finds the partitions that trade time, memory and transfers against
// each other, how transfers fall with more memory and what bounds them, how the time changes with the sizes of pieces,
// and what a machine with twice as much of one resource would gain.
//
// Units are bytes and seconds. Each function searches again, kernel by kernel. A result that a search could not prove
// says so.
#pragma once

#include "napkin/search.hpp"

namespace napkin {

// Limits of the exploration: how many partitions of a kernel a search evaluates before it gives up, and how many
// capacities it considers.
struct Effort {
  std::int64_t front = 200'000, rooms = 100'000, machine = 30'000;
  std::int64_t rooms_with_masks = 500;  // fewer, because if masks skip pieces one partition takes as long as hundreds
  double each_doubling = 2;             // number of capacities for each doubling
  double least_share = 0;               // kernels that take a smaller share of the plan's time are not explored
};
// An exploration in a second or two for most diagrams.
constexpr Effort glance{20'000, 10'000, 2'000, 50, 0.5, 0.05};

// A set of partitions that covers the stated space and contains the fastest one: for each partition of the space, the
// set has one that is worse by at most the share `tolerance` in each of time, memory and transfers. Memory is what one
// piece holds at the level. Transfers are those between the level and the one above.
struct Front {
  std::size_t level = 1;
  double tolerance = 0;
  std::vector<Candidate> candidates;  // fastest first; slower ones hold or move less
  bool complete = true;               // else partitions may be missing
  std::int64_t evaluated = 0;
};
Front explore_front(std::shared_ptr<const Derivation>, const Hardware&, Model, double tolerance, const Effort& = {});
// The slow twin: evaluates every partition.
Front explore_front_exhaustively(std::shared_ptr<const Derivation>, const Hardware&, Model, double tolerance);

// The least transfers of a kernel between a memory of some capacity and the one above it, for many capacities. Numbers
// are in values if the level counts values, else in bytes.
struct CurvePoint {
  double room = 0;
  double moved = 0;
  LowerBound bound;
  Kernel kernel;  // on `Curve::hardware`
  bool proven = true;
};
struct Curve {
  Hardware hardware;               // the two memories alone
  double room_here = 0;            // capacity of the machine itself
  bool whole_tiles = false;        // pieces are multiples of the tiles of the machine's units, not of any size
  std::vector<CurvePoint> points;  // ascending capacities, with the machine's own among them; only where a kernel fits
  const Level& level() const { return hardware.levels[1]; }
};
// Capacities range from a small share of the machine's to the one at which nothing moves twice, with `each_doubling` of
// them per octave. Under masks pieces are whole tiles, because counting what a mask leaves of pieces of any size takes
// long. It takes minutes if the mask compares more than two wires. In that case a machine without units has no points.
Curve explore_rooms(std::shared_ptr<const Derivation>, const Hardware&, const Effort& = {});

// The time with pieces of other sizes at the SM's level, for the two splits there whose sizes change it most.
struct Terrain {
  struct Side {
    std::string axis;
    SplitKind kind = SplitKind::group;
    std::vector<std::int64_t> sizes;  // ascending
    std::size_t chosen = 0;
  };
  Side across;
  std::optional<Side> up;                                  // none if there is only one split
  std::vector<std::vector<std::optional<double>>> time_s;  // [up][across]; none if it does not fit or cannot run
};
std::optional<Terrain> explore_pieces(const Kernel&, const Hardware&, Model);

// A machine with twice as much of one resource.
struct Improvement {
  std::string what;                   // "capacity of smem"
  std::optional<double> time_s;       // of the best partitions for that machine
  std::optional<double> time_kept_s;  // of the present partitions on that machine
  std::string bound_by, bound_from;   // of the slowest kernel on that machine, as in KernelCost
  bool proven = true;                 // no partition of the kernels is faster on that machine
};
struct Sensitivity {
  std::optional<double> time_s;
  std::vector<Improvement> improvements;  // in the order of the profile
};
// Searches the partition of every kernel again, with the same fused statements.
Sensitivity explore_machine(const Plan&, const Hardware&, Model, const Effort& = {});

// The whole exploration of a plan.
struct Explored {
  struct OfKernel {
    Front front;
    Curve rooms;
    std::optional<Terrain> pieces;
  };
  std::vector<std::optional<OfKernel>> kernels;  // in the order of the plan; none for a kernel that is not explored
  Sensitivity machine;
  bool at_a_glance = false;  // explored with less than the usual effort
};
Explored explore(const Plan&, const Hardware&, Model, const Effort& = {});

}  // namespace napkin
