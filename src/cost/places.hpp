// Which splits shape a wire at a place of a loop nest, and what that makes of what stands there: the values that an
// access reaches, and how often the loops and groups around repeat it.
#pragma once

#include <set>
#include <vector>

#include "cost/model.hpp"

namespace napkin {

// Of a whole array.
std::int64_t bytes_of(const Diagram&, ArrayId);

// Adds cuts and footprints to the model as it finds them.
class Places {
 public:
  Places(CostModel& model, const Partition& partition, const LoopNest& nest)
      : model_(model), partition_(partition), nest_(nest), diagram_(nest.scratch) {}

  // The splits of a wire down to a level, by their numbers in the partition: groups, then loops.
  std::vector<std::size_t> splits(WireId, std::size_t level, const std::vector<Split>& loops) const;
  // The number of a wire's cut by these splits.
  std::size_t cut(WireId, std::vector<std::size_t> splits);
  std::size_t cut_at(WireId, std::size_t level, const std::vector<Split>& loops);
  // The values that an access reaches: the sizes of wires where an index is one, else footprints of indices that share
  // wires.
  void reach(CostModel::Product&, const std::vector<Index>& at, ArrayId, std::size_t level,
             const std::vector<Split>& loops, bool all_pieces);
  // Everything that surrounds a place but does not shape what is there repeats it.
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
