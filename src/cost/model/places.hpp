// The splits that cut a wire at a place of a loop nest, and their effect on that place: the values that an access
// reaches, and how often the loops and groups around it repeat it.
#pragma once

#include <set>
#include <vector>

#include "cost/model/model.hpp"

namespace napkin {

// The bytes of a whole array.
std::int64_t bytes_of(const Diagram&, ArrayId);

// Adds cuts and footprints to the model as it finds them.
class Places {
 public:
  Places(CostModel& model, const Partition& partition, const LoopNest& nest)
      : model_(model), partition_(partition), nest_(nest), diagram_(nest.scratch) {}

  // The splits of a wire down to a level, as indices into the partition: groups, then loops.
  std::vector<std::size_t> splits(WireId, std::size_t level, const std::vector<Split>& loops) const;
  // The index of the cut of a wire by these splits.
  std::size_t cut(WireId, std::vector<std::size_t> splits);
  std::size_t cut_at(WireId, std::size_t level, const std::vector<Split>& loops);
  // Multiplies by the values that an access reaches: the extents of wires for indices that are single wires, else the
  // footprints of indices that share wires.
  void reach(CostModel::Product&, const std::vector<Index>& at, ArrayId, std::size_t level,
             const std::vector<Split>& loops, bool all_pieces);
  // Multiplies by the numbers of pieces of the groups and loops around a place whose wires are not in `shaped`, because
  // they repeat the place.
  void repeat(CostModel::Product&, const std::set<WireId>& shaped, std::size_t level, const std::vector<Split>& loops);

  // Whether the index is one wire that no other index has.
  static bool is_plain(const std::vector<Index>& at, std::size_t i);
  static std::set<WireId> wires_in(const std::vector<Index>& at);

 private:
  std::size_t split_index(const Split&) const;
  std::size_t footprint(const std::vector<Index>& at, ArrayId, std::vector<std::size_t>& left, std::size_t level,
                        const std::vector<Split>& loops, bool all_pieces);
  bool stays_inside(const Index&, std::int64_t size) const;

  CostModel& model_;
  const Partition& partition_;
  const LoopNest& nest_;
  const Diagram& diagram_;
};

}  // namespace napkin
