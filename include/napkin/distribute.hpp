// Distribute: which warp and which lane of a block holds what, where a kernel's products go to matrix units. What a
// warp computes lies in the fragments of one matrix instruction: one wire along their rows, one along their columns.
//
// Instructions of warpgroups are issued by teams of four warps, each with 16 of a team's 64 rows. Tiles are then copied
// by one more team, which computes nothing, into rings of several copies.
//
// A loop nest fits where a rule of docs/cuda.md says so; else the answer is why it does not.
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

constexpr std::int64_t rows_of_fragment = 16;

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
  bool one_by_one = false;  // lanes read its numbers: stored in another format, or so that no load of matrices has them
};

// A column that sums a product of two arrays over one wire, a step of the instruction at a time.
struct Product {
  const Compute* compute = nullptr;
  const MatrixInstruction* instruction = nullptr;
  WireId over;
  std::int64_t steps = 1;
  Operand rows, columns;      // who carries the grid's rows, and who its columns
  bool widened = false;       // operands, in registers: the machine has no products of them as they are
  std::int64_t promoted = 0;  // steps after which sums of the matrix units are added to those in f32; 0: never
  std::int64_t longest = 0;   // that `over` may be, for the sum to hold any numbers; 0: as long as it likes
  bool has_computed() const { return rows.computed || columns.computed; }
};

// A tile of an input in shared memory.
struct StagedTile {
  SharedTile layout;
  std::optional<std::size_t> row, column;  // the dimensions of the array that are long
  std::int64_t copies = 1;                 // of which all but one are on their way for steps to come
  std::int64_t begin = 0;                  // in bytes
  bool of_products = true;                 // else other columns alone read it
  bool covers = true;                      // all that fragments reach, which may be past the end of a piece
  std::int64_t shares = 1;                 // blocks of a cluster that each copy so much of its rows to all of them
};

// Bytes after which the swizzles of TMA begin anew: tiles of teams begin at multiples.
constexpr std::int64_t swizzle_pattern = 1024;

// The tiles that are loaded together in each round of a loop; or one that is loaded outside of all loops.
struct Ring {
  const For* loop = nullptr;
  std::vector<BufferId> tiles;
  std::int64_t copies = 1;
  const Compute* lasting = nullptr;              // a product that stays on its way while the next round begins
  const Nest *first = nullptr, *last = nullptr;  // outside of all loops: the steps of the nest's body that read it
};

// How the blocks of a launch come to the pieces of the grid. Blocks of a cluster have neighbouring pieces.
struct Walk {
  bool stays = false;           // a block takes one piece after another; as many are launched as run at once
  std::vector<WireId> order;    // of the groups of blocks, last fastest; empty: as the nest has them
  std::int64_t by = 1;          // so many pieces of the last but one for each of the last
  std::int64_t cluster = 1;     // blocks
  std::optional<WireId> along;  // of a cluster
  std::string alone_because;    // why there are no clusters, where the model would have some
};

// The step of a loop whose products run beside the columns that lanes compute. Those of tiles alone lead, those of what
// the step computed trail. Within a team the trailing ones stay on their way beside the columns of the next step. In
// turn a team has the matrix units for its trailing products and the leading ones of its next step, and others have
// them while it computes what lies between. It may be both.
struct OverlappedStep {
  const For* loop = nullptr;
  bool within = false;     // a team
  std::int64_t teams = 1;  // that wait for each other's turn
  std::vector<const Compute*> leading, trailing;
};

struct WarpNest {
  Partition partition;                   // the kernel's, fitted: see below
  std::shared_ptr<const LoopNest> nest;  // what the pointers below point into
  std::size_t block_level = 1;
  int warps = 1;                            // that compute
  int team = 1;                             // warps that issue a product together
  std::map<BufferId, Grid> arrays;          // computed
  std::map<const Compute*, Grid> columns;   // what each runs over
  std::map<const Compute*, WireId> handed;  // beside that, what some fold one position after another: lanes hand around
                                            // what they hold along it
  std::vector<Product> products;
  std::map<BufferId, const Compute*> in_passing;  // computed where they are read or saved, and held nowhere
  std::map<BufferId, StagedTile> tiles;           // others are read where they are
  std::vector<const For*> pipelined;              // loops whose tiles are loaded ahead
  // Of a lane: counted, of those what its compiler takes beside values and operands, and what it may have.
  std::int64_t registers = 0, registers_beside = 0, most_registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t blocks = 1, planned_blocks = 1;  // that there is room for on a core
  std::int64_t planned_stages = 1;              // copies of tiles of a stream
  bool keeps = false;                           // planned: registers hold operands that outlive a stream

