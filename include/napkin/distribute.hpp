// Distribute: which warp and which lane of a block holds what, where a kernel's products go to matrix units. What a
// warp computes lies in the fragments of one matrix instruction: one wire along their rows, one along their columns.
//
// A loop nest fits where a rule of docs/cuda.md says so; else the answer is why it does not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "napkin/instructions.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// The wires that an array, or what a column runs over, has along the rows and columns of fragments, where its piece is
// longer than 1; how many fragments of 16 rows and of 8 columns that is. Lanes that differ only in what a grid lacks
// hold the same values.
struct Grid {
  std::optional<WireId> rows, columns;
  std::int64_t row_tiles = 1, column_tiles = 1;
  std::int64_t values() const;  // of a lane
  bool operator==(const Grid&) const = default;
};

// One side of a product: a tile in shared memory, or what the warp computed itself, which becomes an operand where it
// is.
struct Operand {
  ExprId access;
  BufferId buffer;
  bool computed = false;
  bool transposed = false;  // loaded so: the contracted wire is not the one that runs along memory
  bool kept = false;        // in registers from where the nest loads it, not loaded at each use
};

// A column that sums a product of two arrays over one wire, a step of the instruction at a time.
struct Product {
  const Compute* compute = nullptr;
  const MatrixInstruction* instruction = nullptr;
  WireId over;
  std::int64_t steps = 1;
  Operand rows, columns;  // who carries the grid's rows, and who its columns
};

// A tile of an input in shared memory.
struct StagedTile {
  SharedTile layout;
  std::optional<std::size_t> row, column;  // the dimensions of the array that are long
  std::int64_t copies = 1;                 // of which all but one are on their way for steps to come
  std::int64_t begin = 0;                  // in bytes
  bool of_products = true;                 // else other columns alone read it
};

struct WarpNest {
  Partition partition;                   // the kernel's, fitted: see below
  std::shared_ptr<const LoopNest> nest;  // what the pointers below point into
  std::size_t block_level = 1;
  int warps = 1;
  std::map<BufferId, Grid> arrays;         // computed
  std::map<const Compute*, Grid> columns;  // what each runs over
  std::vector<Product> products;
  std::map<BufferId, const Compute*> in_passing;  // computed where they are read or saved, and held nowhere
  std::map<BufferId, StagedTile> tiles;           // others are read where they are
  std::vector<const For*> pipelined;              // loops whose tiles are loaded ahead
  std::int64_t registers = 0;                     // that values and operands of a lane take at most
  std::int64_t shared_bytes = 0;

  const Product* product(const Compute* compute) const;
};

// The kernel on warps. Its pieces are fitted to fragments: streams below the blocks are left out, for what they stage
// the fragments hold; pieces become multiples of 16, and shorter where registers or shared memory would not do.
std::variant<WarpNest, Refused> distribute(const Kernel&, const Hardware&);

}  // namespace napkin
