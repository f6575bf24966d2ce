// A kernel becomes a nest of warps: products are found, wires run along rows or columns of fragments, operands are
// loaded from shared memory or taken from what the warp has, and everything gets its place and its size.
#include "napkin/distribute.hpp"

#include <fmt/format.h>

#include "diagram/match.hpp"
#include "distribute/distributing.hpp"
#include "distribute/grid.hpp"
#include "loops/formats.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_warps = 32;

}  // namespace

WarpNest Distributing::run() {
  check_machine();
  find_program();
  result_.nest = std::make_shared<const LoopNest>(lower(kernel_, hardware_));
  sources_ = tile_sources(nest());
  find_places(result_.nest->body, whole_pieces());
  find_products();
  find_rows();
  if (by_warpgroups()) check_warpgroups();
  find_grids();
  find_inlined();
  for (auto& product : result_.products) find_operands(product);
  stage_others();
  if (by_warpgroups()) find_step();
  count_registers();
  if (by_warpgroups()) {
    find_outside();
    find_pipelines(result_.nest->body, nullptr);
    find_stores();
    place_pipelines();
  } else {
    find_pipelined(result_.nest->body);
    place_tiles();
  }
  return std::move(result_);
}

// The machine and its warps

void Distributing::check_machine() {
  const auto& levels = hardware_.levels;
  if (by_warpgroups() && !has_warpgroup_instructions(hardware_.cuda_architecture))
    throw Infeasible{"napkin knows no matrix instructions of warpgroups for this machine"};
  if (hardware_.cuda_capability() < 80) throw Infeasible{"napkin knows no matrix instructions for this machine"};
  if (levels.size() < 3 || levels.back().unit != "warp" || levels[levels.size() - 2].unit != "block")
    throw Infeasible{"the machine's two innermost levels are not a block and its warps"};
  result_.block_level = levels.size() - 2;
}
std::size_t Distributing::leaf() const { return hardware_.levels.size() - 1; }

// The program of the partition as it is now; the text must hold for longer axes too.
void Distributing::find_program() {
  std::vector<WireId> streams;
  for (const auto& split : kernel_.partition.splits)
    if (split.kind == SplitKind::stream) streams.push_back(split.wire);
  auto program = napkin::stream(*kernel_.derivation, streams);
  if (const auto* refused = std::get_if<Refused>(&program)) throw Infeasible{refused->reason};
  auto& found = std::get<Program>(program);
  found.scratch.axes = kernel_.program.scratch.axes;
  kernel_.program = std::move(found);
  allow_whole_pieces(kernel_);
}

// Pieces

Extents Distributing::whole_pieces() {
  Extents all;
  for (std::uint32_t w = 0; w < diagram().wires.size(); ++w) all.push_back(diagram().size(WireId{w}).value_or(1));
  for (const auto& group : nest().groups) {
    auto& piece = all[group.wire.index];
    if (group.level == leaf()) {
      const auto parts = pieces_of(piece, group.size);
      result_.warps *= static_cast<int>(parts);
      parts_[group.wire] = {parts, group.size};
      if (result_.warps > most_warps)
        throw Infeasible{"a block would need more warps than it can have", {}, {}, {group.wire}};
    }
    piece = std::min(piece, group.size);
  }
  return all;
}
void Distributing::find_places(const LoopBody& block, const Extents& extents) {
  for (const auto& step : block.steps)
    match(
        step.node,
        [&](const Load& load) {
          loads_.push_back({load, &block, extents});
        },
        [&](const MaskTest& ask) { asked_.insert(ask.tile); },
        [&](const Compute& compute) {
          computes_.push_back({&compute, &block, extents});
        },
        [&](const Save& save) {
          saves_.push_back({save, &block});
        },
        [&](const For& loop) {
          auto inside = extents;
          shorten(inside, loop.split);
          find_places(loop.body, inside);
        });
}

// Products

