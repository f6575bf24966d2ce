// The machine's own instructions as descriptions: shape, types, which lane holds what, text, and the least machine.
// Everything else reads these rows; a new instruction is one more. Layouts are those of the PTX ISA, sections "Matrix
// Fragments for mma", "ldmatrix", "stmatrix" and "Matrix Fragments for wgmma.mma_async".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "napkin/functions.hpp"
#include "napkin/layout.hpp"

namespace napkin {

constexpr std::int64_t lanes_of_warp = 32;
constexpr int warpgroup_warps = 4;
constexpr std::int64_t register_bytes = 4;
// That most instructions contract at a time of a row of an operand.
constexpr std::int64_t bytes_of_step = 32;

// How the sums of every instruction here lie in the lanes of a warp: in tiles of so many rows and columns. A lane has
// some of the rows, which are `groups` apart, and of each some columns that are side by side.
struct AccumulatorTile {
  std::int64_t rows, columns;
  std::int64_t lane_rows, lane_columns;

  constexpr std::int64_t groups() const { return rows / lane_rows; }       // of lanes: each has rows of its own
  constexpr std::int64_t quads() const { return columns / lane_columns; }  // lanes of a group: each has own columns
  constexpr std::int64_t values() const { return lane_rows * lane_columns; }
  constexpr std::int64_t square() const { return rows / columns; }  // tiles side by side of as many columns as rows
};
constexpr AccumulatorTile accumulator_tile{16, 8, 2, 2};
static_assert(accumulator_tile.groups() * accumulator_tile.quads() == lanes_of_warp);

// The numbers that count through a fragment, in a text: the lane's group of four, its number there, the register, and
// the value within the register, those at the low bits first.
struct FragmentIndex {
  std::string group, quad, reg, value;
};

// What the lanes of a warp, or of the warps of a warpgroup, hold of a matrix. The layout takes lane + lanes * value to
// row + rows * column, where a lane's values are counted through its registers, those at the low bits of a register
// first.
struct Fragment {
  std::int64_t rows = 0, columns = 0;
  int registers = 0, values = 0;  // of a lane
  Layout layout;
  std::int64_t lanes = lanes_of_warp;

