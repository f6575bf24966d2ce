// The loop nest: every decision made. Loops with their pieces, buffers with level and shape, loads and saves, and
// columns. Emitters only print it; `interpret` runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

using BufferId = Id<struct BufferTag>;

// A piece of an array at one level. Extents are those of a whole piece, ragged pieces fill a part of it.
struct Buffer {
  ArrayId array;
  std::size_t level;
  std::string name;                  // unique in the nest: "K", "K_reg"
  std::vector<std::int64_t> extent;  // one per wire of the array
  Datatype type = Datatype::f32;
};

struct Load {
  BufferId to;
  std::optional<BufferId> from;  // none: the array itself, at the outermost level
};
struct Save {
  BufferId from;
  std::optional<BufferId> to;
};
// One column on the pieces at hand; accesses read the innermost buffer of their array that is in scope.
struct Compute {
  Column column;
  BufferId to;
};
struct Nest;
// Pieces of `wire`, `size` each, inside the piece of the loops around it: side by side or one after another.
struct For {
  SplitKind kind;
  WireId wire;
  std::int64_t size;
  std::size_t level;
  std::vector<Nest> body;
};
struct Nest {
  std::variant<For, Load, Save, Compute> node;
};

struct LoopNest {
  Diagram scratch;
  std::vector<Buffer> buffers;
  std::vector<Nest> body;
  std::vector<ArrayId> inputs, outputs;
};

LoopNest lower(const Kernel&, const Hardware&);

// Runs a nest: values live in per-level buffers, every load and save is counted, ragged pieces are clipped, numbers
// are rounded to the type of the buffer they are stored in. The oracle for code emitters; its counts are the second
// slow twin of estimate().
Count interpret(const LoopNest&, const Hardware&, Values& values);

}  // namespace napkin
