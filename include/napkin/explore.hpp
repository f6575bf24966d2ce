// Exploration: the ground around the best plan. Which partitions are a trade between time, memory and transfers, how
// transfers fall as memory grows and what bounds them, how the time changes with the pieces, and what a machine with
// more of something would gain.
//
// Bytes and seconds. Each verb searches again, for one kernel and the least time; what a search could not prove says
// so.
#pragma once

#include "napkin/search.hpp"

namespace napkin {

// How long to look: partitions of a kernel that a search evaluates before it gives up, and for how many rooms.
struct Effort {
  std::int64_t front = 200'000, rooms = 100'000, machine = 30'000;
  std::int64_t rooms_with_masks = 500;  // where masks leave pieces out one takes as long as hundreds
  double each_doubling = 2;             // rooms for each doubling of the room
  double least_share = 0;               // of the plan's time: what is around kernels that take less is left out
};
// What is around at a glance, in a second or two for most diagrams.
constexpr Effort glance{20'000, 10'000, 2'000, 50, 0.5, 0.05};

// Every partition of the stated space is, in time, memory and transfers together, at most `tolerance` better than one
// of these, as a share, and the fastest is one of them. Memory is what one piece holds at the level, transfers are
// between it and the one above.
struct Front {
  std::size_t level = 1;
  double tolerance = 0;
  std::vector<Candidate> candidates;  // fastest first, which are slower and hold or move less
  bool complete = true;               // else there may be others
  std::int64_t evaluated = 0;
};
Front explore_front(std::shared_ptr<const Derivation>, const Hardware&, Model, double tolerance, const Effort& = {});
// The slow twin: evaluates every partition.
Front explore_front_exhaustively(std::shared_ptr<const Derivation>, const Hardware&, Model, double tolerance);

// The least transfers of a kernel between one memory and another of so much room, for many rooms. All in values where
// the level counts values, else in bytes.
struct CurvePoint {
  double room = 0;
  double moved = 0;
  LowerBound bound;
  Kernel kernel;  // on `Curve::hardware`
  bool proven = true;
};
struct Curve {
  Hardware hardware;  // the two memories alone
  double room_here = 0;
  bool whole_tiles = false;        // of pieces that are multiples of what the machine's units take, not of any
  std::vector<CurvePoint> points;  // rooms ascending, the machine's own among them; none where nothing fits
  const Level& level() const { return hardware.levels[1]; }
};
// Rooms from a small share of the machine's, so many for each doubling, to that in which nothing moves twice. Under
// masks pieces are whole tiles: to count what a mask leaves of pieces of any size takes long, and where it compares
// more than two wires minutes; then there are no points on a machine without units.
Curve explore_rooms(std::shared_ptr<const Derivation>, const Hardware&, const Effort& = {});

// The time with pieces of other sizes at the core's level: of the two splits there whose sizes change it most.
struct Terrain {
  struct Side {
    std::string axis;
    SplitKind kind = SplitKind::group;
    std::vector<std::int64_t> sizes;  // ascending
    std::size_t chosen = 0;
  };
  Side across;
  std::optional<Side> up;                                  // none where there is one split
  std::vector<std::vector<std::optional<double>>> time_s;  // [up][across]; none where it does not fit or cannot run
};
std::optional<Terrain> explore_pieces(const Kernel&, const Hardware&, Model);

// The machine with twice as much of something.
struct Improvement {
  std::string what;                   // "capacity of smem"
  std::optional<double> time_s;       // of the best partitions there
  std::optional<double> time_kept_s;  // of the partitions of this machine
  std::string bound_by, bound_from;   // of the kernel that takes longest there, as in KernelCost
  bool proven = true;                 // that no split of the kernels is faster there
};
struct Sensitivity {
  std::optional<double> time_s;
  std::vector<Improvement> improvements;  // in the order of the profile
};
// Kernels are searched again, what is fused in them stays.
Sensitivity explore_machine(const Plan&, const Hardware&, Model, const Effort& = {});

// All of it, for a plan.
struct Explored {
  struct OfKernel {
    Front front;
    Curve rooms;
    std::optional<Terrain> pieces;
  };
  std::vector<std::optional<OfKernel>> kernels;  // in the order of the plan's; none of those left out
  Sensitivity machine;
  bool at_a_glance = false;  // with less than the usual effort
};
Explored explore(const Plan&, const Hardware&, Model, const Effort& = {});

}  // namespace napkin
