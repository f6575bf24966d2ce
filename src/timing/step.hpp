// One stream step of a block: the columns of the innermost loop with most contractions, the tiles they read, and which
// matrix instruction each contraction takes.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loops/work.hpp"
#include "napkin/loops.hpp"

namespace napkin {

struct StepOperand {
  BufferId buffer;
  bool staged = false;      // a tile of an input, in the core's memory; else computed, in registers
  bool outlives = false;    // of a tile that is loaded outside of the step, which may be
  bool kept = false;        // in registers throughout
  bool one_by_one = false;  // lanes read its numbers: stored in another format, or so that no load of matrices has them
};

// A fold along an axis that fragments have no place for is unrolled, so that pieces of it are no longer than this.
constexpr std::int64_t longest_handed = 64;

// A sum of products of two arrays on the matrix units.
struct Contraction {
  StepOperand rows, columns;  // the operand with the rows that teams share out, and the other
  const InstructionShape* instruction = nullptr;
  const InstructionShape* fastest = nullptr;    // for these operands, and
  const InstructionShape* registers = nullptr;  // where registers must hold both
  WireId depth;                                 // of what it sums over, the wire that an instruction takes several of
  std::optional<WireId> across;  // the innermost wire that the other operand alone has, of those longer than 1
  bool exchanged = false;        // it folds the rows: teams give each other their operands in the core's memory
  std::int64_t promoted = 0;     // products after which its sums are added to others, in f32; 0: never
  std::int64_t k = 1;            // positions of the depth that the kernel multiplies at a time
  bool mixed = false;            // of two formats
  int parts = 1;                 // instructions for each pair of operands: 2 where an f32 operand is split in two
};
// One of the two reads of a sum of products.
struct Factor {
  StepOperand operand;
  std::vector<WireId> wires;  // of its indices
  bool widened = false;       // on its way through registers: it is not stored as it is multiplied
  std::vector<Index> at{};    // the indices themselves
  bool has(WireId wire) const { return std::ranges::find(wires, wire) != wires.end(); }
};

// Loops of a block around a node of the nest, and how often they run it for each step.
struct Around {
  std::vector<const For*> loops;
  double times = 1;
};

struct StepColumn {
  const Compute* compute = nullptr;
  std::string name;
  std::vector<ColumnWork> work;
  double kept = 1, folded = 1;  // positions of the result, and with what is folded
  std::optional<Contraction> contraction;
  std::vector<Factor> factors{};  // of a contraction, in the order of its product
  Around around{};
  std::vector<std::int64_t> lengths{};  // outside of the step: of the piece of every wire that is there
};
// A tile that is loaded outside of the step, or an output that leaves.
struct Edge {
  BufferId buffer;
  Around around;
  bool inside = false;   // the step saves it
  bool returns = false;  // a tile that comes again while its block works on the same results
};

struct BlockStep {
  std::shared_ptr<LoopNest> nest;  // of the splits down to the core
  std::size_t core = 1;
  std::int64_t sector = 1;          // of what comes into the core's memory
  std::int64_t row_alignment = 16;  // bytes, of the rows of operands that are loaded; no copy asks for more than 16
  int capability = 0;               // of CUDA: which instructions keep fewer bits of sums
  bool loads_matrices = false;    // as kernels of napkin's do: of 2-byte numbers along either axis, else along the last
  std::vector<const For*> loops;  // around the step
  std::optional<WireId> given_row{};  // by a group below the core
  std::vector<std::int64_t> lengths;  // of the piece of every wire that a step of a block has, by WireId
  std::vector<StepColumn> columns;
  std::vector<StepColumn> outside;  // columns of other bodies
  std::vector<Edge> edges;
  double steps = 1;    // of a block
  bool keeps = false;  // rows of tiles that outlive the step stay in registers, where single warps take them from there
  // Whether a loop would count through registers: what lives outside of a stream is longer than a piece of it.
  bool counts_through_registers = false;
  std::vector<BufferId>
      tiles;  // of inputs, in the core's memory: loaded when it begins, or by a loop outside of the step
  std::vector<BufferId> streamed;  // or in every step
  std::vector<BufferId> outputs;   // on their way out
  WireId row;                      // dealt out to teams
  // Of every buffer: values apart from its dimension along the rows, and the length of that one; 0 where it has none.
  struct Volume {
    std::int64_t beside = 1, rows = 0;
    double sectors = 1;  // of a whole piece: what is moved in whole sectors, for each byte of it
  };
  std::vector<Volume> volumes;

