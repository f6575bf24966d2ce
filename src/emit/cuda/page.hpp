// The page that the text of one kernel is written on, and what names mean where it stands.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/threads/threads.hpp"
#include "emit/shared/page.hpp"

namespace napkin {

// A wire's piece where the text stands: it begins at 0 where nothing has split the wire yet.
struct WirePiece {
  std::string begin, end;
  std::int64_t extent = 1;
  std::string position{};  // of the only one, where the extent is 1
  bool by_thread = false;
  // Of a wire that is spread over threads, outside of its stream: `share` positions of every `step` are the thread's
  // own, those of `number`. Inside: `slot`, where the piece's own begin among all of the thread's.
  std::int64_t step = 0, share = 0;
  std::string number{}, slot{};

  bool is_whole() const { return begin == "0"; }
  bool is_spread() const { return step > 0; }
};
using WirePieces = std::vector<WirePiece>;  // by WireId

struct Page : CodePage {
  Page(const ThreadedKernel&, const CodeNames&);

  const ThreadedKernel& kernel;
  WirePieces own, shared;                                // of the thread, and of its block
  bool any_threads = false;                              // whether groups are shared out to threads
  std::map<BufferId, WirePieces> scope;                  // the pieces around the block that a buffer belongs to
  std::map<BufferId, std::vector<std::string>> corners;  // where a tile in shared memory begins

  // The tile of the block that a buffer was loaded from.
  BufferId staged(BufferId id) const { return tile_at(nest, sources, id, kernel.block_level); }
  std::size_t leaf() const { return kernel.hardware.levels.size() - 1; }
  std::string_view storage(ArrayId) const;  // of its numbers, one by one: "__half"
  std::string_view memory(ArrayId) const;   // of the array: the same, unless its numbers share bytes
  // A number of the array, by its places, and where it stands.
  std::string element(ArrayId, const std::vector<std::string>& at) const;
  std::string address(ArrayId, const std::vector<std::string>& at) const;
  // "q 1, x 8".
  std::string extents(const std::vector<WireId>&, const WirePieces&) const;

  // The head of the kernel's function: sizes, inputs, outputs, and more. What follows stands inside.
  void open_function(const std::string& name, const std::vector<ArrayId>& inputs,
                     const std::vector<std::string>& more = {});
  // The block's shared memory, and what begins so many bytes from its own beginning.
  void declare_shared();
  void declare_in_shared(std::string_view type, std::string_view name, std::int64_t begin,
                         const std::string& comment = {});
  // What lives in the block at hand, the names of one type together.
  using NamesByType = std::map<std::string, std::vector<std::string>>;
  void declare(const NamesByType&);
  // Of a buffer that lives in the block at hand: it belongs to the pieces around.
  void enter_scope(BufferId);

  using CodePage::limit;
  // The text depends on how long wires are that are whole in the pieces.
  void limit(const Index&, const WirePieces&);
};

// The first or the last position of each piece.
std::function<std::string(WireId, bool last)> ends(const WirePieces&);

}  // namespace napkin
