// What kernels on matrix units have in common in print, whoever copies their tiles: their head, the warps' pieces, and
// streams with what masks pass over.
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

  // Steps

  virtual void print(const LoopBody&, bool outermost) = 0;
  void declare_buffers(const LoopBody&);
  void point(BufferId, const std::string& place);  // at the copy at hand of a tile
  std::string type(BufferId) const;                // that lanes hold an array in
  std::vector<BufferId> tiles_of(const LoopBody&) const;
  void read_single(const Load&);  // where the block needs one number
  // "[2]" numbers in all, and where the copy of that number stands.
  std::string copy_of(BufferId, const std::string& number, std::int64_t alignment) const;

  // Streams

  // Whether masks may pass over pieces; and whether the one at hand counts, for which it may print what it asks.
  static bool may_skip(const For&);
  std::string needed(const For&);
  // A function that gives the first piece from a given one on that a mask lets count; its name.
  std::string skip(const For&, const std::string& begin, const WirePiece& around);
  // Its pieces, one after another, but for those that masks pass over.
  void pieces(const For&, const GroupPrinter::Inside&);
  // What a piece computes: twice where most pieces need not mind ragged ends and masks, first without.
  void body(const For&, const std::string& begin, const WirePiece& around);

  Page page_;
  Lines& out_;
  const WarpNest& warps_;
  const LoopNest& nest_;
  GroupPrinter groups_;
  FragmentPrinter columns_;
  std::set<BufferId> on_their_way_;  // tiles that were loaded and nobody has waited for

 private:
  void limit_undivided();
  void print_streams(const LoopBody&, const std::string& filled);
  std::string asked(const MaskTest&);
  std::string read_once(const Buffer&, const std::vector<std::string>& at) const;
  std::string clear_piece(const For&, const std::string& begin, const WirePiece& around) const;
  void rows_of_warpgroup(const GroupPrinter::Entered&);
  void only_position(std::uint32_t wire);

  std::set<BufferId> asked_;  // whether pieces count
};

}  // namespace napkin