  const Diagram& diagram() const { return nest->scratch; }
  // How often a block begins anew: whenever what it computed has left.
  double beginnings() const;
  bool keeps_any() const;
  // Whether the rows that are shared out are those of instructions; of single warps' instructions, rows are the first
  // of the two wires of a result.
  bool has_rows_first() const;
  // Whether a loop that is not around the step loads a tile, which kernels then copy as far ahead as those of the step.
  bool has_loop_of_its_own(BufferId tile) const;
  // Of every wire, of the piece that is where a column stands.
  const std::vector<std::int64_t>& lengths_at(const StepColumn& column) const {
    return column.lengths.empty() ? lengths : column.lengths;
  }
  bool has_row(BufferId id) const { return volumes[id.index].rows > 0; }
  std::int64_t bytes(BufferId) const;       // all that the block holds of it
  std::int64_t step_bytes(BufferId) const;  // what a step has of it, as it is stored
  int share(BufferId) const;                // values of it that share a byte where they come from
  // The same as it comes from above or goes there, on a chip in whole sectors.
  double moved(BufferId id, bool on_chip) const {
    return static_cast<double>(bytes(id)) / share(id) * (on_chip ? volumes[id.index].sectors : 1);
  }
  // Whoever has so many of a step's rows holds as many of these; more, of what several steps take by parts.
  std::int64_t rows_held(std::int64_t all, std::int64_t rows) const {
    const auto here = lengths[row.index];
    return all > here ? (all * rows + here - 1) / here : std::min(all, rows);
  }
  // Values of them; all there are where the buffer has no rows.
  std::int64_t values(BufferId id, std::int64_t rows) const {
    const auto& volume = volumes[id.index];
    return volume.rows > 0 ? volume.beside * rows_held(volume.rows, rows) : volume.beside;
  }
  std::vector<std::int64_t> shape(BufferId, std::int64_t rows) const;
  // Where four warps issue an instruction together they wait for it when they want to: a step can begin while another's
  // contractions run, teams can wait for each other's turn, and registers can pass between them.
  bool issues_together() const;
  // What keeps any block from running it, however much room a core has, and what would mend it; none where one may run.
  // A matrix has two wires, and of others a step has one position. Where four warps issue an instruction together, one
  // makes all columns of a contraction's piece, and tiles come by copies of TMA.
  struct Excess {
    std::string_view of, why;
  };
  std::optional<Excess> excess() const;
  // Whether a column has two axes and none of the rows: every warp computes all of it.
  bool is_repeated(const StepColumn&) const;
  // Of rows that were computed in 8 bits: lanes have two numbers of each four of an instruction, and exchange them.
  bool exchanges_bytes(const Contraction&) const;

 private:
  bool fills_fragments(const StepColumn&) const;
  bool has_long_tile() const;
  bool has_ragged_pieces() const;
  bool has_ragged_parts() const;
  bool has_ragged_pieces(const std::vector<const For*>& around) const;
};

// Whether a contraction begins anew in each step, of tiles alone.
bool leads(const StepColumn&);

// Of the wires that a contraction sums over, the one that lies innermost in memory and is long enough for an
// instruction, else the innermost: an instruction takes its depth along it, the others count instructions.
WireId depth_of(const std::vector<WireId>& over, const Access& operand, const Diagram&, std::int64_t least);

// Wires of which, as pieces are cut, one or another is dealt out: those that the results of most contractions carry
// from one operand alone.
std::vector<WireId> row_wires(const BlockStep&);

// None without a core or without a contraction on its matrix units.
std::optional<BlockStep> step_of(const Kernel&, const Hardware&);
// Measures the pieces of its nest and gives each contraction its rows.
void deal_rows(BlockStep&);
// The same step of a partition with the same splits in other sizes.
void resize(BlockStep&, const Partition&);

// From 64 rows on, four warps issue an instruction together.
std::int64_t warps_of(const InstructionShape&);

}  // namespace napkin