  // Of teams:
  Walk walk;
  std::vector<Ring> rings;
  std::map<BufferId, StagedTile> stores;  // outputs that leave through shared memory
  std::string no_stores;                  // why others leave from registers
  std::optional<OverlappedStep> step;
  Overlap planned = Overlap::none;  // by the configuration of the kernel
  std::string not_as_planned;       // why the step does not overlap so; empty where it does
  std::int64_t barriers_begin = 0;  // in shared memory, behind the tiles
  // That a lane has when the block begins, and may have then: one that computes, and one that only copies, 0: as many.
  std::int64_t first_registers = 0, lane_registers = 0, loader_lane_registers = 0;

  bool is_within() const { return step && step->within; }
  bool is_in_turn() const { return step && step->teams > 1; }
  const Product* product(const Compute* compute) const;
  bool is_integer(BufferId) const;  // a sum that its instruction keeps as i32
  bool lasts(const Compute* compute) const;
};

// The kernel on warps. Its pieces are fitted to fragments: streams below the blocks are left out, for what they stage
// the fragments hold; pieces become multiples of 16, and shorter where registers or shared memory would not do.
std::variant<WarpNest, Refused> distribute(const Kernel&, const Hardware&);
// The same on teams of four warps. Warps are dealt anew: 16 rows for each, and nothing else is split between them.
// What runs beside their products is what the kernel's configuration says, where its step can be cut so.
// Refused without a reason where the plan is for single warps.
std::variant<WarpNest, Refused> distribute_teams(const Kernel&, const Hardware&);

// The fitted partition, where it has other tiles than the kernel's; what its streams of warps stage does not count.
std::optional<Partition> other_tiles(const Kernel&, const WarpNest&, const Hardware&);
// The same of what runs on the machine: teams where the kernel is planned for them, else single warps. None where it
// runs without matrix units.
std::optional<Partition> other_tiles(const Kernel&, const Hardware&);

// How lanes come to the numbers of an input.
enum class RowRead : std::uint8_t {
  vectors,   // each its own, several side by side at once, where the nest loads them; they stay in registers
  once,      // all the same one, where the nest loads it
  in_place,  // wherever a column reads it
  window,    // as vectors, at every position of the window that a column folds for each position along lanes
  staged,    // as vectors, where the nest loads it, into shared memory: a lane reads there what it has written
  passing    // as vectors, by the one loop over positions that needs it
};

// A kernel without products of matrices: one wire runs along the lanes of a team of warps, in vectors of numbers that
// lie side by side in memory; the team takes one row of the other wires after another. Folds along the wire run over a
// lane's own values first, then over the lanes and the warps of the team.
struct RowNest {
  Partition partition;                   // the kernel's, fitted: see below
  std::shared_ptr<const LoopNest> nest;  // what the ids below belong to
  std::size_t block_level = 1;
  WireId lanes;                          // the wire
  int warps = 1, team = 1;               // of a block, and of a row: all of the block's, or 1
  std::int64_t vector = 1, vectors = 1;  // values side by side, and how many such a lane holds
  std::map<BufferId, RowRead> reads;     // of innermost pieces of inputs
  bool staged = false;  // rows too long for registers stand in shared memory, a vector of each lane after another
  std::map<BufferId, const Compute*> in_passing;  // computed where they are read or saved: all along staged rows
  std::map<BufferId, std::int64_t> staged_at;     // where rows begin in shared memory, in bytes
  std::int64_t registers = 0;                     // that a lane's values and addresses take at most
  std::int64_t shared_bytes = 0;
  int blocks = 1;  // at least that many beside each other on a core, by their registers

  std::int64_t values() const { return vector * vectors; }  // of a lane, along the wire
};

// The kernel as rows over warps, with a partition of its own: rows are groups of blocks, as many in each as the plan
// has where they share an input. The wire along lanes is grouped where nothing needs more than a piece of it, left
// whole where all of it fits into the registers of a team, else streamed, or where it cannot be, left whole in shared
// memory.
std::variant<RowNest, Refused> distribute_rows(const Kernel&, const Hardware&);

}  // namespace napkin
