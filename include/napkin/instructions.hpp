// A table of machine instructions. Each row has the shape, the types, the fragments of the lanes, the PTX text and the
// first machine that has the instruction. Everything else reads these rows; a new instruction is one more row. Layouts
// are those of the PTX ISA, sections "Matrix Fragments for mma", "ldmatrix", "stmatrix" and "Matrix Fragments for
// wgmma.mma_async".
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
// Bytes of one row of an operand that most instructions contract at once.
constexpr std::int64_t bytes_of_step = 32;

// The layout of the sums of every instruction here in the lanes of a warp. They form tiles of `rows` x `columns`. A
// lane holds `lane_rows` rows, which are groups() apart, and `lane_columns` adjacent columns of each.
struct AccumulatorTile {
  std::int64_t rows, columns;
  std::int64_t lane_rows, lane_columns;

  constexpr std::int64_t groups() const { return rows / lane_rows; }       // of lanes: each group has its own rows
  constexpr std::int64_t quads() const { return columns / lane_columns; }  // lanes of a group: each has its own columns
  constexpr std::int64_t values() const { return lane_rows * lane_columns; }
  constexpr std::int64_t square() const { return rows / columns; }  // adjacent tiles that form a square
};
constexpr AccumulatorTile accumulator_tile{16, 8, 2, 2};
static_assert(accumulator_tile.groups() * accumulator_tile.quads() == lanes_of_warp);

// The indices into a fragment, as expressions of emitted code: the lane's group of four, its number in the group, the
// register, and the value within the register, counted from the low bits.
struct FragmentIndex {
  std::string group, quad, reg, value;
};

// The part of a matrix that each lane of a warp, or of a warpgroup, holds. The layout maps lane + lanes * value to
// row + rows * column. A lane's values are counted register by register, from the low bits of each register.
struct Fragment {
  std::int64_t rows = 0, columns = 0;
  int registers = 0, values = 0;  // of a lane
  Layout layout;
  std::int64_t lanes = lanes_of_warp;

  struct Place {
    std::int64_t row, column;
  };
  Place at(std::int64_t lane, std::int64_t value) const;
  // The register in which lane 0 holds the place.
  int register_of(Place) const;
  // The row and the column as C expressions, for a single warp: "group + i % 2 * 8" and "i / 2 * 8 + quad * 2 + 1".
  std::string row_text(const FragmentIndex&) const;
  std::string column_text(const FragmentIndex&) const;
};

// d = a * b + c. a is m x k, c and d are m x n. b is k x n; its fragment has the n columns as its rows.
struct MatrixInstruction {
  std::string_view name;  // "m16n8k16"
  Datatype operands, accumulator;
  std::int64_t m, n, k;
  Fragment a, b, c;
  std::string_view ptx;
  int capability;  // compute capability of the first machine that has it; 80 means 8.0
  int warps = 1;   // that issue it together
  // If not 0, its sums keep fewer bits than their type has, and they must be added to sums in f32 after this number of
  // products.
  std::int64_t promoted_every = 0;
  // For products in parts: the formats of a and b.
  std::optional<std::pair<Datatype, Datatype>> formats{};
};
// The fragment of an operand that kernels load or make at once. For `rows` it is a. Else it is b of several adjacent
// tiles, which together have as many columns as a tile has rows.
Fragment operand_at_once(const MatrixInstruction&, bool rows);
// The fragment of an operand that is made from sums without moving them between lanes: its positions are contracted in
// the order in which the lanes hold the sums.
Fragment in_order_of_sums(Fragment);
// Adjacent tiles of sums that one instruction contracts.
std::int64_t tiles_of_step(const MatrixInstruction&);
// The row's promoted_every on a machine of that capability; 0 if the machine lacks the instruction and widens the
// operands instead.
std::int64_t promoted_every(const MatrixInstruction&, int machine);
// The same for the instruction with operands of this type for `warps` warps; also 0 if there is none.
std::int64_t promoted_every(Datatype operands, int warps, int machine);
std::span<const MatrixInstruction> matrix_instructions();
// The asynchronous instructions of warpgroups, which have four warps. b is in shared memory, a is there or in
// registers. c has any multiple of the row's n columns, up to most_warpgroup_columns; its fragments follow one another.
std::span<const MatrixInstruction> warpgroup_instructions();
constexpr std::int64_t most_warpgroup_columns = 256;
// True for "sm_90a", the only architecture that has them; "sm_90" does not.
bool has_warpgroup_instructions(std::string_view cuda_architecture);
// The instruction for operands of this type and for one warp or a warpgroup of `warps`. Of those with k >= `contracted`
// it has the least k; if there are none, it has the greatest.
constexpr std::int64_t any_depth = 1 << 20;
const MatrixInstruction* find_matrix_instruction(Datatype operands, int warps = 1, std::int64_t contracted = any_depth);
// The product of operands of two formats, one of which is f32. A number of f32 is split into the sum of two numbers of
// tf32, with an error of at most 2^-23 of it; tf32 represents every number of the other format. Lanes hold the same
// fragments as of an f16 instruction. Numbers of f32 must be less than 3.401e38, the greatest number of tf32.
const MatrixInstruction* find_part_instruction(Datatype a, Datatype b);
std::span<const MatrixInstruction> part_instructions();
// The register of such an operand, in either part, that has the number at a place of a group's first lane (`number` 0)
// or the number next to it (1), in the order that the emitted functions expect. The fragment is operand_at_once.
int part_register(bool rows, Fragment::Place, int number);
// The row or column, and the contracted position, of a register's number, as C expressions.
std::string part_row(bool rows, const FragmentIndex&);
std::string part_position(bool rows, const FragmentIndex&);
// Registers of a lane for the operands of one k-step of such a product, whose tile has `row_tiles` and `column_tiles`
// fragments: all fragments of the smaller side in two parts, one fragment of the other side, and 8 registers for the
// numbers as loaded.
constexpr std::int64_t registers_of_parts(std::int64_t row_tiles, std::int64_t column_tiles) {
  const auto pairs = (column_tiles + 1) / 2;
  return 16 * (row_tiles < pairs ? row_tiles : pairs) + 16 + 8;
}

