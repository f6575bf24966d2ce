// The loop nest, in which every decision is made: groups, loops with their pieces, buffers with level and shape, loads,
// columns and saves. Emitters only print it; `interpret` runs it.
//
// Groups enclose all loops. A step at one level is executed once by all groups of deeper levels together: a load into
// shared memory inside a group of warps happens once for the block, not once for each warp.
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

// A piece of an array at one level: a tile of an input, a result of columns, or an output that is to be saved. It
// begins at the first place of `at` in the current pieces of those loops that enclose its body and belong to its level
// or to levels above.
struct Buffer {
  ArrayId array;
  std::size_t level = 1;
  std::string name;                    // unique in the nest: "K_smem", "S"
  std::vector<Index> at{};             // per dimension of the array, over the wires of its readers
  std::vector<std::int64_t> extent{};  // of a whole piece; a ragged piece fills a part of it
  Datatype type = Datatype::f32;
  std::int64_t values() const;  // of a whole piece
};

// Loads a tile from the tile one level above or, if there is none, from the array itself.
struct Load {
  BufferId to;
  std::optional<BufferId> from;
};
// Saves the current piece of an output to the tile one level above or to the array itself.
struct Save {
  BufferId from;
  std::optional<BufferId> to;
};
// Runs one column on the current pieces.
struct Compute {
  Column column;
  BufferId to;
  std::optional<BufferId> carried;                 // the buffer with the old value of column.carried
  std::vector<std::pair<ExprId, BufferId>> reads;  // for every access of the column, the buffer that it reads
  std::vector<Condition> masks{};                  // if all of them hold at every position of the current piece,
  ExprId unmasked{};                               // the column computes this value
  BufferId read_from(ExprId access) const;
};

// A test of a mask in the body of a loop. If no entry of the tile equals `wanted`, the rest of the body is skipped for
// the current piece.
struct MaskTest {
  BufferId tile;
  ExprId access;  // of the tile
  bool wanted = true;
};

struct LoopStatement;
struct LoopBody {
  std::vector<BufferId> buffers;  // buffers that live in this body only
  std::vector<LoopStatement> steps;
};
// A stream runs its pieces one after another. A piece on which one of `needs` holds nowhere is skipped: nothing is
// loaded and nothing is computed.
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
  std::vector<Split> groups;  // outermost level first; each splits the pieces of those before it
  LoopBody body;
  std::vector<ArrayId> inputs, outputs;

  const Buffer& at(BufferId id) const { return buffers.at(id.index); }
  bool is_input(ArrayId) const;
  bool is_input(BufferId id) const { return is_input(at(id).array); }
};

// The nest of a legal kernel. All of its axes need sizes.
LoopNest lower(const Kernel&, const Hardware&);

// The errors of a nest, one line each; empty unless napkin has a bug.
std::vector<std::string> verify(const LoopNest&);

// One line per group, loop, buffer, load, column and save.
std::string to_text(const LoopNest&, const Hardware&);

// The buffers that are alive while a column runs (docs/theory.md, memory), for every Compute of the nest in the order
// of its text. `overwrites` is a result and an operand that may share their memory.
struct Held {
  const Compute* compute;
  std::vector<BufferId> buffers;
  std::optional<std::pair<BufferId, BufferId>> overwrites;
};
std::vector<Held> held(const LoopNest&);

// Transfers, memory and operations of a run of a nest, counted one by one.
struct Count {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0, memory_values = 0, memory_bytes = 0;
    bool operator==(const At&) const = default;
  };
  std::vector<At> levels;
  std::vector<std::int64_t> sector_bytes;  // by level: whole sectors of all contiguous runs; 0 without sectors
  std::vector<double> operations;          // by Unit
};

// Runs a nest. Values live in per-level buffers, every load and save is counted, ragged pieces are clipped, and numbers
// are rounded to the type of the buffer that they are stored in. A value that is read without having been loaded or
// computed is NaN. This is the oracle for code emitters, and its counts are the second slow twin of estimate(). With
// `all_asked` pieces are skipped for their positions only, not for the contents of a mask, so that counts do not depend
// on values.
Count interpret(const LoopNest&, const Hardware&, Values& values, bool all_asked = false);

}  // namespace napkin
