// The mainloop of a block: the innermost loop with most contractions. Its operations are the columns of one iteration,
// with the tiles that they read and the matrix instruction of each contraction.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loops/pieces.hpp"
#include "loops/work.hpp"
#include "napkin/loops.hpp"

namespace napkin {

struct MainloopOperand {
  BufferId buffer;
  bool staged = false;      // a tile of an input, in the core's memory; else computed, in registers
  bool outlives = false;    // its tile is loaded outside of the mainloop, so that it can be kept
  bool kept = false;        // resident in registers
  bool one_by_one = false;  // lanes read single numbers: no matrix load reads their format or layout
};

// A sum of products of two arrays on the matrix units.
struct Contraction {
  MainloopOperand rows, columns;  // the operand with the rows that warpgroups divide, and the other
  const InstructionShape* instruction = nullptr;
  const InstructionShape* fastest = nullptr;    // the fastest one for these operands
  const InstructionShape* registers = nullptr;  // the one that is used if registers must hold both operands
  WireId depth;                  // the wire that it sums over of which an instruction takes several positions
  std::optional<WireId> across;  // the innermost wire that the other operand alone has, of those longer than 1
  bool exchanged = false;        // it folds the rows: warpgroups give each other their operands in the core's memory
  std::int64_t promoted = 0;     // products after which its sums are added to others, in f32; 0: never
  std::int64_t k = 1;            // positions of the depth that the kernel multiplies at a time
  bool mixed = false;            // of two formats
  int parts = 1;                 // instructions for each pair of operands: 2 where an f32 operand is split in two
};
// One of the two reads of a sum of products.
struct Factor {
  MainloopOperand operand;
  std::vector<WireId> wires;  // of its indices
  bool widened = false;       // in registers: its stored format is not that of the multiplication
  std::vector<Index> at{};    // the indices themselves
  bool has(WireId wire) const { return std::ranges::find(wires, wire) != wires.end(); }
};

// Loops of a block around a statement of the nest, and how often they run it for each iteration.
struct Around {
  std::vector<const For*> loops;
  double times = 1;
};

struct MainloopOperation {
  const Compute* compute = nullptr;
  std::string name;
  std::vector<ColumnWork> work;
  double kept = 1, folded = 1;  // positions of the result, and with what is folded
  std::vector<WireId> wires;    // that its value varies along, sorted
  std::optional<Contraction> contraction;
  std::vector<Factor> factors{};  // of a contraction, in the order of its product
  Around around{};
  std::vector<std::int64_t> lengths{};  // outside of the mainloop: of the piece of every wire there
};
// A transfer of the prologue or epilogue: a tile that is loaded outside of the mainloop, or an output.
struct Edge {
  BufferId buffer;
  Around around;
  bool inside = false;    // the iteration saves it
  bool reloaded = false;  // loaded again while its block works on the same output tile
};

struct Mainloop {
  std::shared_ptr<LoopNest> nest;  // of the splits down to the core
  std::size_t core = 1;
  std::int64_t sector = 1;          // in which data comes into the core's memory, in bytes
  std::int64_t row_alignment = 16;  // bytes, of the rows of loaded operands; no copy needs more than 16
  int capability = 0;               // of CUDA: which instructions keep fewer bits of sums
  bool loads_matrices = false;    // as napkin's kernels do: numbers of 2 bytes along either axis, others along the last
  std::vector<const For*> loops;  // around the mainloop, and its own
  std::optional<WireId> given_row{};  // set by a group below the core
  std::vector<std::int64_t> lengths;  // of the piece of every wire in one iteration, by WireId
  std::vector<MainloopOperation> columns;
  std::vector<MainloopOperation> outside;  // columns of the prologue and epilogue
  std::vector<Edge> edges;
  double steps = 1;    // iterations of a block
  bool keeps = false;  // operands that outlive the iterations are resident in registers: single warps only
  // Whether a loop would index registers by its counter: an array that lives outside of a stream is longer than its
  // piece.
  bool counts_through_registers = false;
  std::vector<BufferId> tiles;     // of inputs, in the core's memory, loaded outside of the mainloop
  std::vector<BufferId> streamed;  // the same, loaded in every iteration
  std::vector<BufferId> outputs;   // that the block saves
  WireId row;                      // divided among warpgroups
  // Whether the divided rows are the rows of instructions. For instructions of single warps, rows are the first of the
  // two wires of a result.
  bool has_rows_first = true;
  // By buffer: the product of its dimensions other than that along the rows, and the length of the latter; 0 without
  // one.
  struct Volume {
    std::int64_t beside = 1, rows = 0;
    double sectors = 1;  // bytes moved in whole sectors for each byte of a piece
  };
  std::vector<Volume> volumes;

