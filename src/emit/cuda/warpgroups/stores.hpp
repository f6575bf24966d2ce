// Outputs of a warpgroup that are stored through shared memory: fragments are written into the tile, then boxes of the
// tile into the array by TMA. If rows of the array are not aligned, the tile is copied number by number.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

class StorePrinter {
 public:
  explicit StorePrinter(FragmentStatements&);

  // Comments in the kernel's head, the function's parameters, and the declarations of tiles in shared memory.
  void describe() const;
  std::vector<std::string> parameters() const;
  void declare() const;
  void print(BufferId);
  // Waits for all stores at the kernel's end.
  void end() const;

 private:
  // Of the TMA map, of whether the map is usable, and of the tile.
  struct Names {
    std::string map, mapped, tile;
  };

  std::string staged_at(BufferId, const std::string& row, const std::string& column) const;
  void stage(BufferId);
  void stage_pairs(BufferId);
  void stage_matrices(BufferId);
  void fill_matrices(BufferId, const std::string& matrices);
  void copy_boxes(BufferId) const;
  void copy_numbers(BufferId) const;

  FragmentStatements& statements_;
  FragmentPage& page_;
  std::map<BufferId, Names> names_;
};

}  // namespace napkin
