// A kernel becomes a nest of warps: products are found, wires run along rows or columns of fragments, operands are
// loaded from shared memory or taken from what the warp has, and everything gets its place and its size.
#include "napkin/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "diagram/match.hpp"
#include "distribute/fit.hpp"
#include "distribute/wires.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

constexpr std::int64_t row_tile = 16, column_tile = 8, column_pair = 16;
constexpr std::int64_t most_warps = 32, most_registers = 255, all_registers = 65536, addresses = 40, to_spare = 24;
constexpr std::int64_t wanted_copies = 2;

std::int64_t pieces_of(std::int64_t length, std::int64_t size) { return (length + size - 1) / size; }
std::int64_t up(std::int64_t length, std::int64_t step) { return pieces_of(length, step) * step; }

class Distributing {
 public:
  Distributing(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel), hardware_(hardware) {}

  WarpNest run() {
    check_machine();
    find_program();
    result_.nest = std::make_shared<const LoopNest>(lower(kernel_, hardware_));
    find_places(result_.nest->body, whole_pieces());
    find_products();
    find_rows();
    find_grids();
    find_passing();
    for (auto& product : result_.products) find_operands(product);
    stage_others();
    count_registers();
    find_pipelined(result_.nest->body);
    place_tiles();
    return std::move(result_);
  }

 private:
  const LoopNest& nest() const { return *result_.nest; }
  const Diagram& diagram() const { return nest().scratch; }
  std::string name(WireId wire) const { return diagram().at(wire).name; }
  std::string name(BufferId id) const { return diagram().at(nest().at(id).array).name; }
  bool is_input(BufferId id) const { return has(nest().inputs, nest().at(id).array); }

  // The machine and its warps

  void check_machine() {
    const auto& levels = hardware_.levels;
    if (capability(hardware_) < 80) throw Misfit{"the machine has no matrix instructions that are known here"};
    if (levels.size() < 3 || levels.back().unit != "warp" || levels[levels.size() - 2].unit != "block")
      throw Misfit{"the machine's two innermost levels are not a block and its warps"};
    result_.block_level = levels.size() - 2;
  }
  std::size_t leaf() const { return hardware_.levels.size() - 1; }