  const Diagram& diagram() const { return nest->scratch; }
  const LoopBody& body() const { return loops.empty() ? nest->body : loops.back()->body; }
  // Whether something is true of an operation of the mainloop or outside of it, or of a tile of an input, and a call
  // for each operation.
  template <class Is>
  bool any(const Is& is) const {
    return std::ranges::any_of(columns, is) || std::ranges::any_of(outside, is);
  }
  template <class Is>
  bool any_tile(const Is& is) const {
    return std::ranges::any_of(streamed, is) || std::ranges::any_of(tiles, is);
  }
  template <class Visit>
  void each(const Visit& visit) const {
    std::ranges::for_each(columns, visit), std::ranges::for_each(outside, visit);
  }
  template <class Change>
  void each(const Change& change) {
    std::ranges::for_each(columns, change), std::ranges::for_each(outside, change);
  }
  // The widest format of the inputs, in which the paper's model computes; f32 without inputs.
  Datatype widest_input() const;
  // Output tiles of a block, one after another.
  double output_tiles() const;
  bool keeps_any() const;
  // Whether a loop that is not around the mainloop loads the tile. Kernels copy it as far ahead as those of the
  // mainloop.
  bool has_loop_of_its_own(BufferId tile) const;
  // The length of every wire's piece at a column.
  const std::vector<std::int64_t>& lengths_at(const MainloopOperation& column) const {
    return column.lengths.empty() ? lengths : column.lengths;
  }
  bool has_row(BufferId id) const { return volumes[id.index].rows > 0; }
  int value_bytes(BufferId) const;          // of one value, as it is stored
  std::int64_t bytes(BufferId) const;       // of all that the block holds
  std::int64_t step_bytes(BufferId) const;  // of what one iteration reads, as it is stored
  int share(BufferId) const;                // values that share a byte in the array
  // Bytes that move between it and the level above; in whole sectors on a chip.
  double moved(BufferId id, bool on_chip) const {
    return static_cast<double>(bytes(id)) / share(id) * (on_chip ? volumes[id.index].sectors : 1);
  }
  // Rows of a buffer with `all` rows that the owner of `rows` rows of an iteration holds; more, if several iterations
  // take parts of them.
  std::int64_t rows_held(std::int64_t all, std::int64_t rows) const {
    const auto here = lengths[row.index];
    return all > here ? pieces_of(all * rows, here) : std::min(all, rows);
  }
  // Values of the rows; of the whole buffer if it has no rows.
  std::int64_t values(BufferId id, std::int64_t rows) const {
    const auto& volume = volumes[id.index];
    return volume.rows > 0 ? volume.beside * rows_held(volume.rows, rows) : volume.beside;
  }
  std::vector<std::int64_t> shape(BufferId, std::int64_t rows) const;
  // Whether warpgroups issue the instructions. They wait for an instruction only when they need its result: an
  // iteration can begin while the contractions of the last one run, and ping-pong is possible.
  bool issues_together() const;
  // Whether a column makes, folds or reads anything along the rows.
  bool has_rows(const MainloopOperation&) const;
  // Whether a column has two axes and none of the rows: every warp computes all of it.
  bool is_repeated(const MainloopOperation&) const;
  // Whether single warps have no instruction for the operands, which therefore become f16.
  bool is_widened_by_warps(const Contraction&) const;
  // Whether lanes exchange bytes of rows that were computed in 8 bits: each has two numbers of four of an instruction.
  bool exchanges_bytes(const Contraction&) const;
};

// Whether a contraction begins anew in each iteration and multiplies tiles alone.
bool leads(const MainloopOperation&);

// The wire that an instruction takes its depth along: of the wires that a contraction sums over, the one that lies
// innermost in memory and is long enough for an instruction, else the innermost.
WireId depth_of(const std::vector<WireId>& over, const Access& operand, const Diagram&, std::int64_t least);

// None without a core or without a contraction on its matrix units.
std::optional<Mainloop> mainloop_of(const Kernel&, const Hardware&);

}  // namespace napkin
