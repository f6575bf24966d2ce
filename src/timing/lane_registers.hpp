// Registers of a lane, column by column, on a chip. Computed arrays lie in fragments of matrix instructions, of 16 rows
// by 8 columns of a warp. A lane holds 4 values of a fragment; if an array has only rows or only columns, 2.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "napkin/instructions.hpp"
#include "timing/mainloop/mainloop.hpp"
#include "timing/registers_beside.hpp"

namespace napkin {

// How the rows of a block are divided among warpgroups: `rows` of each. Instructions need registers for all rows of
// their shape, `held`, even if the warpgroup has fewer.
struct RowDivision {
  std::int64_t rows = 1, warps = 1, warpgroups = 1, held = 1;
};

// Adds what a column needs beyond its values. `is_matrix` says which tiles have two dimensions.
template <class IsMatrix>
void add_column(BesideValues& made, const LoopNest& nest, const Compute& compute, bool is_product,
                const IsMatrix& is_matrix) {
  made.masks |= !compute.masks.empty();
  if (is_product) return;
  for (const auto& [access, id] : compute.reads) {
    if (!nest.is_input(id)) continue;
    made.folds_tiles |= compute.column.fold != nullptr;
    made.reads_tiles |= is_matrix(id);
  }
}
// What a nest needs beyond the values of its columns.
BesideValues beside_values(const LoopNest&);
// The registers of the arrays that are held while a column runs.
template <class RegistersOf>
std::int64_t registers_of_held(const Held& held, const RegistersOf& registers_of) {
  std::int64_t all = 0;
  for (const auto id : held.buffers) all += registers_of(id);
  if (!held.overwrites) return all;
  return all - std::min(registers_of(held.overwrites->first), registers_of(held.overwrites->second));
}
// Single warps load operands from tiles k-step by k-step: all fragments of one side, and the fragments of the other
// side one after another. Widened operands are held as they were loaded, and once more at twice the width.
constexpr std::int64_t registers_of_loaded(std::int64_t row_tiles, std::int64_t of_rows, std::int64_t column_tiles,
                                           std::int64_t of_columns, bool widened) {
  return (widened ? 3 : 1) *
         std::min(row_tiles * of_rows + accumulator_tile.square() * of_columns, column_tiles * of_columns + of_rows);
}

class LaneRegisters {
 public:
  // Keeps a reference to the mainloop, whose columns must not change; its sizes may.
  LaneRegisters(const Mainloop&, const Hardware&);

  // The order of columns. Orders other than that of the text can make a lane hold more values.
  enum class Order : std::uint8_t { text, in_turn, intra_warpgroup };
  // The most registers that any column needs, with operands in flight and those that a compiler needs in addition.
  std::int64_t registers(const RowDivision&, Order) const;

 private:
  struct Column {
    Held held;                                   // computed arrays alone
    const MainloopOperation* product = nullptr;  // null if it is no contraction
    bool inside = false;                         // of the mainloop
  };
  Column column(Held) const;
  std::vector<BufferId> sources(const Column&) const;
  std::int64_t values(const Column&, const RowDivision&, Order) const;
  std::int64_t values(BufferId, const RowDivision&) const;
  std::optional<std::int64_t> first_of_two(BufferId) const;
  bool is_state(BufferId) const;
  std::int64_t whole_columns(const MainloopOperation&) const;
  std::int64_t whole_rows(const MainloopOperation&, const RowDivision&) const;
  std::int64_t operands(const MainloopOperation&, const RowDivision&) const;
  std::int64_t ahead(const Column&, const RowDivision&, Order) const;

  const Mainloop& mainloop_;
  std::set<BufferId> elsewhere_;                       // not in registers: inlined, or in a memory of their own
  std::map<BufferId, std::vector<BufferId>> sources_;  // of inlined buffers
  std::vector<Column> columns_;                        // in the order of the text
};

}  // namespace napkin
