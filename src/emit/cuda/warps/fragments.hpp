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

// What the lanes' own names are in the text.
struct LaneNames {
  explicit LaneNames(Identifiers&);
  std::string warp, lane, group, quad;  // the lane's group of four, and its number there
  std::string row, column, half, pair, value, step;
};

// The loops that are open: how the text counts rows of fragments and so on, and positions in full.
struct OpenFragments {
  std::string row, column, half, pair, value;
  std::map<WireId, std::string> position, unclamped;
  std::map<WireId, std::string> eight;  // in the piece, the first of the eight positions that this one is among
  std::optional<WireId> shuffled;       // a wire that lanes hand around what they hold along, and how far they are
  std::string turn;
  std::map<BufferId, std::string> turn_values;  // what they handed around at this position
};

class FragmentPrinter : StatementPrinter<Page, OpenFragments> {
 public:
  FragmentPrinter(Page&, const WarpNest&);
  void print(const Compute&);
  void print(const Save&);
  // Registers of a computed array, "float S[2][8][4]"; and of an operand that is kept, which it fills.
  std::string declared(BufferId) const;
  void keep(const Product&);
  // Tells the compiler that the sums of a warpgroup's product may change: around products that stay on their way.
  void hold(const Product&);
  // A warpgroup's product in parts: what its sums begin with, and the operands in registers and the sums that are
  // promoted, both of which `operands` may declare ahead; then all else, or the instructions, which go on their way,
  // and its sums once they have been waited for.
  void prepare(const Product&);
  void run(const Product&);
  void issue(const Product&);
  void arrived(const Product&);
  void operands(const Product&);
  // Until told otherwise: pieces of the wire are whole, and masks let all of them through.
  // Returns what was clear before.
  std::optional<WireId> set_clear(std::optional<WireId> wire) { return std::exchange(clear_, wire); }
  // Whether the column minds ragged pieces of the wire, or masks.
  bool minds(const Compute&, WireId) const;
  bool is_stored(BufferId id) const { return warps_.arrays.contains(id) && !warps_.inlined.contains(id); }

  const LaneNames lanes;
  // A number of an input that is all of its tile, in a register where the nest loads it.
  bool is_single(BufferId) const;
  std::map<BufferId, std::string> single;
  // Of outputs that leave through shared memory: the map of the array, whether there is one, and the tile.
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
  Here pair(const Grid&, Here& first);  // the second of two numbers side by side
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
  // Of what the warp computed, the numbers of each register of the operand, and the place of the first of them.
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
  std::map<ExprId, bool> known_;  // in pieces that count, entries of masks that were asked for them alone
  std::map<BufferId, std::string> kept_;
  std::map<const Compute*, std::string> operands_;  // of warpgroups' products
  std::map<const Compute*, std::string> sums_;      // of products that are promoted
  std::set<const Compute*> declared_ahead_;
};

// " + 8", nothing for 0.
std::string further(std::int64_t places);
// "K_tile", the pointer to the piece at hand of a tile in shared memory.
std::string tile_pointer(const Page&, BufferId);
// "napkin_place<128, 3>(row, column)".
std::string tile_place(const SharedTile&, const std::string& row, const std::string& column);

}  // namespace napkin