// Fields of the 64-bit descriptor of a warpgroup's operand in shared memory: bytes from panel to panel, bytes from
// eight rows to the next eight, and the swizzle.
struct OperandPlace {
  std::int64_t leading = 0, stride = 0;
  int swizzle = 0;  // 1: 128 bytes, 2: 64 bytes, 3: 32 bytes
};
OperandPlace operand_place(const SharedTile& paneled);

// Loads `count` matrices of 8 rows of 16 bytes. Lane 8 * i + r gives the address of row r of matrix i. Of each matrix,
// lane l then holds the 4 bytes number l % 4 of row l / 4 in one register. If transposed, it holds columns of 2-byte
// entries instead.
struct MatrixLoad {
  int count;
  bool transposed;
  std::string_view ptx;
};
std::span<const MatrixLoad> matrix_loads();
const MatrixLoad& find_matrix_load(int count, bool transposed);
// The place in the fragment at which the matrix row of each lane begins: fragment row and column by lane. If
// transposed, the matrix row is a column of the fragment.
struct MatrixRow {
  Layout row, column;
};
MatrixRow matrix_row(const Fragment&, bool transposed);

// The opposite of MatrixLoad: stores the registers of lanes as matrices in shared memory. Needs compute capability 9.0.
struct MatrixStore {
  int count;
  bool transposed;
  std::string_view ptx;
};
std::span<const MatrixStore> matrix_stores();

// An asynchronous copy from global into shared memory.
struct AsyncCopy {
  int bytes;
  std::string_view ptx;
};

// The most dimensions of a tile that a tensor map describes.
constexpr std::size_t most_tile_dimensions = 5;

// The functions that emitted code calls: "napkin_mma_m16n8k16_f16", "napkin_load_x4_transposed", "napkin_copy_16".
std::string function_name(const MatrixInstruction&);
// The function that kernels call: that of the instruction, or, if not every machine from 8.0 on has the instruction,
// one such as "napkin_product_f8e4m3", which computes the same on machines without it.
std::string product_name(const MatrixInstruction&);
// True if the machine (80 for compute capability 8.0) multiplies operands in their own format. Else they are widened in
// registers by that function, or on 9.0 by ptxas.
bool multiplies_directly(const MatrixInstruction&, int machine);
std::string function_name(const MatrixLoad&);
std::string function_name(const MatrixStore&);
std::string function_name(const AsyncCopy&);
std::string function_name(const MatrixInstruction& of_warpgroups, std::int64_t columns, bool from_registers);
// A TMA copy of a tile of 1 to 5 dimensions; if `shared`, multicast to several blocks of a cluster.
std::string tile_copy_name(std::size_t dimensions, bool shared = false);
std::string tile_store_name(std::size_t dimensions);  // the store by TMA
// CUDA C++ definitions of those functions that the text uses.
std::string instruction_definitions(std::string_view used_in);
// The same of the functions that product_name names and that are made of several instructions.
std::string product_definitions(std::string_view used_in);

}  // namespace napkin