  struct Place {
    std::int64_t row, column;
  };
  Place at(std::int64_t lane, std::int64_t value) const;
  // The register of a group's first lane that has the place.
  int register_of(Place) const;
  // The same as expressions in C, of a warp: "group + i % 2 * 8" and "i / 2 * 8 + quad * 2 + 1".
  std::string row_text(const FragmentIndex&) const;
  std::string column_text(const FragmentIndex&) const;
};

// d = a * b + c of a warp: a is m x k, b is k x n (held as its rows are n), c and d are m x n.
struct MatrixInstruction {
  std::string_view name;  // "m16n8k16"
  Datatype operands, accumulator;
  std::int64_t m, n, k;
  Fragment a, b, c;
  std::string_view ptx;
  int capability;  // 80: compute capability 8.0, that of the first machine that has it
  int warps = 1;   // that issue it together
  // Sums of it keep fewer bits than their type has: after so many products they are added to others, in f32. 0: never.
  std::int64_t promoted_every = 0;
  // Of instructions in parts: the formats of a and b.
  std::optional<std::pair<Datatype, Datatype>> formats{};
};
// What kernels load or make of an operand at once: of columns as many as a tile has rows, b of several tiles.
Fragment operand_at_once(const MatrixInstruction&, bool rows);
// The order in which a lane's numbers are contracted where an operand is made of sums: as these lie side by side.
Fragment in_order_of_sums(Fragment);
// Sums side by side that are contracted in one step.
std::int64_t tiles_of_step(const MatrixInstruction&);
// The same on a machine of that capability, which may have no such instruction and widen its operands instead.
std::int64_t promoted_every(const MatrixInstruction&, int machine);
// For operands of a type that a warp, or a warpgroup of so many, multiplies; 0 too where there is no instruction.
std::int64_t promoted_every(Datatype operands, int warps, int machine);
std::span<const MatrixInstruction> matrix_instructions();
// Of warpgroups, which have four warps. It runs while they go on; b stands in shared memory, a there or in registers. c
// has any number of the row's n columns, up to most_team_columns, and their fragments side by side.
std::span<const MatrixInstruction> warpgroup_instructions();
constexpr std::int64_t most_warpgroup_columns = 256;
// Whether a machine has them: of all architectures this one alone, "sm_90a" and not "sm_90".
bool has_warpgroup_instructions(std::string_view cuda_architecture);
// For a warp, or for a warpgroup of so many: the least that contracts so many at once, else the one that contracts
// most.
constexpr std::int64_t any_depth = 1 << 20;
const MatrixInstruction* find_matrix_instruction(Datatype operands, int warps = 1, std::int64_t contracted = any_depth);
// For operands of two formats, of which one is f32 and is taken as the sum of two numbers of tf32, which leave out at
// most 2^-23 of it; tf32 has all numbers of the other. What lanes hold of them is that of an instruction of f16.
// Numbers of f32 are less than 3.401e38, which is the greatest of tf32.
const MatrixInstruction* find_part_instruction(Datatype a, Datatype b);
std::span<const MatrixInstruction> part_instructions();
// Which of the registers of such an operand, in either part, has the number at a place of a group's first lane or the
// next one beside it: as the functions take them. Of rows or columns as many as a tile has rows.
int part_register(bool rows, Fragment::Place, int number);
// The row, or column, and the position that the register has, as expressions in C.
std::string part_row(bool rows, const FragmentIndex&);
std::string part_position(bool rows, const FragmentIndex&);
// Registers of a lane for the operands of one k-step of such a product, whose tile has so many fragments of rows and of
// columns: one side whole, in two parts, as many columns or rows of the other, and 8 as they are loaded.
constexpr std::int64_t registers_of_parts(std::int64_t row_tiles, std::int64_t column_tiles) {
  const auto pairs = (column_tiles + 1) / 2;
  return 16 * (row_tiles < pairs ? row_tiles : pairs) + 16 + 8;
}

// Where a warpgroup's operand stands in shared memory, for the 64-bit descriptor of the instruction: bytes from panel
// to panel and from eight rows to the next eight, and how chunks are swizzled.
struct OperandPlace {
  std::int64_t leading = 0, stride = 0;
  int swizzle = 0;  // 1: 128 bytes, 2: 64 bytes, 3: 32 bytes
};
OperandPlace operand_place(const SharedTile& paneled);

// Loads `count` matrices of 8 rows of 16 bytes; lane 8 * i + r gives the address of row r of the i-th. Lane l then has
// row l / 4 and the 4 bytes number l % 4 of each matrix in one register; transposed, columns of 2-byte entries instead.
struct MatrixLoad {
  int count;
  bool transposed;
  std::string_view ptx;
};
std::span<const MatrixLoad> matrix_loads();
const MatrixLoad& find_matrix_load(int count, bool transposed);
// Where in the fragment that matrices become a lane's row of a matrix stands: its row and column, by the lane.
// Transposed, it is a column there.
struct MatrixRow {
  Layout row, column;
};
MatrixRow matrix_row(const Fragment&, bool transposed);

// The other way: what lanes hold so becomes such matrices in shared memory. Of compute capability 9.0.
struct MatrixStore {
  int count;
  bool transposed;
  std::string_view ptx;
};
std::span<const MatrixStore> matrix_stores();

// Copies from global into shared memory while the warp goes on.
struct AsyncCopy {
  int bytes;
  std::string_view ptx;
};

// A tile of which a tensor map copies boxes has at most so many dimensions.
constexpr std::size_t most_tile_dimensions = 5;

// The functions that emitted code calls: "napkin_mma_m16n8k16_f16", "napkin_load_x4_transposed", "napkin_copy_16".
std::string function_name(const MatrixInstruction&);
// What kernels call: the instruction, or where not every machine from 8.0 on has it, "napkin_product_f8e4m3", which
// does the same on those that do not.
std::string product_name(const MatrixInstruction&);
// Whether a machine, 80 for compute capability 8.0, multiplies operands as they are; else they are widened in
// registers, by that function or, on 9.0, by ptxas.
bool multiplies_directly(const MatrixInstruction&, int machine);
std::string function_name(const MatrixLoad&);
std::string function_name(const MatrixStore&);
std::string function_name(const AsyncCopy&);
std::string function_name(const MatrixInstruction& warpgroup, std::int64_t columns, bool from_registers);
// By TMA, of arrays of 1 to 5 dimensions; into the memories of several blocks of a cluster at once.
std::string tile_copy_name(std::size_t dimensions, bool shared = false);
std::string tile_store_name(std::size_t dimensions);  // the other way
// Their definitions in CUDA C++: as many as the text uses.
std::string instruction_definitions(std::string_view used_in);
// Those that are made of instructions.
std::string product_definitions(std::string_view used_in);

}  // namespace napkin
