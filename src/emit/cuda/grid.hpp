// The pieces of the grid that a block has: one, or one after another while it stays.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/groups.hpp"

namespace napkin {

class GridPrinter {
 public:
  GridPrinter(Page& page, GroupPrinter& groups, const TileScheduler& scheduler)
      : page_(page), groups_(groups), scheduler_(scheduler) {}

  void words() const;  // a comment
  // Where a block does not stay it knows its piece from here on.
  void begin();
  // What stands between them is done for each of the block's pieces.
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
