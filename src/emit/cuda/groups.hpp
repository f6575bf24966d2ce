// Groups: which piece of every wire belongs to a block, and which to a thread or a warp.
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

// The wire of an axis along which every block has a single position, if such a wire exists.
std::optional<WireId> single_in_block(const LoopNest&, std::size_t block_level, AxisId);

// A number that counts parts of parts: "thread / 8 % 4" is one of its digits, of which the slowest comes first.
class Digits {
 public:
  Digits(std::string number, std::int64_t all) : number_(std::move(number)), faster_(all) {}
  std::string next(std::int64_t parts);

 private:
  std::string number_;
  std::int64_t faster_;
  bool slowest_ = true;
};

// The number of tiles of the grid, or of clusters if the scheduler uses them: "(long long)pieces(n.q, 64) * n.h".
std::string grid_size(const ThreadedKernel&, const CodeNames&, const TileScheduler&);

class GroupPrinter {
 public:
  explicit GroupPrinter(Page& page) : page_(page) {}

  // One group, the piece that it splits, and the name of where its own piece begins.
  struct Entered {
    const Split* group;
    WirePiece around;
    std::string begin;
    std::int64_t most() const { return pieces_of(around.extent, group->size); }
  };
  // Makes the pieces of the groups of blocks, or else of the groups below them, the current pieces of the page.
  std::vector<Entered> enter(bool of_blocks);
  // Declares the piece with this number inside the piece around it.
  void print(const Entered&, const std::string& number);
  // Declares a piece that begins `offset` positions inside the piece around it and ends at most `reach` positions
  // later.
  void print(const Entered&, const std::string& offset, std::int64_t reach);
  // Declares the piece of a thread or a warp, whose number in the piece around it is the next digit.
  void print(const Entered&, Digits&);
  // Prints the pieces of the groups of blocks, computed from the block's number.
  void blocks();
  // Decodes the number of a tile into pieces, or that of the block if `tile` is empty. If there is no such piece,
  // the code goes on with the next tile, or returns.
  void take_apart(const std::vector<Entered>&, const TileScheduler&, const std::string& tile = {});
  // The name of a block's number in its cluster.
  static constexpr std::string_view rank = "rank";

  std::string words(const Split&) const;  // "group q 48 at smem"
  // Prints a comment line for each group and each stream. `below` says what has a tile of a group below the blocks. Or
  // functions say what has a tile of a group, and in how many stages the tiles of a stream are.
  void describe(const std::string& below);
  using TilesOf = std::function<std::string(const Split&)>;
  using StagesOf = std::function<std::string(const For&)>;
  void describe(const TilesOf&, const StagesOf&);
  bool is_block(const Split& group) const { return group.level <= page_.kernel.block_level; }
  // Declares where the piece of a stream ends.
  void declare_end(const For&, const std::string& begin, const WirePiece& around);
  // Prints a loop over the pieces of a stream: inside(around, begin) prints what is done for each. Or print(around,
  // begin) prints the loop, too, while the piece is the current one.
  using Inside = std::function<void(const WirePiece& around, const std::string& begin)>;
  void stream(const For&, const Inside& inside);
  void with_piece(const For&, const Inside& print);

 private:
  using Take = std::function<void(const Entered&, const std::string& number)>;
  void enter(const For&, const std::string& begin);
  void end_parts();
  std::vector<const Entered*> ordered(const std::vector<Entered>&, const TileScheduler&) const;
  void run(const Entered& slower, const Entered& faster, const TileScheduler&, const Take&);
  std::string count(const Entered&, const TileScheduler&) const;
  static bool is_along(const Entered&, const TileScheduler&);

  Page& page_;
  // The ends of the block's parts of divided axes: names and values.
  std::vector<std::pair<std::string, std::string>> ends_;
};

}  // namespace napkin
