// One attempt to distribute a kernel whose pieces are as they are: where each thing stands, who holds it, and what room
// it takes. What does not fit is thrown as an Infeasible.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "distribute/fit.hpp"
#include "distribute/overlap.hpp"
#include "distribute/wires.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"

namespace napkin {

constexpr std::int64_t most_warpgroup_registers = 240;  // of a lane
constexpr std::int64_t all_registers = 65536;           // of a core
constexpr std::int64_t row_tile = rows_of_fragment, column_tile = accumulator_tile.columns,
                       column_pair = accumulator_tile.square() * column_tile;

class Distributing {
 public:
  // With so many blocks beside each other on a core.
  Distributing(const Kernel& kernel, const Hardware& hardware, int warpgroup, const Planned& planned,
               std::int64_t blocks)
      : kernel_(kernel), hardware_(hardware), planned_(planned) {
    result_.warpgroup = warpgroup;
    result_.planned = planned.overlap;
    result_.planned_blocks = planned.blocks;
    result_.planned_stages = planned.stages;
    result_.keeps = planned.keeps;
    result_.blocks = blocks;
  }
  WarpNest run();

 private:
  const LoopNest& nest() const { return *result_.nest; }
  const Diagram& diagram() const { return nest().scratch; }
  std::string name(WireId wire) const { return diagram().at(wire).name; }
  std::string name(BufferId id) const { return diagram().at(nest().at(id).array).name; }
  bool by_warpgroups() const { return result_.warpgroup > 1; }
  bool is_input(BufferId id) const { return nest().is_input(id); }

  // The machine and its warps

  void check_machine();
  std::size_t leaf() const;

  void find_program();

  // Pieces

  Extents whole_pieces();
  void find_places(const LoopBody& block, const Extents& extents);

  // Products

  void find_products();
  Infeasible no_products() const;
  std::optional<std::string> two_formats() const;

  void find_rows();
  std::vector<WireId> row_wires(bool of_some) const;
  bool may_be_rows(const Product& product, WireId wire, bool of_some) const;
  bool has_wire(const Operand& side, WireId wire) const;
  bool long_at(const Compute* compute, WireId wire) const;
  const Extents& extents(const Compute* compute) const;

  // Warpgroups

  void check_warpgroups() const;
  std::int64_t rows_of_warp() const;
  bool may_fill_warpgroups() const;
  bool fills_warpgroups(WireId wire) const;
  void check_warpgroup_product(const Product& product) const;
  void check_box(BufferId id, const StagedTile& tile, const Access& read, const Extents& extents) const;
  bool is_split(WireId wire) const;
  bool is_copied_whole(const Buffer& buffer, const StagedTile& tile) const;
  void share_registers();
  void find_pipelines(const LoopBody& block, const For* loop);
  void find_stores();
  StagedTile tile_of_store(BufferId id) const;
  std::size_t dimension_of(ArrayId array, WireId wire) const;
  bool may_leave_in_boxes(BufferId id) const;
  std::int64_t store_bytes() const;
  void drop_stores(std::int64_t room);
  void find_outside();
  bool touches(const LoopStatement& step, BufferId tile) const;
  bool reads_tile(const Compute& compute, BufferId tile) const;
  const Compute* lasting(const LoopBody& block) const;
  void place_pipelines();
  std::int64_t least_copies(const TilePipeline& pipeline) const;
  bool is_overlapped(const TilePipeline& pipeline) const;
  std::int64_t block_room() const;
  std::int64_t pipeline_bytes() const;

  // Turns

  void find_step();
  std::string cut(OverlappedMainloop& step) const;
  const For* loop_of_products() const;
  bool may_trail(const OverlappedMainloop& step, const Compute* trailing) const;
  bool is_in_step(const Compute* compute) const;
  std::int64_t step_registers(const Compute* compute, const std::vector<BufferId>& held) const;

  // Grids

  void find_grids();
  void check_extent(BufferId id, const Extents& extents) const;
  void drop_missing(Grid& grid, ArrayId array) const;
  Grid grid_of(const Compute& compute, const Extents& extents);
  std::optional<WireId> multiplied_along(const std::vector<WireId>& wires) const;
  std::optional<WireId> shuffled_along(const Compute& compute, const std::vector<WireId>& wires,
                                       const Extents& extents) const;
  static void add(std::vector<WireId>& wires, WireId wire, const Extents& extents);
  void check_reads(const Compute& compute, const Extents& extents) const;

  void find_inlined();
  static bool reads(const Compute& compute, BufferId buffer);

  // Operands

  void find_operands(Product& product);
  std::int64_t promoted_steps(const Product& product) const;
  void check_sum(Product& product) const;
  bool is_only_added_to(const Compute* compute) const;
  void find_operand(const Product& product, Operand& side, const Extents& extents);
  void take_computed(const Product& product, Operand& side) const;
  BufferId staged(BufferId id) const;
  void find_dimensions(BufferId id, const Access& read, StagedTile& tile, const Extents& extents) const;
  void cover(StagedTile& tile, const Operand& side, const Product& product, const Access& read, const Extents&) const;
  std::int64_t reached(WireId wire, std::int64_t extent, std::int64_t chunk, std::int64_t step) const;
  static std::int64_t longest_step(std::int64_t chunk);

  void stage_others();

  // Registers

  void count_registers();
  std::int64_t most_values() const;
  std::int64_t rest(std::int64_t of_values) const;
  std::int64_t room() const;
  std::vector<WireId> longest_first() const;
  std::int64_t values(BufferId id) const;
  bool is_state(BufferId id) const;
  std::int64_t operand_registers(const Product& product) const;
  std::int64_t source_registers(const Product& product, const std::vector<BufferId>& held) const;
  void keep(Product& product);

  // Shared memory

  bool find_pipelined(const LoopBody& block);
  bool loads_tiles(const LoopBody& block) const;
  bool loads_deeper(const LoopBody& block) const;
  void place_tiles();
  void copy_ahead(std::int64_t copies);
  std::vector<WireId> streamed_wires() const;
  std::int64_t shared_bytes() const;

  struct Part {
    std::int64_t parts, size;
  };
  struct PlacedLoad {
    Load load;
    const LoopBody* block;
    Extents extents;
  };
  struct PlacedColumn {
    const Compute* compute;
    const LoopBody* block;
    Extents extents;
  };
  struct PlacedSave {
    Save save;
    const LoopBody* block;
  };
  Kernel kernel_;
  const Hardware& hardware_;
  const Planned& planned_;
  WarpNest result_;
  TileSources sources_;
  std::map<WireId, Part> parts_;
  std::vector<PlacedLoad> loads_;
  std::vector<PlacedColumn> computes_;
  std::vector<PlacedSave> saves_;
  WireId rows_;
  std::set<BufferId> asked_;  // which pieces count: read before anything is copied for them
};

}  // namespace napkin
