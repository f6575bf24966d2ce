// The operands of products in the registers of lanes: fragments from shared memory, or values that lanes computed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// One side of a product: the operand with the wire along rows, or the one with the wire along columns.
struct OperandSide {
  const Product& product;
  bool rows;

  const Operand& operand() const { return rows ? product.rows : product.columns; }
  Datatype format() const;  // of its numbers
  bool is_split() const;    // in two parts, which are multiplied one by one
  // The fragment that is loaded or packed at once. Numbers of other formats than the instruction's are loaded, or
  // packed, as for an instruction on 16-bit numbers.
  Fragment fragment() const;
  // The registers of a lane for a fragment of rows and for as many columns.
  int registers() const;
};

// Prints statements that fill the registers `to` with the current fragment of the step. load_fragment() takes it from
// the tile in shared memory, and pack() from the values that lanes computed.
void load_fragment(FragmentStatements&, const OperandSide&, const std::string& to);
void pack(FragmentStatements&, const OperandSide&, const std::string& to);
// The same for operands in parts: numbers of f32 are split into two, and 16-bit numbers are widened to tf32.
void load_parts(FragmentStatements&, const OperandSide&, const std::string& to);

// Calls `take` for each register of a step with its numbers, which lanes computed, and the place of the first of them.
using TakeRegister = std::function<void(const Fragment::Place& first, std::vector<std::string> numbers)>;
void each_register(FragmentStatements&, const OperandSide&, const TakeRegister& take);

// "q_warp - q_block", where the warp's own rows or columns begin in the tile; empty if they begin where the tile does.
std::string begin_in_tile(FragmentPage&, const OperandSide&);
// "K_tile + napkin_place<128, 3>(row, step)", the address of a number of the operand in its tile.
std::string operand_address(const FragmentPage&, const Operand&, const std::string& own, const std::string& step);
// Where the fragment's own rows or columns begin in the tile, as a sum that a place in the fragment is added to.
std::string first_of_fragment(FragmentPage&, const OperandSide&, std::int64_t rows);

}  // namespace napkin