  // The program of the partition as it is now; the text must hold for longer axes too.
  void find_program() {
    std::vector<WireId> streams;
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::stream) streams.push_back(split.wire);
    auto program = napkin::stream(*kernel_.derivation, streams);
    if (const auto* refused = std::get_if<Refused>(&program)) throw Misfit{refused->reason};
    auto& found = std::get<Program>(program);
    found.scratch.axes = kernel_.program.scratch.axes;
    kernel_.program = std::move(found);
    for (const auto& split : kernel_.partition.splits) {
      auto& size = kernel_.program.scratch.axes[kernel_.program.scratch.at(split.wire).axis.index].size;
      size = std::max(size.value_or(1), split.size);
    }
  }

  // Pieces

  Extents whole_pieces() {
    Extents all;
    for (std::uint32_t w = 0; w < diagram().wires.size(); ++w) all.push_back(diagram().size(WireId{w}).value_or(1));
    for (const auto& group : nest().groups) {
      auto& piece = all[group.wire.index];
      if (group.level == leaf()) {
        const auto parts = pieces_of(piece, group.size);
        result_.warps *= static_cast<int>(parts);
        parts_[group.wire] = {parts, group.size};
        if (result_.warps > most_warps) throw Misfit{"its groups are more warps than a block may have"};
      }
      piece = std::min(piece, group.size);
    }
    return all;
  }
  void find_places(const Block& block, const Extents& extents) {
    for (const auto& step : block.steps)
      match(
          step.node,
          [&](const Load& load) {
            loads_.push_back({load, &block, extents});
          },
          [](const Ask&) { throw Misfit{"whether a piece is needed is asked of an array"}; },
          [&](const Compute& compute) {
            computes_.push_back({&compute, &block, extents});
          },
          [&](const Save& save) {
            saves_.push_back({save, &block});
          },
          [&](const For& loop) {
            auto inside = extents;
            auto& piece = inside[loop.split.wire.index];
            piece = std::min(piece, loop.split.size);
            find_places(loop.body, inside);
          });
  }

  // Products

  void find_products() {
    for (const auto& place : computes_)
      if (auto product = as_product(diagram(), *place.compute, place.extents)) {
        product->compute = place.compute;
        result_.products.push_back(*product);
      }
    if (result_.products.empty()) throw Misfit{"no column of it sums products of two arrays for matrix units"};
  }

  // The wire along rows: kept by every product, and carried by every operand that the warp computed.
  void find_rows() {
    const auto& first = diagram().at(result_.products.front().compute->column.output).wires;
    for (const auto wire : first)
      if (std::all_of(result_.products.begin(), result_.products.end(),
                      [&](const Product& p) { return may_be_rows(p, wire); })) {
        rows_ = wire;
        return;
      }
    throw Misfit{"no wire can run along the rows of all its products"};
  }
  bool may_be_rows(const Product& product, WireId wire) const {
    const auto carries = [&](const Operand& side) { return has_wire(side, wire); };
    const bool first = carries(product.rows), second = carries(product.columns);
    if (first == second) return false;
    const auto& other = first ? product.columns : product.rows;
    return long_at(product.compute, wire) && is_input(other.buffer);
  }
  bool has_wire(const Operand& side, WireId wire) const { return has(free_wires(diagram(), side.access), wire); }
  bool long_at(const Compute* compute, WireId wire) const { return extents(compute)[wire.index] > 1; }
  const Extents& extents(const Compute* compute) const {
    return std::find_if(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute == compute; })
        ->extents;
  }

  // Grids

  void find_grids() {
    for (const auto& [compute, block, extents] : computes_) {
      const auto grid = result_.columns[compute] = grid_of(*compute, extents);
      auto out = grid;
      for (const auto wire : compute->column.over) {
        if (out.rows == wire) out.rows.reset(), out.row_tiles = 1;
        if (out.columns == wire) out.columns.reset(), out.column_tiles = 1;
      }
      drop_missing(out, compute->column.output);
      check_extent(compute->to, extents);
      const auto [at, fresh] = result_.arrays.try_emplace(compute->to, out);
      if (!fresh && at->second != out)
        throw Misfit{fmt::format("`{}` lies in fragments in two ways", name(compute->to))};
    }
    for (const auto& place : computes_) check_reads(*place.compute, place.extents);
  }
  // Registers are not counted through: what lives outside of a loop is no longer than a piece of it.
  void check_extent(BufferId id, const Extents& extents) const {
    const auto& buffer = nest().at(id);
    const auto& wires = diagram().at(buffer.array).wires;
    for (std::size_t k = 0; k < wires.size(); ++k)
      if (buffer.extent[k] > extents[wires[k].index])
        throw Misfit{
            fmt::format("`{}` is held across the pieces of a stream of {}", name(id), name(wires[k])), {}, {wires[k]}};
  }
  void drop_missing(Grid& grid, ArrayId array) const {
    const auto& wires = diagram().at(array).wires;
    if (grid.rows && !has(wires, *grid.rows)) grid.rows.reset(), grid.row_tiles = 1;
    if (grid.columns && !has(wires, *grid.columns)) grid.columns.reset(), grid.column_tiles = 1;
  }
  Grid grid_of(const Compute& compute, const Extents& extents) const {
    const bool summed = result_.product(&compute);
    std::vector<WireId> wires;
    for (const auto wire : diagram().at(compute.column.output).wires) add(wires, wire, extents);
    if (!summed)
      for (const auto wire : compute.column.over) add(wires, wire, extents);
    if (!summed)
      for (const auto wire : free_wires(diagram(), compute.column.value)) add(wires, wire, extents);
    Grid grid;
    const auto is_rows = std::find(wires.begin(), wires.end(), rows_);
    if (is_rows != wires.end()) {
      grid.rows = rows_;
      wires.erase(is_rows);
    } else if (wires.size() == 2 && has(compute.column.over, wires[1])) {
      grid.rows = wires[1];
      wires.pop_back();
    }
    if (wires.size() > 1)
      throw Misfit{fmt::format("`{}` runs along {} and {} beside the rows {}", name(compute.to), name(wires[0]),
                               name(wires[1]), name(rows_))};
    if (!wires.empty()) grid.columns = wires[0];
    if (grid.rows) grid.row_tiles = pieces_of(extents[grid.rows->index], row_tile);
    if (grid.columns) grid.column_tiles = up(extents[grid.columns->index], column_pair) / column_tile;
    return grid;
  }
  static void add(std::vector<WireId>& wires, WireId wire, const Extents& extents) {
    if (extents[wire.index] > 1 && !has(wires, wire)) wires.push_back(wire);
  }
  // What a column reads of the warp's own lies as the column runs.
  void check_reads(const Compute& compute, const Extents& extents) const {
    for (const auto& [access_id, buffer] : compute.reads) {
      if (is_input(buffer)) continue;
      const auto& grid = result_.arrays.at(buffer);
      const auto& wires = diagram().at(nest().at(buffer).array).wires;
      const auto& at = access(diagram(), access_id).at;
      for (std::size_t k = 0; k < wires.size(); ++k)
        if (extents[wires[k].index] > 1 && !is_along(at[k], wires[k]))
          throw Misfit{fmt::format("`{}` reads `{}` at another place", name(compute.to), name(buffer))};
      if (result_.product(&compute)) continue;
      const auto& own = result_.columns.at(&compute);
      if ((grid.rows && grid.rows != own.rows) || (grid.columns && grid.columns != own.columns) ||
          (grid.rows && grid.row_tiles != own.row_tiles) || (grid.columns && grid.column_tiles != own.column_tiles))
        throw Misfit{
            fmt::format("`{}` lies in fragments otherwise than `{}`, which reads it", name(buffer), name(compute.to))};
    }
  }

  // Arrays that are computed where they are wanted: read by one product or saved at once, in the block of their column.
  void find_passing() {
    for (const auto& [compute, block, extents] : computes_) {
      if (compute->column.fold || compute->column.carried || times_computed(compute->to) > 1) continue;
      std::vector<const Compute*> readers;
      bool beside = true;
      for (const auto& reader : computes_)
        if (reads(*reader.compute, compute->to)) readers.push_back(reader.compute), beside &= reader.block == block;
      const bool saved = std::any_of(saves_.begin(), saves_.end(),
                                     [&](const auto& s) { return s.save.from == compute->to && s.block == block; });
      const bool leaves = has(nest().outputs, nest().at(compute->to).array);
      if (leaves ? saved && readers.empty() : readers.size() == 1 && beside && result_.product(readers[0]))
        result_.in_passing[compute->to] = compute;
    }
  }
  static bool reads(const Compute& compute, BufferId buffer) {
    return compute.carried == buffer || std::any_of(compute.reads.begin(), compute.reads.end(),
                                                    [&](const auto& read) { return read.second == buffer; });
  }
  std::ptrdiff_t times_computed(BufferId buffer) const {
    return std::count_if(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute->to == buffer; });
  }

  // Operands

  void find_operands(Product& product) {
    const auto& extents = this->extents(product.compute);
    if (!has_wire(product.rows, rows_)) std::swap(product.rows, product.columns);
    const auto& grid = result_.columns.at(product.compute);
    if (product.instruction->accumulator != Datatype::f32 || nest().at(product.compute->to).type != Datatype::f32)
      throw Misfit{fmt::format("`{}` is no sum in f32", name(product.compute->to))};
    if (!grid.columns) throw Misfit{fmt::format("`{}` is a matrix with a vector", name(product.compute->to))};
    product.steps = pieces_of(extents[product.over.index], product.instruction->k);
    find_operand(product, product.rows, extents);
    find_operand(product, product.columns, extents);
  }
  void find_operand(const Product& product, Operand& side, const Extents& extents) {
    if (!is_input(side.buffer)) {
      const auto& grid = result_.arrays.at(side.buffer);
      if (grid.rows != rows_ || grid.columns != product.over)
        throw Misfit{fmt::format("`{}` would have to leave its registers to be multiplied", name(side.buffer))};
      if (row(product.instruction->operands).bytes != 2)
        throw Misfit{fmt::format("`{}` is computed, and no number of 2 bytes", name(side.buffer))};
      side.computed = true;
      return;
    }
    const auto read = access(diagram(), side.access);
    side.buffer = staged(side.buffer);
    auto& tile = result_.tiles[side.buffer];
    find_dimensions(side.buffer, read, tile, extents);
    side.transposed = !is_along(read.at[*tile.column], product.over);
    if (side.transposed && row(nest().at(side.buffer).type).bytes != 2)
      throw Misfit{
          fmt::format("`{}` is contracted along another wire than its last, which only numbers of 2 bytes can be",
                      name(side.buffer))};
    cover(tile, side.buffer, read);
  }
  // The block's tile that a buffer was loaded from.
  BufferId staged(BufferId id) const {
    while (nest().at(id).level > result_.block_level)
      id = *std::find_if(loads_.begin(), loads_.end(), [&](const auto& l) { return l.load.to == id; })->load.from;
    return id;
  }
  // At most two dimensions of a tile may be longer than 1.
  void find_dimensions(BufferId id, const Access& read, StagedTile& tile, const Extents& extents) const {
    const auto& buffer = nest().at(id);
    tile.row.reset(), tile.column.reset();
    for (std::size_t k = buffer.extent.size(); k-- > 0;) {
      if (buffer.extent[k] == 1) continue;
      const auto wire = along(read.at[k]);
      if (!wire || extents[wire->index] == 1)
        throw Misfit{fmt::format("`{}` is read at sums of positions, or in steps", name(id))};
      if (tile.row) throw Misfit{fmt::format("tiles of `{}` have more than two long dimensions", name(id))};
      (tile.column ? tile.row : tile.column) = k;
    }
    if (!tile.row) throw Misfit{fmt::format("tiles of `{}` are a single row", name(id))};
  }
  std::optional<WireId> along(const Index& index) const {
    if (index.terms.size() != 1 || !is_along(index, index.terms[0].first)) return {};
    return index.terms[0].first;
  }
  // The tile is as long as fragments reach, which may be past the block's piece.
  void cover(StagedTile& tile, BufferId id, const Access& read) const {
    const auto& buffer = nest().at(id);
    const auto bytes = row(buffer.type).bytes;
    const auto length = [&](std::size_t dimension, std::int64_t so_far, std::int64_t chunk) {
      return std::max(so_far, reached(*along(read.at[dimension]), buffer.extent[dimension], chunk));
    };
    tile.layout = shared_tile(length(*tile.row, tile.layout.rows, 1),
                              length(*tile.column, tile.layout.columns, 16 / bytes), bytes);
  }
  // How far the fragments of all warps reach along a wire; where it runs along memory they begin with a chunk.
  std::int64_t reached(WireId wire, std::int64_t extent, std::int64_t chunk) const {
    const auto found = parts_.find(wire);
    if (found == parts_.end()) return up(extent, longest_step(chunk));
    const auto [parts, size] = found->second;
    if (parts > 1 && size % chunk != 0)
      throw Misfit{fmt::format("a warp's piece of {} does not fill chunks of 16 bytes", name(wire))};
    return (parts - 1) * size + up(size, longest_step(chunk));
  }
  static std::int64_t longest_step(std::int64_t chunk) { return std::max(row_tile, 2 * chunk); }

  // What other columns read: tiles of one or two long dimensions, as long as they are.
  void stage_others() {
    for (const auto& [load, block, extents] : loads_) {
      const auto& buffer = nest().at(load.to);
      if (buffer.level != result_.block_level || result_.tiles.contains(load.to)) continue;
      StagedTile tile;
      tile.of_products = false;
      std::int64_t dimensions = 0;
      for (std::size_t k = buffer.extent.size(); k-- > 0;)
        if (buffer.extent[k] > 1 && ++dimensions <= 2) (tile.column ? tile.row : tile.column) = k;
      if (dimensions > 2) continue;
      const auto bytes = row(buffer.type).bytes;
      const auto length = [&](std::optional<std::size_t> k) { return k ? buffer.extent[*k] : 1; };
      tile.layout = shared_tile(length(tile.row), up(length(tile.column), 16 / bytes), bytes);
      result_.tiles[load.to] = tile;
    }
  }

  // Registers

  void count_registers() {
    for (const auto& each : held(nest())) {
      std::int64_t all = addresses;
      for (const auto id : each.buffers) all += values(id);
      if (each.overwrites) all -= std::min(values(each.overwrites->first), values(each.overwrites->second));
      if (const auto* product = result_.product(each.compute)) all += operand_registers(*product);
      result_.registers = std::max(result_.registers, all);
    }
    if (result_.registers > room())
      throw Misfit{fmt::format("a lane would hold {} registers, of {}", result_.registers, room()), longest_first()};
    for (auto& product : result_.products) keep(product);
  }
  // What a lane may have while all warps of the block are on one core.
  std::int64_t room() const {
    const auto& limits = hardware_.limits;
    const auto partitions =
        limits.register_partitions ? static_cast<std::int64_t>(limits.register_partitions->value) : 4;
    const auto beside = pieces_of(result_.warps, partitions);  // warps of one partition
    return std::min(most_registers, all_registers / partitions / (lanes_of_warp * beside) / 8 * 8);
  }
  // The wires of the arrays that take most, along their longer side first.
  std::vector<WireId> longest_first() const {
    std::vector<std::pair<std::int64_t, WireId>> sides;
    for (const auto& [id, grid] : result_.arrays) {
      if (grid.rows) sides.emplace_back(values(id) * 1000 + grid.row_tiles * row_tile, *grid.rows);
      if (grid.columns) sides.emplace_back(values(id) * 1000 + grid.column_tiles * column_tile, *grid.columns);
    }
    std::sort(sides.rbegin(), sides.rend());
    std::vector<WireId> wires;
    for (const auto& [length, wire] : sides)
      if (!has(wires, wire)) wires.push_back(wire);
    return wires;
  }
  std::int64_t values(BufferId id) const {
    const auto found = result_.arrays.find(id);
    return found == result_.arrays.end() || result_.in_passing.contains(id) ? 0 : found->second.values();
  }
  // One side's fragments of a step at once, the other's one after another.
  std::int64_t operand_registers(const Product& product) const {
    const auto& grid = result_.columns.at(product.compute);
    return std::min(grid.row_tiles * 4 + 4, grid.column_tiles * 2 + 4);
  }
  // Where the nest loads the operand outside of the product's block, and there is room.
  void keep(Product& product) {
    auto& side = product.rows;
    if (side.computed) return;
    const auto& place =
        *std::find_if(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute == product.compute; });
    const auto read = std::find_if(product.compute->reads.begin(), product.compute->reads.end(),
                                   [&](const auto& r) { return r.first == side.access; });
    const auto load =
        std::find_if(loads_.begin(), loads_.end(), [&](const auto& l) { return l.load.to == read->second; });
    const auto more = result_.columns.at(product.compute).row_tiles * product.steps * 4;
    if (load->block == place.block || result_.registers + more + to_spare > room()) return;
    side.kept = true;
    result_.registers += more;
  }

  // Shared memory

  // Loops that load tiles and hold no such loop.
  bool find_pipelined(const Block& block) {
    bool any = false, inside = false;
    for (const auto& step : block.steps) {
      if (const auto* load = std::get_if<Load>(&step.node)) any |= result_.tiles.contains(load->to);
      if (const auto* loop = std::get_if<For>(&step.node); loop && find_pipelined(loop->body)) {
        inside = true;
        if (loads_tiles(loop->body) && !loads_deeper(loop->body)) result_.pipelined.push_back(loop);
      }
    }
    return any || inside;
  }
  bool loads_tiles(const Block& block) const {
    return std::any_of(block.steps.begin(), block.steps.end(), [&](const Nest& step) {
      const auto* load = std::get_if<Load>(&step.node);
      return load && result_.tiles.contains(load->to);
    });
  }
  bool loads_deeper(const Block& block) const {
    return std::any_of(block.steps.begin(), block.steps.end(), [&](const Nest& step) {
      const auto* loop = std::get_if<For>(&step.node);
      return loop && (loads_tiles(loop->body) || loads_deeper(loop->body));
    });
  }
  // Tiles of pipelined loops twice, where there is room.
  void place_tiles() {
    const auto room = static_cast<std::int64_t>(hardware_.levels[result_.block_level].room());
    for (const auto* loop : result_.pipelined)
      for (const auto& step : loop->body.steps)
        if (const auto* load = std::get_if<Load>(&step.node); load && result_.tiles.contains(load->to))
          result_.tiles.at(load->to).copies = wanted_copies;
    if (shared_bytes() > room)
      for (auto& [id, tile] : result_.tiles) tile.copies = 1;
    if (shared_bytes() > room) std::erase_if(result_.tiles, [](const auto& each) { return !each.second.of_products; });
    result_.shared_bytes = shared_bytes();
    if (result_.shared_bytes > room)
      throw Misfit{fmt::format("its tiles, as long as fragments reach, take {} B of {} B", result_.shared_bytes, room),
                   streamed_wires()};
    std::int64_t begin = 0;
    for (auto& [id, tile] : result_.tiles) {
      tile.begin = begin;
      begin += up(tile.layout.size_bytes(), line) * tile.copies;
    }
  }
  std::vector<WireId> streamed_wires() const {
    std::vector<WireId> wires;
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::stream) wires.push_back(split.wire);
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group) wires.push_back(split.wire);
    return wires;
  }
  std::int64_t shared_bytes() const {
    std::int64_t all = 0;
    for (const auto& [id, tile] : result_.tiles) all += up(tile.layout.size_bytes(), line) * tile.copies;
    return all;
  }

  static constexpr std::int64_t line = 128;
  struct Part {
    std::int64_t parts, size;
  };
  struct PlacedLoad {
    Load load;
    const Block* block;
    Extents extents;
  };
  struct PlacedColumn {
    const Compute* compute;
    const Block* block;
    Extents extents;
  };
  struct PlacedSave {
    Save save;
    const Block* block;
  };
  Kernel kernel_;
  const Hardware& hardware_;
  WarpNest result_;
  std::map<WireId, Part> parts_;
  std::vector<PlacedLoad> loads_;
  std::vector<PlacedColumn> computes_;
  std::vector<PlacedSave> saves_;
  WireId rows_;
};

}  // namespace

std::int64_t Grid::values() const { return (rows && columns ? 4 : rows || columns ? 2 : 1) * row_tiles * column_tiles; }
const Product* WarpNest::product(const Compute* compute) const {
  const auto found =
      std::find_if(products.begin(), products.end(), [&](const Product& p) { return p.compute == compute; });
  return found == products.end() ? nullptr : &*found;
}

std::variant<WarpNest, Refused> distribute(const Kernel& kernel, const Hardware& hardware) {
  const auto leaf = hardware.levels.size() - 1;
  auto fitted = kernel;
  auto& splits = fitted.partition.splits;
  std::erase_if(splits, [&](const Split& s) { return s.level == leaf && s.kind == SplitKind::stream; });
  align(fitted.partition, leaf);
  for (;;) {
    try {
      auto result = Distributing(fitted, hardware).run();
      result.partition = fitted.partition;
      return result;
    } catch (const Misfit& misfit) {
      if (!mend(fitted.partition, misfit, leaf)) return Refused{misfit.reason, {}};
    }
  }
}

}  // namespace napkin
