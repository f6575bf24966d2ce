// The page that the text of one kernel is written on, and what names mean where it stands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/cuda/threads/threads.hpp"
#include "emit/shared/names.hpp"
#include "emit/shared/text.hpp"

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

struct Page {
  Page(const ThreadedKernel&, const CodeNames&);

  const ThreadedKernel& kernel;
  const LoopNest& nest;
  const Diagram& diagram;
  const CodeNames& names;
  Lines out;
  Identifiers pool;
  std::vector<std::string> wires, counters, buffers;     // identifiers by id: `q`, `i_q`, `Q_smem`
  WirePieces own, shared;                                // of the thread, and of its block
  bool any_threads = false;                              // whether groups are shared out to threads
  std::map<BufferId, WirePieces> scope;                  // the pieces around the block that a buffer belongs to
  std::map<BufferId, std::vector<std::string>> corners;  // where a tile in shared memory begins
  std::map<AxisId, std::int64_t> limits;                 // longest axes that the text holds for

  bool is_input(ArrayId) const;
  std::size_t leaf() const { return kernel.hardware.levels.size() - 1; }
  const std::string& level(std::size_t index) const { return kernel.hardware.levels[index].name; }
  const std::string& array(ArrayId id) const { return names.arrays.at(id.index); }
  const std::string& buffer(BufferId id) const { return buffers.at(id.index); }
  std::string_view storage(ArrayId) const;  // of its numbers, one by one: "__half"
  std::string_view memory(ArrayId) const;   // of the array: the same, unless its numbers share bytes
  // A number of the array, and where it stands.
  std::string element(ArrayId, const std::string& offset) const;
  std::string address(ArrayId, const std::string& offset) const;
  std::string size(WireId wire) const { return code_size(diagram, names, wire); }
  // "q 1, x 8".
  std::string extents(const std::vector<WireId>&, const WirePieces&) const;

  // The head of the kernel's function: sizes, inputs, outputs. What follows stands inside.
  void open_function(const std::string& name);

  // The text depends on how long the wire's axis is at most.
  void limit(WireId);
  // The same for wires that are whole in the pieces.
  void limit(const Index&, const WirePieces&);
};

}  // namespace napkin