void Distributing::find_products() {
  for (const auto& place : computes_)
    if (auto product = as_product(diagram(), *place.compute, place.extents, hardware_, result_.warpgroup)) {
      if (product->instruction->formats && !has_contraction(*kernel_.derivation, hardware_)) continue;
      product->compute = place.compute;
      result_.products.push_back(*product);
    }
  if (result_.products.empty()) throw no_products();
}
// One position of the wires that keep a sum of products from being one of matrices.
Infeasible Distributing::no_products() const {
  Infeasible infeasible{"it has no sum of products of two arrays"};
  for (const auto& place : computes_) {
    for (const auto wire : beside_product(diagram(), *place.compute, place.extents, hardware_, result_.warpgroup)) {
      const bool summed = contains(place.compute->column.over, wire);
      infeasible.single.push_back({summed ? SplitKind::stream : SplitKind::group, wire, 1, result_.block_level});
    }
    if (!infeasible.single.empty()) break;
  }
  if (infeasible.single.empty()) infeasible.reason = two_formats().value_or(infeasible.reason);
  return infeasible;
}
std::optional<std::string> Distributing::two_formats() const {
  for (const auto& place : computes_) {
    const auto& column = place.compute->column;
    if (!contracts(diagram(), column)) continue;
    const auto [a, b] = types_of(diagram(), *factors_of(diagram(), column));
    if (a != b)
      return fmt::format("`{}` multiplies arrays of {} and {}, and no instruction takes both: cast one of them",
                         name(place.compute->to), row(a).name, row(b).name);
  }
  return std::nullopt;
}

// The wire along rows: kept by every product, and carried by every operand that the warp computed; of several that fill
// warpgroups the planned one, else the first. Single warps make a product without it as well, each all of it, and take
// what it comes to as an operand of columns.
void Distributing::find_rows() {
  auto wires = row_wires(false);
  if (wires.empty() && !by_warpgroups()) wires = row_wires(true);
  if (wires.empty()) throw Infeasible{"its products have no common row axis"};
  const auto fills = [&](WireId wire) { return by_warpgroups() && fills_warpgroups(wire); };
  const auto found = std::find_if(wires.begin(), wires.end(), fills);
  const bool as_planned = planned_.rows && contains(wires, *planned_.rows) && fills(*planned_.rows);
  rows_ = as_planned ? *planned_.rows : found == wires.end() ? wires.front() : *found;
}
std::vector<WireId> Distributing::row_wires(bool of_some) const {
  std::vector<WireId> wires;
  for (const auto& product : result_.products)
    for (const auto wire : diagram().at(product.compute->column.output).wires)
      if (!contains(wires, wire)) wires.push_back(wire);
  std::erase_if(wires, [&](WireId wire) {
    const auto carries = [&](const Product& p) { return has_wire(p.rows, wire) || has_wire(p.columns, wire); };
    const auto may_be = [&](const Product& p) { return (of_some && !carries(p)) || may_be_rows(p, wire, of_some); };
    return !std::all_of(result_.products.begin(), result_.products.end(), may_be);
  });
  return wires;
}
bool Distributing::may_be_rows(const Product& product, WireId wire, bool of_some) const {
  const auto carries = [&](const Operand& side) { return has_wire(side, wire); };
  const bool first = carries(product.rows), second = carries(product.columns);
  if (first == second) return false;
  const auto& other = first ? product.columns : product.rows;
  return long_at(product.compute, wire) && (of_some || is_input(other.buffer));
}
bool Distributing::has_wire(const Operand& side, WireId wire) const {
  return contains(free_wires(diagram(), side.access), wire);
}
bool Distributing::long_at(const Compute* compute, WireId wire) const { return extents(compute)[wire.index] > 1; }
const Extents& Distributing::extents(const Compute* compute) const {
  return std::find_if(computes_.begin(), computes_.end(), [&](const auto& p) { return p.compute == compute; })->extents;
}

