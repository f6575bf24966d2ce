// Distribute: which warp and which lane of a block holds what, where a kernel's products run on matrix units. What a
// warp computes lies in the fragments of one matrix instruction: one wire runs along their rows, and one along their
// columns.
//
// The four warps of a warpgroup issue an instruction together, and each has 16 of its 64 rows. One more warpgroup, the
// producer, then copies tiles into pipelines of several stages and computes nothing.
//
// docs/cuda.md has the rules for loop nests that fit. For others the result is the reason why they do not fit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/instructions.hpp"
#include "napkin/loops.hpp"
#include "napkin/timing.hpp"

namespace napkin {

// The wires of an array, or of the positions that a column runs over, that lie along the rows and columns of fragments,
// if their piece is longer than 1; and how many fragments of 16 rows and of 8 columns the piece takes. If a grid has no
// wire along rows or columns, the lanes that differ only in that direction hold the same values.
struct Grid {
  std::optional<WireId> rows, columns;
  std::int64_t row_tiles = 1, column_tiles = 1;
  std::int64_t values() const;  // of a lane
  bool operator==(const Grid&) const = default;
};

// One side of a product: a tile in shared memory, or values that the warp computed, which become an operand without
// leaving its registers.
struct Operand {
  ExprId access;
  BufferId buffer;
  bool computed = false;
  bool transposed = false;  // on its way from shared memory: the contracted wire does not run along memory
  bool kept = false;        // in registers from where the nest loads it, not loaded at each use
  bool one_by_one = false;  // lanes read single numbers: no matrix load reads their format or layout
};

// A column that sums the product of two arrays over one wire. One instruction takes `k` positions of that wire.
struct Product {
  const Compute* compute = nullptr;
  const MatrixInstruction* instruction = nullptr;
  WireId over;
  std::int64_t steps = 1;
  Operand rows, columns;      // the operand with the wire along rows, and the one with the wire along columns
  bool widened = false;       // in registers: no instruction multiplies the operands in the format they are stored in
  std::int64_t promoted = 0;  // steps after which sums of the matrix units are added to those in f32; 0: never
  std::int64_t longest = 0;   // the length of `over` up to which the sum cannot overflow; 0: any length
  bool has_computed() const { return rows.computed || columns.computed; }
};

// A tile of an input in shared memory.
struct StagedTile {
  SharedTile layout;
  std::optional<std::size_t> row, column;  // the dimensions of the array whose piece is longer than 1
  std::int64_t copies = 1;                 // stages: all but one are loaded for later iterations
  std::int64_t together = 16;              // bytes that lanes copy together, to which its rows are aligned
  std::int64_t begin = 0;                  // in bytes
  bool of_products = true;                 // else only columns that are no products read it
  bool covers = true;                      // it has room for whole fragments, which may reach past the end of a piece
  std::int64_t shares = 1;                 // blocks of a cluster, each of which multicasts its share of the rows to all
};

// Bytes after which the swizzle of TMA repeats. The stages of tiles begin at multiples of it, or, for single warps, at
// multiples of a line.
constexpr std::int64_t swizzle_pattern = 1024, tile_line = 128;

// The tiles that are loaded together in each iteration of a loop, or one tile that is loaded outside of all loops.
struct TilePipeline {
  const For* loop = nullptr;
  std::vector<BufferId> tiles;
  std::int64_t copies = 1;           // stages
  const Compute* lasting = nullptr;  // a product that is still running while the next iteration begins
  // Outside of all loops: the first and last statement of the nest's body that read it.
  const LoopStatement *first = nullptr, *last = nullptr;
};

// How the blocks of a launch get their output tiles. The blocks of a cluster have neighbouring tiles.
struct TileScheduler {
  bool persistent = false;      // a block computes one tile after another, and only as many are launched as run at once
  std::vector<WireId> order;    // rasterization: wires of the groups of blocks, the last fastest; empty: as in the nest
  std::int64_t by = 1;          // rasterization: tiles along the last wire but one for each along the last
  std::int64_t cluster = 1;     // blocks of a cluster
  std::optional<WireId> along;  // the wire along which the blocks of a cluster lie
  std::string alone_because;    // why the kernel has no clusters although the model plans some
};

// A mainloop whose products overlap the columns that lanes compute. Leading products multiply tiles alone; trailing
// ones multiply what the iteration computed. With overlap within a warpgroup the trailing products run while the lanes
// compute the columns of the next iteration. In ping-pong a warpgroup has the matrix units for its trailing products
// and for the leading ones of its next iteration, and other warpgroups have them while it computes the columns in
// between. A mainloop may have both.
struct OverlappedMainloop {
  const For* loop = nullptr;
  bool within = false;          // overlap within a warpgroup
  std::int64_t warpgroups = 1;  // in ping-pong with each other
  std::vector<const Compute*> leading, trailing;
};

struct WarpNest {
  Partition partition;                   // the kernel's, fitted: see below
  std::shared_ptr<const LoopNest> nest;  // the pointers below point into it
  std::size_t block_level = 1;
  int warps = 1;                              // that compute
  int issuing_warps = 1;                      // warps that issue a product together
  std::map<BufferId, Grid> arrays;            // computed
  std::map<const Compute*, Grid> columns;     // the positions that each runs over
  std::map<const Compute*, WireId> shuffled;  // a wire that some fold one position after another, by shuffles of lanes
  std::vector<Product> products;
  std::map<BufferId, const Compute*> inlined;  // computed where they are read or saved, and never held
  std::map<BufferId, StagedTile> tiles;        // other arrays are read in place
  std::vector<const For*> pipelined;           // loops whose tiles are loaded ahead
  // Of a lane: the count, the part of it for other things than values and operands, and the limit.
  std::int64_t registers = 0, registers_beside = 0, most_registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t blocks = 1, planned_blocks = 1;  // that fit on an SM
  std::int64_t planned_stages = 1;              // of the tiles of a stream
  bool keeps = false;                           // planned: operands that outlive a stream are resident in registers

