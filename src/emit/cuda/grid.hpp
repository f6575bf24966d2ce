// The output tiles of a block: one, or one after another if the kernel is persistent.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/groups.hpp"

namespace napkin {

class GridPrinter {
 public:
  GridPrinter(Page& page, GroupPrinter& groups, const TileScheduler& scheduler)
      : page_(page), groups_(groups), scheduler_(scheduler) {}

  void words() const;  // prints a comment about the tile scheduler
  // If the kernel is not persistent, the block knows its tile from here on.
  void begin();
  // Code printed between open() and close() runs for each of the block's tiles.
  void open();
  void close();

 private:
  Page& page_;
  GroupPrinter& groups_;
  const TileScheduler& scheduler_;
  std::vector<GroupPrinter::Entered> blocks_;
  std::string all_;
};

}  // namespace napkin
