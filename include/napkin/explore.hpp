// Exploration: the ground around the best plan. Which partitions are a trade between time, memory and transfers, how
// transfers fall as memory grows and what bounds them, how the time changes with the pieces, and what a machine with
// more of something would gain.
//
// Bytes and seconds. Each verb searches again, for one kernel and the least time; what a search could not prove says
// so.
#pragma once

#include "napkin/search.hpp"

namespace napkin {

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
Front explore_front(std::shared_ptr<const Derivation>, const Hardware&, Model, double tolerance);
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
  std::vector<CurvePoint> points;  // rooms ascending, the machine's own among them; none where nothing fits
  const Level& level() const { return hardware.levels[1]; }
};
// Rooms from a small share of the machine's, so many for each doubling, to that in which nothing moves twice. No points
// where a mask compares more than two wires: to count what it leaves of pieces of any size takes minutes.
Curve explore_rooms(std::shared_ptr<const Derivation>, const Hardware&, int each_doubling);

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
  std::string bound_by;               // of the kernel that takes longest there
};
struct Sensitivity {
  std::optional<double> time_s;
  std::vector<Improvement> improvements;  // in the order of the profile
};
// Kernels are searched again, what is fused in them stays.
Sensitivity explore_machine(const Plan&, const Hardware&, Model);

// All of it, for a plan.
struct Explored {
  struct OfKernel {
    Front front;
    Curve rooms;
    std::optional<Terrain> pieces;
  };
  std::vector<OfKernel> kernels;  // in the order of the plan's
  Sensitivity machine;
};
Explored explore(const Plan&, const Hardware&, Model);

}  // namespace napkin
