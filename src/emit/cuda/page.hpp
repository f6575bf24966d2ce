// The state of printing one CUDA kernel: its text so far, and what names mean at the current place in it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/threads/threads.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/page.hpp"

namespace napkin {

// A wire's piece at the current place in the text. It begins at 0 if nothing has split the wire yet.
struct WirePiece {
  std::string begin, end;
  std::int64_t extent = 1;
  std::string position{};  // the only position, if the extent is 1
  bool by_thread = false;
  // For a wire that is spread over threads. Outside of its stream, the thread owns `share` positions of every `step`:
  // those of share `number`. Inside of it, `slot` is where the piece begins among all positions of the thread.
  std::int64_t step = 0, share = 0;
  std::string number{}, slot{};

  bool is_whole() const { return begin == "0"; }
  bool is_spread() const { return step > 0; }
};
using WirePieces = std::vector<WirePiece>;  // by WireId

struct Page : CodePage {
  Page(const ThreadedKernel&, const CodeNames&);

  const ThreadedKernel& kernel;
  WirePieces own, shared;                                // the current pieces of the thread, and of its block
  bool any_threads = false;                              // whether groups are divided among threads
  std::map<BufferId, WirePieces> scope;                  // the pieces where a buffer was declared
  std::map<BufferId, std::vector<std::string>> corners;  // by dimension, where a tile in shared memory begins

  // The block's tile that a buffer was loaded from.
  BufferId staged(BufferId id) const { return tile_at(nest, sources, id, kernel.block_level); }
  std::size_t leaf() const { return kernel.hardware.levels.size() - 1; }
  // A number of the array at these places, and its address.
  std::string element(ArrayId, const std::vector<std::string>& at) const;
  std::string address(ArrayId, const std::vector<std::string>& at) const;
  // A number of the array as computations read it, and as the array stores it.
  Typed read(ArrayId, const std::string& stored) const;
  std::string written(ArrayId, const std::string& value) const;

  // Opens the kernel's function, with parameters for sizes, inputs, outputs, and `more`. Its launch bounds leave
  // registers for `blocks` resident blocks on an SM. The text that follows is its body.
  void open_function(const std::string& name, std::int64_t blocks, const std::vector<ArrayId>& inputs,
                     const std::vector<std::string>& more = {});
  // Opens a loop from 0 to a count, and says whether the compiler should unroll it.
  void loop(const std::string& counter, std::int64_t count, bool unrolled = true);
  // Declares the block's shared memory, and a pointer `begin` bytes into it.
  void declare_shared();
  void declare_in_shared(std::string_view type, std::string_view name, std::int64_t begin,
                         const std::string& comment = {});
  // Declares the buffers that live in a loop body, those of one type together, and records that they belong to the
  // current pieces. `declared` gives the name and the lengths of one, "p[16]"; empty if registers do not hold it.
  void declare_buffers(const LoopBody&, const std::function<std::string(BufferId)>& type_of,
                       const std::function<std::string(BufferId)>& declared);

  using CodePage::limit;
  // Records that the text depends on the length of the wire if nothing has split it.
  void limit_whole(WireId wire) {
    if (own[wire.index].is_whole()) limit(wire);
  }
  // Records that the text depends on the lengths of wires of the index that are whole in the pieces.
  void limit(const Index&, const WirePieces&);
};

// A position that is the last one of the piece where it would be past its end.
std::string clamped(const std::string& position, const WirePiece&);
// The first or the last position of each piece.
std::function<std::string(WireId, bool last)> ends(const WirePieces&);
// The first place that an index reaches over the pieces, or one past the last; and the first places by dimension.
std::string corner(const Index&, const WirePieces&, bool past);
std::vector<std::string> corners(const std::vector<Index>&, const WirePieces&);

}  // namespace napkin