std::int64_t Grid::values() const {
  return (rows ? accumulator_tile.lane_rows : 1) * (columns ? accumulator_tile.lane_columns : 1) * row_tiles *
         column_tiles;
}
const Product* WarpNest::product(const Compute* compute) const {
  const auto found =
      std::find_if(products.begin(), products.end(), [&](const Product& p) { return p.compute == compute; });
  return found == products.end() ? nullptr : &*found;
}
bool WarpNest::is_integer(BufferId id) const {
  return std::any_of(products.begin(), products.end(), [&](const Product& p) {
    return p.compute->to == id && p.instruction->accumulator == Datatype::i32;
  });
}

bool WarpNest::lasts(const Compute* compute) const {
  return std::any_of(pipelines.begin(), pipelines.end(),
                     [&](const TilePipeline& pipeline) { return pipeline.lasting == compute; });
}

namespace {

// The same for as many blocks on a core as planned, or for as many as there is room for.
WarpNest with_blocks(WarpNest alone, const Kernel& fitted, const Hardware& hardware, const Planned& planned) {
  for (auto blocks = planned.blocks; blocks > 1; --blocks) try {
      return Distributing(fitted, hardware, alone.warpgroup, planned, blocks).run();
    } catch (const Infeasible&) {
    }
  return alone;
}

// How many positions the smallest pieces of blocks have, all wires together.
double piece_of(const Partition& partition, std::size_t leaf) {
  std::map<WireId, std::int64_t> pieces;
  for (const auto& split : partition.splits)
    if (split.level != leaf) pieces[split.wire] = split.size;
  double all = 1;
  for (const auto& [wire, size] : pieces) all *= static_cast<double>(size);
  return all;
}

std::variant<WarpNest, Refused> fit(const Kernel& kernel, const Hardware& hardware, int warpgroup,
                                    const Planned& planned, bool spreads) {
  const auto leaf = hardware.levels.size() - 1;
  auto fitted = kernel;
  auto& splits = fitted.partition.splits;
  std::erase_if(splits, [&](const Split& s) { return s.level == leaf && s.kind == SplitKind::stream; });
  align(fitted.partition, leaf);
  for (;;) {
    try {
      if (warpgroup > 1) nest_pieces(fitted.partition, leaf);
      auto result = with_blocks(Distributing(fitted, hardware, warpgroup, planned, 1).run(), fitted, hardware, planned);
      result.partition = fitted.partition;
      if (warpgroup > 1)
        result.scheduler = tile_scheduler_of(make_kernel(kernel.derivation, fitted.partition), hardware);
      if (warpgroup > 1) share_tiles(result);
      return result;
    } catch (const Infeasible& infeasible) {
      const auto before = fitted.partition;
      const bool repaired = repair(fitted.partition, infeasible, kernel.program.scratch, leaf, warpgroup, spreads);
      if (!repaired || fitted.partition == before || !illegal(*kernel.derivation, hardware, fitted.partition).empty())
        return Refused{infeasible.reason, {}};
    }
  }
}

std::variant<WarpNest, Refused> distribute(const Kernel& kernel, const Hardware& hardware, int warpgroup,
                                           const Planned& planned) {
  const auto leaf = hardware.levels.size() - 1;
  const auto length = [&](const auto& result) {
    const auto* nest = std::get_if<WarpNest>(&result);
    return nest ? piece_of(nest->partition, leaf) : 0;
  };
  auto shortened = fit(kernel, hardware, warpgroup, planned, false);
  if (length(shortened) >= piece_of(kernel.partition, leaf)) return shortened;
  auto spread = fit(kernel, hardware, warpgroup, planned, true);
  return length(spread) > length(shortened) ? spread : shortened;
}

}  // namespace

std::variant<WarpNest, Refused> distribute(const Kernel& kernel, const Hardware& hardware) {
  return distribute(kernel, hardware, 1, planned(kernel, hardware));
}
std::variant<WarpNest, Refused> distribute_warpgroups(const Kernel& kernel, const Hardware& hardware) {
  const auto plan = planned(kernel, hardware);
  const bool other = has_warpgroup_instructions(hardware.cuda_architecture) && !plan.by_warpgroups;
  return other ? Refused{} : distribute(kernel, hardware, warpgroup_warps, plan);
}

}  // namespace napkin
