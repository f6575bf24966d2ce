// The loop nest: every decision made. Groups, loops with their pieces, buffers with level and shape, loads, columns and
// saves. Emitters only print it; `interpret` runs it.
//
// Groups stand outside everything. What a step does at a level deeper than its own, all groups of those levels do
// together: a load into shared memory inside a group of warps happens once for the block, not once for each warp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/partition.hpp"

namespace napkin {

using BufferId = Id<struct BufferTag>;

// A piece of an array at one level: a tile of an input, what columns compute, or an output on its way out. It begins
// where `at` begins under the loops, of its level and the levels above, that enclose the block it belongs to.
struct Buffer {
  ArrayId array;
  std::size_t level = 1;
  std::string name;                    // unique in the nest: "K_smem", "S"
  std::vector<Index> at{};             // per dimension of the array, over the wires of its readers
  std::vector<std::int64_t> extent{};  // of a whole piece; ragged pieces fill a part of it
  Datatype type = Datatype::f32;
  std::int64_t values() const;  // of a whole piece
};

// Into a tile, from the tile one level above or, without one, from the array itself.
struct Load {
  BufferId to;
  std::optional<BufferId> from;
};
// The piece at hand of an output, one level up or into the array itself.
struct Save {
  BufferId from;
  std::optional<BufferId> to;
};
// One column on the pieces at hand.
struct Compute {
  Column column;
  BufferId to;
  std::optional<BufferId> carried;                 // where the old value of column.carried stands
  std::vector<std::pair<ExprId, BufferId>> reads;  // for every access of the column, where it reads
  std::vector<Condition> masks{};                  // where all of them hold at every position of the piece at hand,
  ExprId unmasked{};                               // the value is this one
  BufferId read_from(ExprId access) const;
};

// Of a mask, in the body of a loop: unless the tile has such an entry, the rest of the body is passed over for the
// piece at hand.
struct MaskTest {
  BufferId tile;
  ExprId access;  // of the tile
  bool wanted = true;
};

struct LoopStatement;
struct LoopBody {
  std::vector<BufferId> buffers;  // that live here and no further out
  std::vector<LoopStatement> steps;
};
// A stream: its pieces one after another. A piece on which one of `needs` holds nowhere is passed over: nothing is
// loaded and nothing computed.
struct For {
  Split split;
  LoopBody body;
  std::vector<Condition> needs{};
};
struct LoopStatement {
  std::variant<Load, MaskTest, Compute, Save, For> node;
};

struct LoopNest {
  Diagram scratch;
  std::vector<Buffer> buffers;
  std::vector<Split> groups;  // outermost level first, each inside the pieces of those before
  LoopBody body;
  std::vector<ArrayId> inputs, outputs;

  const Buffer& at(BufferId id) const { return buffers.at(id.index); }
  bool is_input(ArrayId) const;
  bool is_input(BufferId id) const { return is_input(at(id).array); }
};

// The nest of a legal kernel whose axes all have sizes.
LoopNest lower(const Kernel&, const Hardware&);

// What is wrong with a nest, one line each; empty unless napkin has a bug.
std::vector<std::string> verify(const LoopNest&);

// One line per group, loop, buffer, load, column and save.
std::string to_text(const LoopNest&, const Hardware&);

// The buffers that hold something while a column runs (docs/theory.md, memory): for every Compute of the nest, in
// the order of its text. `overwrites` are pairs of a result and an operand that may share their place.
struct Held {
  const Compute* compute;
  std::vector<BufferId> buffers;
  std::optional<std::pair<BufferId, BufferId>> overwrites;
};
std::vector<Held> held(const LoopNest&);

// What running a nest moves, holds and computes, counted one by one.
struct Count {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0, memory_values = 0, memory_bytes = 0;
    bool operator==(const At&) const = default;
  };
  std::vector<At> levels;
  std::vector<std::int64_t> sector_bytes;  // by level: of all that lies together, whole sectors; 0 where there are none
  std::vector<double> operations;          // by Unit
};

// Runs a nest: values live in per-level buffers, every load and save is counted, ragged pieces are clipped, numbers
// are rounded to the type of the buffer they are stored in. What is read without having been loaded or computed is
// NaN. The oracle for code emitters; its counts are the second slow twin of estimate(). With `all_asked` no piece is
// passed over for what a mask holds, only for positions: then counts do not depend on the values.
Count interpret(const LoopNest&, const Hardware&, Values& values, bool all_asked = false);

}  // namespace napkin
