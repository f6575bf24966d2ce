// The numbers of one partition, without names. The search compares them.
#pragma once

#include <cstdint>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

struct Figures {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0;
    std::int64_t memory_values = 0, memory_bytes = 0;
    std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;
    std::int64_t fullest_values = 0, fullest_bytes = 0;  // one memory with all groups that it serves
    std::int64_t ideal_fullest_values = 0, ideal_fullest_bytes = 0;
    std::int64_t groups = 1, groups_per_parent = 1;
    // The part of the transfer that comes from siblings, if the level above consists of their memories: all of it, the
    // bytes that arrive at once, and the number of pieces in which the rest arrives.
    std::int64_t crossing_bytes = 0, crossing_once_bytes = 0;
    double crossing_steps = 1;
    double sector_bytes = 0;  // the transfer in whole sectors; in bounds, the transfer itself
  };
  std::vector<At> levels;          // by level of the machine; the outermost stays empty
  std::vector<double> operations;  // by CostModel::work
  double masks = 0;                // the operations on lanes that test masks in pieces that a mask cuts
  double steps = 0;                // iterations of the loops of each level above the leaf, over all blocks
  bool overflow = false;
  std::vector<std::int64_t> counts, lengths, reaches, holdings;  // of the model's cuts, footprints and holdings
  std::vector<std::int64_t> regions;                             // of the model's regions
  std::vector<double> shares;                                    // of the model's shares
  // Reused: the number of groups at work, and of those that wait at each level; the sizes that cut a part of a region.
  std::vector<std::int64_t> instances, sizes_of_part;
};

// What a level holds of one group, in what the level counts.
inline std::int64_t held_by_one(const Level& level, const Figures::At& at, Model model) {
  if (level.in_values) return model == Model::ideal ? at.ideal_memory_values : at.memory_values;
  return model == Model::ideal ? at.ideal_memory_bytes : at.memory_bytes;
}
// What one memory of a level holds of all groups that it serves.
inline std::int64_t held_by_all(const Level& level, const Figures::At& at, Model model) {
  if (level.in_values) return model == Model::ideal ? at.ideal_fullest_values : at.fullest_values;
  return model == Model::ideal ? at.ideal_fullest_bytes : at.fullest_bytes;
}

}  // namespace napkin
