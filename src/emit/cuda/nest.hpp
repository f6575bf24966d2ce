// What the printers of kernels on matrix units share, whoever copies the tiles: the kernel's head, the pieces of warps,
// and streams with the pieces that masks skip.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

class NestPrinter {
 public:
  NestPrinter(const ThreadedKernel&, const WarpNest&, const CodeNames&);
  NestPrinter(const NestPrinter&) = delete;
  virtual ~NestPrinter() = default;

 protected:
  // The kernel's head

  void words(const std::string& by, const std::string& filled);
  void declare_tiles();
  void lanes();
  void warps();

  // Statements

  virtual void print(const LoopBody&, bool outermost) = 0;
  void declare_buffers(const LoopBody&);
  void point(BufferId, const std::string& place);  // declares the pointer to the current stage of a tile
  std::string type(BufferId) const;                // the type in which lanes hold an array
  std::vector<BufferId> tiles_of(const LoopBody&) const;
  void read_single(const Load&);  // if the block needs a single number of an input
  // The address of stage `number` of a tile. Stages begin at multiples of `alignment`.
  std::string copy_of(BufferId, const std::string& number, std::int64_t alignment) const;

  // Streams

  // Whether masks may skip pieces; and the condition that the current piece counts, whose mask tests it may print
  // first.
  static bool may_skip(const For&);
  std::string needed(const For&);
  // Prints a function that returns the first piece, from a given one on, that no mask skips. Returns its name.
  std::string skip(const For&, const std::string& begin, const WirePiece& around);
  // Prints a loop over the pieces of a stream, except those that masks skip.
  void pieces(const For&, const GroupPrinter::Inside&);
  // Prints what a piece computes. It is printed twice if most pieces need no bounds checks and no masks: the version
  // without them comes first.
  void body(const For&, const std::string& begin, const WirePiece& around);

  Page page_;
  Lines& out_;
  const WarpNest& warps_;
  const LoopNest& nest_;
  GroupPrinter groups_;
  FragmentPrinter columns_;
  std::set<BufferId> on_their_way_;  // tiles whose loads nobody has waited for yet

 private:
  void limit_undivided();
  void print_streams(const LoopBody&, const std::string& filled);
  std::string asked(const MaskTest&);
  std::string read_once(const Buffer&, const std::vector<std::string>& at) const;
  std::string clear_piece(const For&, const std::string& begin, const WirePiece& around) const;
  void rows_of_warpgroup(const GroupPrinter::Entered&);
  void only_position(std::uint32_t wire);

  std::set<BufferId> asked_;  // tiles of masks that are tested to find whether pieces count
};

}  // namespace napkin
