// What instructions of warpgroups and copies by TMA ask of a nest beyond those of single warps, and the room of
// pipelines.
#include <fmt/format.h>

#include "distribute/distributing.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_warpgroups = 7;  // that compute, of a block of 1024 threads
constexpr std::int64_t longest_box = 256;    // of one copy
constexpr std::int64_t barrier_bytes = 8;

}  // namespace

// As many rows for each warp as planned, full warpgroups, and no other wire split between warps.
void Distributing::check_warpgroups() const {
  const auto found = parts_.find(rows_);
  const bool divided = parts_.size() == 1 && found != parts_.end() && found->second.size % row_tile == 0 &&
                       found->second.parts % result_.warpgroup == 0 && found->second.size <= rows_of_warp();
  if (!divided)
    throw Infeasible{.reason = fmt::format("the rows along {} do not divide among warpgroups of {} warps", name(rows_),
                                           result_.warpgroup),
                     .divided = rows_,
                     .rows_of_warp = rows_of_warp(),
                     .may_grow = may_fill_warpgroups()};
  if (result_.warps > most_warpgroups * result_.warpgroup)
    throw Infeasible{"its rows need more warpgroups than a block can have", {}, {}, {rows_}};
}

std::int64_t Distributing::rows_of_warp() const {
  if (planned_.rows != rows_) return row_tile;
  return std::max(planned_.warpgroup_rows / result_.warpgroup / row_tile, std::int64_t{1}) * row_tile;
}
// Whether a piece of fewer rows than a warpgroup has may become longer: there are as many, and every core still has a
// block.
bool Distributing::may_fill_warpgroups() const {
  const auto rows = row_tile * result_.warpgroup;
  if (!hardware_.core || diagram().size(rows_).value_or(1) < rows) return false;
  std::int64_t blocks = 1;
  for (const auto& group : nest().groups)
    if (group.level != leaf())
      blocks *= pieces_of(diagram().size(group.wire).value_or(1),
                          group.wire == rows_ ? std::max(group.size, rows) : group.size);
  return blocks >= hardware_.total(*hardware_.core);
}
// Whether a block has more of its rows than half a warpgroup: a wire that is not split is none to deal out.
bool Distributing::fills_warpgroups(WireId wire) const {
  const auto& splits = kernel_.partition.splits;
  const auto block =
      std::find_if(splits.rbegin(), splits.rend(), [&](const Split& s) { return s.wire == wire && s.level != leaf(); });
  return block != splits.rend() && block->size * 2 > row_tile * result_.warpgroup;
}

// The columns fit one instruction; past the end of what is contracted both sides are 0, for arrays end there.
void Distributing::check_warpgroup_product(const Product& product) const {
  const auto& grid = result_.columns.at(product.compute);
  if (grid.column_tiles * column_tile > most_warpgroup_columns)
    throw Infeasible{fmt::format("`{}` has more than {} columns", name(product.compute->to), most_warpgroup_columns),
                     {*grid.columns}};
  if (product.rows.computed) return;
  const auto& extents = this->extents(product.compute);
  for (const auto* side : {&product.rows, &product.columns})
    for (const auto& index : access(diagram(), side->access).at)
      for (const auto& [wire, coefficient] : index.terms)
        if (wire == product.over && !is_dimension(index, wire, extents, diagram(), product.instruction->k))
          throw Infeasible{fmt::format("`{}` is contracted along a sum of positions", name(side->buffer))};
}

// Copies by TMA know the ends of arrays, not those of pieces.
void Distributing::check_box(BufferId id, const StagedTile& tile, const Access& read, const Extents& extents) const {
  const auto& buffer = nest().at(id);
  if (buffer.at.size() > most_tile_dimensions)
    throw Infeasible{fmt::format("`{}` has more than {} dimensions", name(id), most_tile_dimensions)};
  for (const auto dimension : {*tile.row, *tile.column}) {
    const auto wire = *long_wire(read.at[dimension], extents);
    const auto length = dimension == *tile.row ? tile.layout.rows : tile.layout.columns;
    if (is_split(wire) && length != buffer.extent[dimension])
      throw Infeasible{fmt::format("tiles of {} do not fill fragments", name(wire)), {wire}};
    if (is_split(wire) && plain_wire(read.at[dimension]) != wire && diagram().size(wire).value_or(1) % length != 0)
      throw Infeasible{fmt::format("tiles of {} do not end where parts of `{}` end", name(wire), name(id)), {wire}};
  }
  if (tile.layout.rows > longest_box)
    throw Infeasible{fmt::format("tiles of `{}` have more than {} rows", name(id), longest_box),
                     {*long_wire(read.at[*tile.row], extents)}};
}
bool Distributing::is_split(WireId wire) const {
  return std::any_of(kernel_.partition.splits.begin(), kernel_.partition.splits.end(),
                     [&](const Split& split) { return split.wire == wire && split.level != leaf(); });
}

