// Pipelines of tiles in shared memory: barriers tell which of their stages are full and which are empty. The producer
// warpgroup and the ones that compute go through the same stages in the same order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/cuda/grid.hpp"
#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// Synchronizes the blocks of a cluster, or a single block.
void meet_blocks(FragmentPage&);

class PipelinePrinter {
 public:
  explicit PipelinePrinter(FragmentPage&);

  // All tiles, pipeline after pipeline, and the parameters for their TMA maps.
  std::vector<BufferId> tiles() const;
  std::vector<std::string> parameters() const;
  // Declares the barriers, initializes them, and declares the current stages.
  void declare_barriers();
  void begin_barriers() const;
  void declare_stages() const;

  // The pipeline of a loop; null if there is none.
  const TilePipeline* of(const For&) const;
  // "k_slot", the current stage; empty for a single copy outside of all loops.
  std::string slot(const TilePipeline&) const;
  void advance(const TilePipeline&);

  // For the producer: waits until the current stage is empty; the names of a tile's map, and of its full barrier.
  void wait_for_empty(const TilePipeline&) const;
  const std::string& map(BufferId id) const { return maps_.at(id); }
  std::string full_barrier(const TilePipeline&, BufferId) const;

  // For the warpgroups that compute. loaded() notes that a loop's tile is on its way; they wait for the tiles that a
  // column reads, or for all.
  void loaded(BufferId);
  void wait_for_tiles_of(const Compute&);
  void wait_for_all();
  // The statement that releases stage `slot` of the loop's pipeline.
  std::string release(const For&, const std::string& slot) const;
  // Notes the tiles outside of loops that the statement is the first to read, and releases those that it is the last to
  // read, so that those of the block's next output tile can be loaded.
  void begin_outside(const LoopStatement&);
  void end_outside(const LoopStatement&);
  // Tiles that nobody has waited for yet.
  const std::set<BufferId>& on_their_way() const { return on_their_way_; }
  void set_on_their_way(std::set<BufferId> tiles) { on_their_way_ = std::move(tiles); }

 private:
  struct Names {
    std::string empty, slot, phase;
  };

  bool is_reused(const TilePipeline&) const;
  bool is_shared(const TilePipeline&) const;
  const TilePipeline& of_tile(BufferId) const;
  std::string release(const TilePipeline&) const;
  void wait_for(BufferId);

  FragmentPage& page_;
  std::string barriers_;
  std::map<BufferId, std::string> maps_, full_;
  std::map<const TilePipeline*, Names> names_;  // of those whose stages are filled more than once
  std::int64_t full_count_ = 0;
  std::set<BufferId> on_their_way_;
};

// Prints the part of the producer warpgroup, which copies tiles into pipelines by TMA and computes nothing. It returns
// at its end.
void print_producer(FragmentPage&, GroupPrinter&, GridPrinter&, PipelinePrinter&);

}  // namespace napkin
