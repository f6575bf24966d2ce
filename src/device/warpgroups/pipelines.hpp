// The eighth phase, of warpgroups: which tiles form a pipeline, how many stages it has, and where everything lies in
// shared memory.
#pragma once

#include "device/warpgroups/stores.hpp"

namespace napkin {

struct Pipelines {
  std::vector<TilePipeline> all;
  Tiles tiles;  // with their stages and places
  Stores stores;
  std::int64_t barriers_begin = 0, shared_bytes = 0;
};
// Takes products, inlined columns, tiles, the overlap and stores. Throws if tiles do not fit into shared memory with
// the fewest stages.
Pipelines place_pipelines(const Lowered&, const WarpNest& found, const Stores&);

}  // namespace napkin
