// The page of a kernel on matrix units, loops over the values that a lane holds in fragments, and the positions of
// these values.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "emit/cuda/page.hpp"
#include "napkin/device.hpp"

namespace napkin {

// Names in the text for a lane's numbers and its loop counters.
struct LaneNames {
  explicit LaneNames(Identifiers&);
  std::string warp, lane, group, quad;  // the lane's group of four, and its number in the group
  std::string row, column, half, pair, value, step;
};

// The open loops: the text of the counters of fragments, and of positions.
struct OpenFragments {
  std::string row, column, half, pair, value;
  std::map<WireId, std::string> position, unclamped;
  std::map<WireId, std::string> eight;       // the first of the eight neighbouring positions that contain this one
  std::map<BufferId, std::string> shuffled;  // at this position, the values that came from other lanes
};

// Names of what products have in registers beside their sums.
struct ProductNames {
  std::map<const Compute*, std::string> partial;   // partial sums
  std::map<const Compute*, std::string> operands;  // values that warpgroups computed, as operands of all steps
  std::map<BufferId, std::string> kept;            // operands that stay there throughout a stream
  std::set<const Compute*> ahead;                  // products whose names are declared outside of the loop
};

// Names of an output that is stored through shared memory: of its TMA map, of whether the map is usable, and of its
// tile.
struct StoreNames {
  std::string map, mapped, tile;
};

// Names of a warpgroup's number in ping-pong, and of its and the next one's named barrier.
struct TurnNames {
  std::string warpgroup, own, next;
};

struct FragmentPage : Page {
  FragmentPage(const ThreadedKernel&, const WarpNest&, const CodeNames&);

  const WarpNest& warps;
  const LaneNames lanes;
  std::optional<WireId> clear;  // pieces of this wire are whole here, and masks are true everywhere
  ProductNames products;
  std::map<BufferId, StoreNames> stores;
  TurnNames turns;
  std::map<BufferId, std::string> single;  // names of single numbers of inputs that lanes hold in registers

  // The body whose statements `warps` points to. That of the page's nest is a copy.
  const LoopBody& body() const { return warps.nest->body; }
  // Whether a tile is a single number of an input. Such a number is held in a register, loaded where the nest loads the
  // tile.
  bool is_single(BufferId id) const { return nest.at(id).values() == 1; }
  // Whether registers hold the computed array.
  bool is_held(BufferId id) const { return warps.arrays.contains(id) && !warps.inlined.contains(id); }
};

// Open loops over a lane's values of a grid, and declare the positions along it. They return the number of loops.
int open_cells(FragmentPage&, const Grid&, OpenFragments&);
int open_rows(FragmentPage&, const Grid&, OpenFragments&);
int open_columns(FragmentPage&, const Grid&, OpenFragments&);
// Opens loops over all values of a grid with both rows and columns, without positions.
int open_values(FragmentPage&, const Grid&, OpenFragments&);
// Opens a loop over a lane's rows of the current fragment.
void open_half(FragmentPage&, const Grid&, OpenFragments&);
// Inside of loops over rows, opens a loop over columns of fragments. `first` becomes the lane's first number there;
// returns the second.
OpenFragments open_pairs(FragmentPage&, const Grid&, OpenFragments& first);
// The same inside of a fragment.
OpenFragments place_pair(FragmentPage&, const Grid&, OpenFragments& first);

// Declares a position along a wire, `offset` places inside its piece. A position past the end is clamped to the last
// one for reads.
void place(FragmentPage&, WireId, const std::string& offset, OpenFragments&, const std::string& eight = "");
// The same for all pieces of one position.
void place_single(const FragmentPage&, OpenFragments&);

// The index of a lane's value in a fragment, from its row and column among those of the lane.
std::string value_index(const std::string& half, const std::string& pair);
// How far the column of a value lies inside of the warp's piece, where `first` is the first column of the fragment; and
// how far the row does that the first group of lanes has.
std::string column_offset(const FragmentPage&, const std::string& first, const std::string& pair);
std::string row_offset(const FragmentPage&, WireId rows, const OpenFragments&);

// " + 8"; empty for 0.
std::string further(std::int64_t places);

}  // namespace napkin
