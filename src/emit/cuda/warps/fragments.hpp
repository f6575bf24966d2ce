// Columns and saves of one warp, on the fragments that its lanes hold.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/cuda/page.hpp"
#include "emit/shared/statements.hpp"
#include "napkin/device.hpp"

namespace napkin {

// Names in the text for a lane's numbers and its loop counters.
struct LaneNames {
  explicit LaneNames(Identifiers&);
  std::string warp, lane, group, quad;  // the lane's group of four, and its number in the group
  std::string row, column, half, pair, value, step;
};

// The open loops: the text of the counters of fragments, and of positions.
struct OpenFragments {
  std::string row, column, half, pair, value;
  std::map<WireId, std::string> position, unclamped;
  std::map<WireId, std::string> eight;  // the first of the eight neighbouring positions that contain this one
  std::optional<WireId> shuffled;       // a wire along which lanes shuffle the values they hold
  std::string turn;
  std::map<BufferId, std::string> turn_values;  // the shuffled values at this position
};

class FragmentPrinter : StatementPrinter<Page, OpenFragments> {
 public:
  FragmentPrinter(Page&, const WarpNest&);
  void print(const Compute&);
  void print(const Save&);
  // Declares the registers of a computed array, "float S[2][8][4]". keep() declares and fills those of a resident
  // operand.
  std::string declared(BufferId) const;
  void keep(const Product&);
  // Tells the compiler that the sums of a warpgroup's product may change; needed around products that stay in flight.
  void hold(const Product&);
  // A warpgroup's product in parts. prepare() prints the initial sums, the operands in registers, and the sums that are
  // promoted; operands() may declare the last two ahead. run() prints everything else. Instead of run(), issue() starts
  // the instructions, and arrived() finishes the sums after the wait.
  void prepare(const Product&);
  void run(const Product&);
  void issue(const Product&);
  void arrived(const Product&);
  void operands(const Product&);
  // From here on, pieces of the wire are whole and masks are true everywhere. Returns the wire that was set before.
  std::optional<WireId> set_clear(std::optional<WireId> wire) { return std::exchange(clear_, wire); }
  // Whether ragged pieces of the wire, or masks, change what the column prints.
  bool minds(const Compute&, WireId) const;
  bool is_stored(BufferId id) const { return warps_.arrays.contains(id) && !warps_.inlined.contains(id); }

  const LaneNames lanes;
  // Whether a tile is a single number of an input. Such a number is held in a register, loaded where the nest loads the
  // tile.
  bool is_single(BufferId) const;
  std::map<BufferId, std::string> single;
  // For outputs that are stored through shared memory: names of the TMA map, of whether the map is usable, and of the
  // tile.
  struct StoreNames {
    std::string map, mapped, tile;
  };
  std::map<BufferId, StoreNames> stores;

 private:
  using Here = OpenFragments;

  int open_cells(const Grid&, Here&);
  int open_cells(const Compute& compute, Here& here) override { return open_cells(warps_.arrays.at(compute.to), here); }
  int open_values(const Grid&, Here&);
  int open_rows(const Grid&, Here&);
  int open_columns(const Grid&, Here&);
  static std::string value_of(const std::string& half, const std::string& pair);
  std::string column_of(const std::string& first, const std::string& pair) const;
  void place(const Grid&, Here&, bool rows, bool columns);
  void place(WireId, const std::string& offset, Here&, const std::string& eight = "");
  std::string index(const Index&, bool clamped, const Here&) const;
  std::int64_t positions_at_one_place(const Index&) const;
  void place_column(const Grid&, Here&);
  std::int64_t row_step(WireId rows) const;

  void save(BufferId);
  void save_pairs(BufferId);
  void open_half(const Grid&, Here&);
  Here open_pairs(const Grid&, Here& first);
  Here pair(const Grid&, Here& first);  // places two neighbouring numbers and returns the second
  void store(BufferId);
  bool lies_across(BufferId) const;
  std::string staged_at(BufferId, const std::string& row, const std::string& column) const;
  void stage(BufferId);
  void stage_matrices(BufferId);
  std::string first_row(BufferId) const;
  std::string first_stored(BufferId, WireId) const;
  void copy_boxes(BufferId);
  void copy_numbers(BufferId);
  std::string element(ArrayId, const Here&) const;
  std::string stored(BufferId, const Here&);
  std::string leaving(BufferId, const Here&);

  void fold(const Compute&);
  void fold_in_turns(const Compute&, WireId);
  int open_turns(const Compute&, WireId, Here&);
  bool is_handed(BufferId, const Here&) const;
  void hand_around(const Compute&, Here&);
  void exchange(const Compute&, const std::string& partial, bool rows, bool columns);
  void product(const Product&);
  std::string sums(const Product&) const;
  void declare_sums(const Product&);
  void begin_sums(const Product&);
  void promote(const Product&);
  void promote_between(const Product&);
  void promote_after(const Product&);
  void limit(const Product&);

  void load(const Operand&, const Product&, bool rows, const std::string& to, const std::string& tile);
  void load_one_by_one(const Operand&, const Product&, bool rows, const std::string& to, const std::string& tile);
  void pack(const Product&, bool rows, const std::string& to);
  using EachRegister = std::function<void(const Fragment::Place& first, const std::vector<std::string>& numbers)>;
  // For an operand that the warp computed: the numbers of each register, and the place of the first of them.
  void each_register(const Product&, bool rows, const EachRegister& take);
  struct OperandRegisters {
    int rows, columns, next;
  };
  static OperandRegisters held_by(const Product&);
  static const MatrixInstruction& loaded_as(const Product&);
  void load_side(const Product&, bool rows, const std::string& to);
  void load_parts(const Product&, bool rows, const std::string& to);
  void widen(const Product&, bool rows, const std::string& to);
  void split(const Product&, bool rows, const std::string& to);
  void split_computed(const Product&, bool rows, const std::string& to);
  std::string first_of_warp(const Operand&, const Product&, bool rows);
  void warpgroup_product(const Product&);
  void pack_rows(const Product&);
  void declare_operands(const Product&);
  std::string warpgroup_operand(const Operand&, const Product&, bool rows);
  std::string kept_name(const Product&) const;

  std::string slot(BufferId, const Here&) const override;
  Typed read(const Compute&, ExprId access, const Here&) override;
  std::string stored(const Compute&, ExprId access, const Here&) const override;
  std::string input(BufferId, const Access&, const Here&) const;
  std::string guard(ArrayId, const Here&) const;
  bool is_rounded(BufferId id) const override { return !warps_.is_integer(id) && StatementPrinter::is_rounded(id); }
  ExprId value_of(const Compute& compute) const override {
    return clear_ && !compute.masks.empty() ? compute.unmasked : compute.column.value;
  }

  const WarpNest& warps_;
  std::optional<WireId> clear_;
  std::map<ExprId, bool> known_;  // values of mask entries that are only read to test whether a piece counts
  std::map<BufferId, std::string> kept_;
  std::map<const Compute*, std::string> operands_;  // register operands of warpgroup products
  std::map<const Compute*, std::string> sums_;      // separate sums of products that are promoted
  std::set<const Compute*> declared_ahead_;
};

// " + 8"; empty for 0.
std::string further(std::int64_t places);
// "K_tile", the pointer to the current stage of a tile in shared memory.
std::string tile_pointer(const Page&, BufferId);
// "napkin_place<128, 3>(row, column)".
std::string tile_place(const SharedTile&, const std::string& row, const std::string& column);

}  // namespace napkin