// A tile that no product reads, as one box that ends where its piece does. Boxes are 16 bytes wide at least.
bool Distributing::is_copied_whole(const Buffer& buffer, const StagedTile& tile) const {
  if (buffer.at.size() > most_tile_dimensions || tile.column != buffer.at.size() - 1) return false;
  if (row_alignment(diagram(), diagram().at(buffer.array)) < 16) return false;
  const auto fits = [&](std::optional<std::size_t> dimension, std::int64_t length) {
    if (!dimension) return true;
    const auto& index = buffer.at[*dimension];
    const auto wire = plain_wire(index);
    return length <= longest_box && wire && (length == buffer.extent[*dimension] || !is_split(*wire));
  };
  return tile.column && fits(tile.row, tile.layout.rows) && fits(tile.column, tile.layout.columns);
}

void Distributing::share_registers() {
  const auto shares = shares_of_warpgroups(result_.warps / result_.warpgroup, result_.blocks, hardware_);
  result_.first_registers = shares.first;
  result_.lane_registers = shares.lanes;
  result_.loader_lane_registers = shares.copying;
}

// Shared memory

void Distributing::find_pipelines(const LoopBody& block, const For* loop) {
  TilePipeline pipeline{loop, {}, 1};
  bool innermost = loop != nullptr;
  for (const auto& step : block.steps) {
    if (const auto* load = std::get_if<Load>(&step.node); load && result_.tiles.contains(load->to))
      pipeline.tiles.push_back(load->to);
    if (const auto* inside = std::get_if<For>(&step.node)) {
      find_pipelines(inside->body, inside);
      innermost = false;
    }
  }
  if (innermost) pipeline.copies = result_.planned_stages, pipeline.lasting = lasting(block);
  if (loop && !pipeline.tiles.empty()) result_.pipelines.push_back(pipeline);
}
// The product that a round ends with, if it goes on with a sum that nothing else in the round touches.
const Compute* Distributing::lasting(const LoopBody& block) const {
  const auto* last = block.steps.empty() ? nullptr : std::get_if<Compute>(&block.steps.back().node);
  const auto* product = last ? result_.product(last) : nullptr;
  if (!product || product->rows.computed || product->promoted > 0 || last->carried != last->to || last->column.repair)
    return nullptr;
  const auto touches = [&](const LoopStatement& step) {
    const auto* compute = std::get_if<Compute>(&step.node);
    return compute && compute != last && (compute->to == last->to || reads(*compute, last->to));
  };
  return std::none_of(block.steps.begin(), block.steps.end(), touches) ? last : nullptr;
}
// As many copies as planned, or as there is room for. One that a product on its way reads is not the only one.
void Distributing::place_pipelines() {
  const auto room = block_room();
  const auto most = [&] {
    return std::max_element(result_.pipelines.begin(), result_.pipelines.end(),
                            [&](const TilePipeline& a, const TilePipeline& b) {
                              return a.copies - least_copies(a) < b.copies - least_copies(b);
                            });
  };
  drop_stores(room);
  while (pipeline_bytes() > room && most()->copies > least_copies(*most())) --most()->copies;
  if (pipeline_bytes() > room)
    throw Infeasible{fmt::format("its tiles, padded to whole fragments, take {} B of {} B", pipeline_bytes(), room),
                     streamed_wires()};
  std::int64_t begin = 0;
  for (auto& pipeline : result_.pipelines) {
    if (pipeline.copies == 1 || is_overlapped(pipeline)) pipeline.lasting = nullptr;
    for (const auto id : pipeline.tiles) {
      auto& tile = result_.tiles.at(id);
      tile.copies = pipeline.copies;
      tile.begin = begin;
      begin += round_up(tile.layout.size_bytes(), swizzle_pattern) * pipeline.copies;
    }
  }
  for (auto& [id, tile] : result_.stores) {
    tile.begin = begin;
    begin += round_up(tile.layout.size_bytes(), swizzle_pattern);
  }
  result_.barriers_begin = begin;
  result_.shared_bytes = pipeline_bytes();
}
// Of a core's memory, whose blocks have it in whole units.
std::int64_t Distributing::block_room() const {
  const auto& level = hardware_.levels[result_.block_level];
  const auto room = static_cast<std::int64_t>(level.room());
  if (result_.blocks == 1 || !level.capacity) return room;
  const auto unit = whole(hardware_.limits.shared_allocation_unit, 1);
  const auto part = static_cast<std::int64_t>(level.capacity->value) / result_.blocks / unit * unit;
  return std::min(room, part - whole(hardware_.limits.reserved_shared_per_block, 0));
}
// Of a step that begins before the one before it has ended, for all warpgroups, one copy would never be empty.
std::int64_t Distributing::least_copies(const TilePipeline& pipeline) const { return is_overlapped(pipeline) ? 2 : 1; }
bool Distributing::is_overlapped(const TilePipeline& pipeline) const {
  return result_.step && result_.step->loop == pipeline.loop;
}
std::int64_t Distributing::pipeline_bytes() const {
  std::int64_t all = store_bytes();
  for (const auto& pipeline : result_.pipelines) {
    for (const auto id : pipeline.tiles)
      all += round_up(result_.tiles.at(id).layout.size_bytes(), swizzle_pattern) * pipeline.copies;
    all += barrier_bytes * pipeline.copies * (static_cast<std::int64_t>(pipeline.tiles.size()) + 1);
  }
  return all;
}

}  // namespace napkin
