// Registers of a lane, column by column, on a chip: what is computed lies in fragments of matrix instructions, 16 rows
// by 8 columns to a warp, of which a lane has 4 values; of rows or columns alone it has 2.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "timing/assumptions.hpp"
#include "timing/mainloop.hpp"

namespace napkin {

// How the rows of a block are divided among warpgroups. Instructions hold whole rows of theirs, `held`, however few are
// the warpgroup's.
struct RowDivision {
  std::int64_t rows = 1, warps = 1, warpgroups = 1, held = 1;
};

// What columns do, as far as that needs registers beside their values: all of them, and those that are no products, of
// whose inputs some are tiles of two dimensions.
BesideValues beside_columns(const LoopNest&, const std::vector<const Compute*>& all,
                            const std::vector<const Compute*>& no_products,
                            const std::function<bool(BufferId)>& is_matrix);

class LaneRegisters {
 public:
  // The step stays where it is, and keeps its columns; its sizes may change.
  LaneRegisters(const Mainloop&, const Hardware&);

  // What an order of columns other than that of the text makes a lane hold beside.
  enum class Order : std::uint8_t { text, in_turn, intra_warpgroup };
  // The most that any column takes, with operands on their way and what a compiler needs beside.
  std::int64_t registers(const RowDivision&, Order) const;

 private:
  struct Column {
    const Compute* compute = nullptr;
    const MainloopOperation* product = nullptr;  // where it is a contraction
    bool inside = false;                         // of the step
    std::vector<BufferId> alive;
    std::optional<std::pair<BufferId, BufferId>> overwrites;
  };
  Column column(const Held&) const;
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
  std::set<BufferId> elsewhere_;  // in no registers: computed where they are wanted, or with a memory of their own
  std::map<BufferId, std::vector<BufferId>> sources_;  // of what is computed where it is wanted
  std::vector<Column> columns_;                        // in the order of the text
};

}  // namespace napkin
