// Groups: which piece of every wire is a block's, and which a thread's or a warp's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emit/cuda/page.hpp"
#include "loops/pieces.hpp"
#include "napkin/device.hpp"

namespace napkin {

// The wire of an axis along which every block has a single position, if there is one.
std::optional<WireId> single_in_block(const LoopNest&, std::size_t block_level, AxisId);

class GroupPrinter {
 public:
  explicit GroupPrinter(Page& page) : page_(page) {}

  // One group, the piece it splits and where its own begins.
  struct Entered {
    const Split* group;
    WirePiece around;
    std::string begin;
    std::int64_t most() const { return pieces_of(around.extent, group->size); }
  };
  // Makes the pieces of the groups of blocks, or of those below them, the page's.
  std::vector<Entered> enter(bool of_blocks);
  // `number` counts the piece inside the piece around it.
  void print(const Entered&, const std::string& number);
  // It begins so far inside the piece around it, and ends `reach` positions further at the latest.
  void print(const Entered&, const std::string& offset, std::int64_t reach);
  // The groups of blocks, from the block's number.
  void blocks();
  // Groups of blocks from the number `block`; where there is no such piece, `otherwise`: "return" or "continue".
  void take_apart(const std::vector<Entered>&, const TileScheduler&, const std::string& otherwise);
  // How many pieces: "(long long)pieces(n.q, 64) * n.h"; of clusters where the walk has some.
  std::string all(const std::vector<Entered>&, const TileScheduler&) const;
  // The number of a block in its cluster.
  static constexpr std::string_view rank = "rank";

  std::string words(const Split&) const;  // "group q 48 at smem"
  // Comments: a line for each group, with who has a piece of it below the blocks, and for each stream.
  void describe(const std::string& below);
  bool is_block(const Split& group) const { return group.level <= page_.kernel.block_level; }
  std::string begin_name(WireId);  // "q1", of the n-th split of a wire
  // Makes the piece of a stream the page's, and declares where it ends.
  void enter(const For&, const std::string& begin);
  void declare_end(const For&, const std::string& begin, const WirePiece& around);
  // The pieces of a stream one after another: inside(around, begin) prints what is done for each.
  using Inside = std::function<void(const WirePiece& around, const std::string& begin)>;
  void stream(const For&, const Inside& inside);

 private:
  using Take = std::function<void(const Entered&, const std::string& number)>;
  void describe(const LoopBody&);
  void end_parts();
  std::vector<const Entered*> ordered(const std::vector<Entered>&, const TileScheduler&) const;
  void run(const Entered& slower, const Entered& faster, const TileScheduler&, const Take&);
  std::string count(const Entered&, const TileScheduler&) const;
  static bool is_along(const Entered&, const TileScheduler&);

  Page& page_;
  std::map<WireId, int> splits_;
  std::vector<std::pair<std::string, std::string>> ends_;  // of the block's parts of divided axes: names and values
};

}  // namespace napkin
