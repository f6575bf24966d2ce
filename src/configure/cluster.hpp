// Neighbouring blocks that read each other's memory: a tile that all of them need comes from above once.
#pragma once

#include "configure/step.hpp"
#include "napkin/configure.hpp"

namespace napkin {

struct Neighbours {
  std::optional<WireId> along;  // of a group of the core's level
  const Rate* across = nullptr;
  std::int64_t blocks = 1;
};

// Each block alone first, then every number of siblings that the profile has a bandwidth for along every group with as
// many pieces.
std::vector<Neighbours> neighbours_of(const BlockStep&, const Hardware&);

// Seconds to bring a tile to a core, while all cores bring theirs. `cached`: tiles that several blocks read at once
// come from memory once.
double copy_seconds(const BlockStep&, BufferId tile, const Neighbours&, const Hardware&, Model rates, bool cached);
// Of all tiles of a step.
double copy_seconds(const BlockStep&, const Neighbours&, const Hardware&, Model rates, bool cached);

// With which neighbours the tiles of a step are there soonest; alone where that is no slower, and in the ideal model.
Neighbours fastest_neighbours(const BlockStep&, const Hardware&, Model rates, bool cached);

std::vector<Cluster> clusters(const BlockStep&, const Hardware&, Model, bool cached);

}  // namespace napkin
