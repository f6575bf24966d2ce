// Neighbouring blocks that read each other's memory or multicast: a tile that all of them need comes from above once.
#pragma once

#include <algorithm>

#include "napkin/timing.hpp"
#include "timing/mainloop.hpp"

namespace napkin {

struct Neighbours {
  std::optional<WireId> along;      // of a group of the core's level
  const Rate* across = nullptr;     // where they read each other's memory
  const Rate* multicast = nullptr;  // or get what one of them loads
  std::int64_t blocks = 1;
};

// Each block alone first, then every number of siblings that the profile has a bandwidth for along every group with as
// many pieces.
std::vector<Neighbours> neighbours_of(const Mainloop&, const Hardware&);

// Seconds of one of so many cores that share the rate evenly.
double seconds_at(double amount, const Rate&, std::int64_t cores, Model);

// Seconds to bring tiles to a core or to take outputs from it: across from neighbours, and from above, where the cache
// answers for one while the memory brings another. Of the memory's bandwidth cores without a block leave their share to
// the others, but no core is faster than it is known to be: at its share of the cache's, where there is a cache, which
// all cores reach together; else at its share of the memory's.
struct Passage {
  double across = 0, memory = 0, core = 0;
  // `at_work`: the share of the cores that have a block.
  double seconds(double at_work = 1) const { return across + std::max(memory * at_work, core); }
  void add(const Passage& other, double times = 1) {
    across += times * other.across, memory += times * other.memory, core += times * other.core;
  }
};
// `cached`: on a chip, where tiles that several blocks read at once come from memory once.
Passage way_in(const Mainloop&, BufferId tile, const Neighbours&, const Hardware&, Model rates, bool cached);
// All of it goes to memory, through the cache if there is one.
Passage way_out(const Mainloop&, BufferId output, const Hardware&, Model rates, bool cached);

// With which neighbours the tiles of a step are there soonest; alone where that is no slower, and in the ideal model.
Neighbours fastest_neighbours(const Mainloop&, const Hardware&, Model rates, bool cached);

// Of all that a step brings and takes, with the fastest neighbours: whatever the warpgroups.
Passage passage_of(const Mainloop&, const Hardware&, Model rates, bool cached);

std::vector<Cluster> clusters(const Mainloop&, const Hardware&, Model, bool cached);

}  // namespace napkin