  // Kernels of warpgroups alone:
  TileScheduler scheduler;
  std::vector<TilePipeline> pipelines;
  std::map<BufferId, StagedTile> stores;  // outputs that leave through shared memory
  std::string no_stores;                  // why other outputs leave from registers
  std::optional<OverlappedMainloop> step;
  Overlap planned = Overlap::none;  // the overlap of the kernel's configuration
  std::string not_as_planned;       // why the mainloop overlaps otherwise; empty if it is as planned
  std::int64_t barriers_begin = 0;  // in shared memory, behind the tiles
  // Registers of a lane: at launch, then of a consumer, and of the producer; 0: as at launch.
  std::int64_t first_registers = 0, lane_registers = 0, loader_lane_registers = 0;

  bool is_within() const { return step && step->within; }
  bool is_ping_pong() const { return step && step->warpgroups > 1; }
  const Product* product(const Compute* compute) const;
  std::vector<BufferId> tiles_loaded(const LoopBody&) const;  // by the body itself
  bool is_integer(BufferId) const;                            // a sum that its instruction keeps as i32
  bool lasts(const Compute* compute) const;
};

// The kernel on warps. Its pieces are fitted to fragments: streams below the level of blocks are left out, since
// fragments hold what they would stage. Pieces become multiples of 16, and shorter if registers or shared memory do not
// suffice.
std::variant<WarpNest, Refused> distribute(const Kernel&, const Hardware&);
// The same on warpgroups. Each warp has 16 rows of every instruction, and nothing else is split among warps. The
// mainloop overlaps as the kernel's configuration says, if its iteration can be cut so. If the plan is for single
// warps, the kernel is refused without a reason.
std::variant<WarpNest, Refused> distribute_warpgroups(const Kernel&, const Hardware&);

// The fitted partition if it has other tiles than the kernel's. Streams at the level of warps do not count.
std::optional<Partition> other_tiles(const Kernel&, const WarpNest&, const Hardware&);
// The same for the kernel that runs on the machine: of warpgroups if the kernel is planned for them, else of single
// warps, else with rows over warps. None if it runs otherwise.
std::optional<Partition> other_tiles(const Kernel&, const Hardware&);

// How lanes read an input.
enum class RowRead : std::uint8_t {
  vectors,   // each lane its own vector, when the nest loads it; it stays in registers
  once,      // all lanes the same number, when the nest loads it
  in_place,  // whenever a column reads it
  window,    // as vectors, at every position of the window that a column folds for each position along lanes
  staged,    // as vectors into shared memory, when the nest loads it: a lane reads only what it has written
  passing    // as vectors, in the only loop over positions that reads it
};

// A kernel without matrix products: one wire runs along the lanes of one or several warps, in vectors of numbers that
// lie side by side in memory; these warps take one row of the other wires after another. Folds along the wire run over
// a lane's own values first, then over the lanes and the warps of the row.
struct RowNest {
  Partition partition;                   // the kernel's, fitted: see below
  std::shared_ptr<const LoopNest> nest;  // what the ids below belong to
  std::size_t block_level = 1;
  WireId lanes;                          // the wire
  int warps = 1, warps_of_row = 1;       // of a block, and of a row: all warps of the block, or 1
  std::int64_t vector = 1, vectors = 1;  // values side by side, and how many such a lane holds
  std::map<BufferId, RowRead> reads;     // of innermost pieces of inputs
  // Whether rows are too long for registers and lie in shared memory, as vectors of one lane after another.
  bool staged = false;
  std::map<BufferId, const Compute*> inlined;  // computed where they are read or saved: all along staged rows
  std::map<BufferId, std::int64_t> staged_at;  // where rows begin in shared memory, in bytes
  std::int64_t registers = 0;                  // at most, for a lane's values and addresses
  std::int64_t shared_bytes = 0;
  int blocks = 1;  // at least as many fit on an SM, by their registers

  std::int64_t values() const { return vector * vectors; }  // of a lane, along the wire
};

// The kernel as rows over warps, with a partition of its own. Rows are groups of blocks; a block has as many as the
// plan says if they share an input, and four warps with rows of their own if one warp has a row. The wire along lanes
// is grouped if nothing needs more than a piece of it, and whole if all of it fits into the registers of the row's
// warps. Otherwise it is streamed, or, if it cannot be, whole in shared memory.
std::variant<RowNest, Refused> distribute_rows(const Kernel&, const Hardware&);
// The same, if the kernel runs so: none if it runs on matrix units or on plain threads.
std::optional<RowNest> rows_of(const Kernel&, const Hardware&);
// Its partition if blocks have other tiles than the kernel's.
std::optional<Partition> other_tiles(const Kernel&, const RowNest&, const Hardware&);

}  // namespace napkin
