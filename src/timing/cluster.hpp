// Clusters: neighbouring blocks that read each other's memory or multicast, so that a tile that all of them need is
// loaded once.
#pragma once

#include <algorithm>

#include "napkin/timing.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

struct Neighbours {
  std::optional<WireId> along;      // the wire of a group at the core's level
  const Rate* across = nullptr;     // if they read each other's memory: the rate of that
  const Rate* multicast = nullptr;  // or of multicast, if one of them loads for all
  std::int64_t blocks = 1;
};

// First each block alone, then, along every group with enough pieces, every number of blocks for which the profile has
// a bandwidth.
std::vector<Neighbours> neighbours_of(const Mainloop&, const Hardware&);

// Seconds of one core, if `cores` cores share the rate evenly.
double seconds_at(double amount, const Rate&, std::int64_t cores, Model);

// Seconds to move tiles to a core or outputs from it: across from neighbours, and from the level above, where the cache
// delivers one tile while the memory delivers another. Idle cores leave their share of the memory's bandwidth to the
// others. But no core is faster than its share of the cache's bandwidth, which all cores can use together, or, without
// a cache, than its share of the memory's.
struct Passage {
  double across = 0, memory = 0, core = 0;
  // `at_work`: the share of the cores that have a block.
  double seconds(double at_work = 1) const { return across + std::max(memory * at_work, core); }
  void add(const Passage& other, double times = 1) {
    across += times * other.across, memory += times * other.memory, core += times * other.core;
  }
};

// The way between a core and the level above. `cached`: on a chip, where tiles that several blocks read at once come
// from memory once.
struct CorePath {
  const Mainloop& mainloop;
  const Hardware& hardware;
  Model rates;
  bool cached;

  // The passage of a tile into the core, and of an output. All of an output goes to memory, through the cache if there
  // is one.
  Passage way_in(BufferId tile, const Neighbours&) const;
  Passage way_out(BufferId output) const;
  // The passage of all tiles and outputs of an iteration, with the fastest neighbours. It does not depend on
  // warpgroups.
  Passage of_iteration() const;
  // The neighbours with which the tiles of an iteration arrive soonest; a single block if that is no slower, and in the
  // ideal model.
  Neighbours fastest_neighbours() const;
  std::vector<Cluster> clusters() const;
  // The bandwidth that the core sees: that of the cache if there is one; null if the profile has none.
  const Rate* nearest() const;

 private:
  Passage tiles_in(const Neighbours&) const;
  // Seconds to load all tiles of an iteration while all cores load theirs.
  double copy_seconds(const Neighbours& neighbours) const { return tiles_in(neighbours).seconds(); }
  double seconds(double bytes, const Rate& rate) const;
  bool gains(const Sibling&) const;
};

}  // namespace napkin
