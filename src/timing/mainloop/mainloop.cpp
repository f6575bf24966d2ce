// Finds the mainloop of a kernel: lowers the kernel without its splits below the core, and describes the operations of
// the innermost loop and of the statements around it column by column.
#include "timing/mainloop/mainloop.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "diagram/contains.hpp"
#include "loops/formats.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"
#include "napkin/instructions.hpp"
#include "timing/labels.hpp"
#include "timing/mainloop/rows.hpp"

namespace napkin {
namespace {

// A body of the nest and the loops around it.
struct Body {
  const LoopBody* block = nullptr;
  std::vector<const For*> loops;
  std::size_t contractions = 0;
};

class Reader {
 public:
  Reader(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel), hardware_(hardware) {
    mainloop_.core = *hardware.core;
    mainloop_.capability = hardware.cuda_capability();
    mainloop_.loads_matrices =
        mainloop_.capability >= 80 && mainloop_.capability < 100 && !hardware.limits.registers_for_addresses;
    if (const auto& sector = hardware.levels[mainloop_.core].sector)
      mainloop_.sector = static_cast<std::int64_t>(sector->value);
    mainloop_.nest = std::make_shared<LoopNest>(lower(down_to(kernel, mainloop_.core), hardware));
    sources_ = tile_sources(nest());
  }

  std::optional<Mainloop> run() {
    Body body;
    find_body({&mainloop_.nest->body, {}, 0}, body);
    if (body.contractions == 0) return std::nullopt;
    mainloop_.loops = body.loops;
    step_body_ = body.block;
    std::vector<const For*> loops;
    walk(mainloop_.nest->body, loops);
    const bool any = std::ranges::any_of(mainloop_.columns, [](const auto& c) { return c.contraction.has_value(); });
    if (!any) return std::nullopt;
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group && split.level > mainloop_.core && !mainloop_.given_row)
        mainloop_.given_row = split.wire;
    sort_tiles(*body.block);
    mainloop_.each([&](const MainloopOperation& column) { align(column); });
    if (mainloop_.any_tile([&](BufferId id) { return is_packed(id); })) mainloop_.row_alignment = 1;
    for (auto& column : mainloop_.columns)
      for (auto& factor : column.factors) factor.operand.outlives = is_of_lasting_tile(factor.operand.buffer);
    divide_rows(mainloop_);
    return std::move(mainloop_);
  }

 private:
  const LoopNest& nest() const { return *mainloop_.nest; }
  std::vector<ColumnWork> work(const Column& column) const {
    auto all = work_of(nest().scratch, column, hardware_);
    return multiplies_ ? all : on_lanes(std::move(all));
  }

  // Finds the body with the most contractions, the innermost of equals.
  void find_body(Body here, Body& best) const {
    const auto is_contraction = [](const ColumnWork& work) { return work.unit == Unit::tensor; };
    for (const auto* compute : own_statements<Compute>(*here.block))
      here.contractions += std::ranges::any_of(work(compute->column), is_contraction);
    if (here.contractions >= best.contractions) best = here;
    for (const auto* loop : own_statements<For>(*here.block)) {
      Body inside{&loop->body, here.loops, 0};
      inside.loops.push_back(loop);
      find_body(std::move(inside), best);
    }
  }

  void walk(const LoopBody& block, std::vector<const For*>& loops) {
    for (const auto& statement : block.steps) {
      if (const auto* compute = std::get_if<Compute>(&statement.node)) add(*compute, loops, &block == step_body_);
      if (const auto* load = std::get_if<Load>(&statement.node)) add_edge(load->to, loops, &block == step_body_);
      if (const auto* save = std::get_if<Save>(&statement.node)) add_edge(save->from, loops, &block == step_body_);
      const auto* loop = std::get_if<For>(&statement.node);
      if (!loop) continue;
      loops.push_back(loop);
      walk(loop->body, loops);
      loops.pop_back();
    }
  }
  // Adds a buffer that is moved into the core's memory or out of it, except a tile that every iteration loads.
  void add_edge(BufferId id, const std::vector<const For*>& loops, bool inside) {
    const auto& buffer = nest().at(id);
    const bool loaded = nest().is_input(id);
    if (buffer.level == mainloop_.core && !(inside && loaded)) mainloop_.edges.push_back({id, {loops, 1}, inside});
  }

  void add(const Compute& compute, const std::vector<const For*>& loops, bool inside) {
    MainloopOperation column;
    column.around.loops = loops;
    column.compute = &compute;
    column.name = nest().scratch.at(compute.column.output).name;
    column.wires = free_wires(nest().scratch, compute.column.value);
    // Most of the tiles that run pass a mask as a whole, so that the work is that of the unmasked column.
    auto open = compute.column;
    if (!compute.masks.empty()) open.value = compute.unmasked;
    column.work = work(open);
    const auto multiplies = [&](const Column& one) { return factors_of(nest().scratch, one).has_value(); };
    if (multiplies(open) && !multiplies(compute.column)) column.work = on_lanes(std::move(column.work));
    for (const auto& work : column.work)
      if (work.unit == Unit::tensor) contract(column, work.type);
    (inside ? mainloop_.columns : mainloop_.outside).push_back(std::move(column));
  }
  // Returns the fastest instruction of the machine. If napkin emits kernels for the machine, only instructions that
  // these kernels use are considered.
  const InstructionShape* fastest_instruction(Datatype type, std::int64_t most_warps) const {
    const InstructionShape* best = nullptr;
    const auto share = [](const InstructionShape& shape) { return shape.fraction ? shape.fraction->value : 1; };
    const auto is_there = [&](const InstructionShape& shape) {
      return !mainloop_.loads_matrices || find_matrix_instruction(type, static_cast<int>(warps_of(shape))) != nullptr;
    };
    for (const auto& shape : hardware_.find(Unit::tensor)->instructions)
      if (shape.operands == type && warps_of(shape) <= most_warps && is_there(shape) &&
          (!best || share(shape) > share(*best)))
        best = &shape;
    return best;
  }
  void contract(MainloopOperation& column, Datatype type) const {
    const auto& compute = *column.compute;
    const auto* instruction = fastest_instruction(type, 4);
    if (!instruction) return;
    const auto* by_warp = fastest_instruction(type, 1);
    const auto& scratch = nest().scratch;
    const auto& product = std::get<Apply>(scratch.at(compute.column.value).node);
    const auto& first = std::get<Access>(scratch.at(product.arguments[0]).node);
    const auto [a, b] = types_of(scratch, {product.arguments[0], product.arguments[1]});
    const int parts = parts_of(a, b);
    const auto k = parts > 1 ? k_of_parts : instruction->k;
    const auto depth = depth_of(compute.column.over, first, scratch, k);
    column.contraction = Contraction{{}, {}, instruction, instruction, by_warp ? by_warp : instruction, depth, {}};
    column.contraction->k = k, column.contraction->parts = parts, column.contraction->mixed = a != b;
    column.factors = {factor(compute, product.arguments[0], type), factor(compute, product.arguments[1], type)};
  }
  Factor factor(const Compute& compute, ExprId id, Datatype type) const {
    const auto from = compute.read_from(id);
    const bool staged = nest().is_input(from);
    Factor made{{from, staged}, {}, staged && nest().scratch.at(nest().at(from).array).type != type};
    made.at = std::get<Access>(nest().scratch.at(id).node).at;
    for (const auto& index : made.at)
      for (const auto& [wire, coefficient] : index.terms) made.wires.push_back(wire);
    return made;
  }

  // Sorts the buffers in the core's memory into those that every iteration loads, those that stay, and outputs.
  void sort_tiles(const LoopBody& body) {
    const auto loads = own_statements<Load>(body);
    for (std::uint32_t i = 0; i < nest().buffers.size(); ++i) {
      const auto& buffer = nest().buffers[i];
      if (buffer.level != mainloop_.core) continue;
      const bool loaded = std::ranges::any_of(loads, [&](const Load* load) { return load->to == BufferId{i}; });
      if (nest().is_input(buffer.array))
        (loaded ? mainloop_.streamed : mainloop_.tiles).push_back({i});
      else if (contains(nest().outputs, buffer.array))
        mainloop_.outputs.push_back({i});
    }
  }

  void align(const MainloopOperation& column) {
    for (const auto& factor : column.factors)
      if (factor.operand.staged)
        mainloop_.row_alignment =
            std::min(mainloop_.row_alignment, napkin::row_alignment(nest().scratch, array_of(factor.operand.buffer)));
  }
  // Values that share a byte in memory lie one by one in tiles. Lanes bring them there and no copy does, so that their
  // alignment counts as 1.
  bool is_packed(BufferId id) const { return array_of(id).packed.has_value(); }
  const Array& array_of(BufferId id) const { return nest().scratch.at(nest().at(id).array); }

  bool is_of_lasting_tile(BufferId id) const { return contains(mainloop_.tiles, outermost_tile(sources_, id)); }

  const Kernel& kernel_;
  const Hardware& hardware_;
  const LoopBody* step_body_ = nullptr;
  const bool multiplies_ = has_contraction(*kernel_.derivation, hardware_);
  TileSources sources_;
  Mainloop mainloop_;
};

}  // namespace

WireId depth_of(const std::vector<WireId>& over, const Access& operand, const Diagram& diagram, std::int64_t least) {
  auto depth = over.back();
  for (const auto& index : operand.at) {
    auto terms = index.terms;
    std::ranges::stable_sort(terms, std::greater(), [](const auto& term) { return std::abs(term.second); });
    for (const auto& [wire, coefficient] : terms)
      if (contains(over, wire))
        if (diagram.size(wire).value_or(1) >= least || diagram.size(depth).value_or(1) < least) depth = wire;
  }
  return depth;
}

bool leads(const MainloopOperation& column) {
  return !column.compute->carried && !column.compute->column.repair && column.contraction->rows.staged;
}

int Mainloop::value_bytes(BufferId id) const { return napkin::row(diagram().at(nest->at(id).array).type).bytes; }

std::int64_t Mainloop::bytes(BufferId id) const {
  return values(id, lengths[row.index]) * napkin::row(nest->at(id).type).bytes;
}

int Mainloop::share(BufferId id) const {
  const auto& buffer = nest->at(id);
  return buffer.level == 1 ? napkin::row(diagram().at(buffer.array).stored()).share : 1;
}

std::int64_t Mainloop::step_bytes(BufferId id) const {
  const auto& volume = volumes[id.index];
  const auto rows = volume.rows > 0 ? std::min(volume.rows, lengths[row.index]) : 1;
  return volume.beside * rows * value_bytes(id);
}

std::vector<std::int64_t> Mainloop::shape(BufferId id, std::int64_t rows) const {
  const auto& buffer = nest->at(id);
  auto shape = buffer.extent;
  const auto first = std::ranges::find_if(buffer.at, [&](const Index& index) { return moves(index, row); });
  if (first == buffer.at.end()) return shape;
  auto& along = shape[static_cast<std::size_t>(first - buffer.at.begin())];
  along = rows_held(along, rows);
  return shape;
}

bool Mainloop::keeps_any() const {
  return std::ranges::any_of(columns, [](const auto& one) { return one.contraction && one.contraction->rows.kept; });
}
bool Mainloop::has_loop_of_its_own(BufferId tile) const {
  return std::ranges::any_of(edges, [&](const Edge& edge) {
    const auto& around = edge.around.loops;
    return edge.buffer == tile && !around.empty() && !contains(loops, around.back());
  });
}
bool Mainloop::exchanges_bytes(const Contraction& made) const {
  return !made.rows.staged && !made.mixed && value_bytes(made.rows.buffer) == 1;
}
bool Mainloop::is_widened_by_warps(const Contraction& made) const {
  const auto* single = find_matrix_instruction(made.instruction->operands, 1);
  return single && !multiplies_directly(*single, capability);
}
bool Mainloop::has_rows(const MainloopOperation& column) const {
  const auto& made = column.compute->column;
  return contains(diagram().at(made.output).wires, row) || contains(made.over, row) || contains(column.wires, row);
}
bool Mainloop::is_repeated(const MainloopOperation& column) const {
  const auto& kept = diagram().at(column.compute->column.output).wires;
  return !has_rows(column) &&
         std::ranges::count_if(kept, [&](WireId wire) { return lengths_at(column)[wire.index] > 1; }) == 2;
}
bool Mainloop::issues_together() const {
  return std::ranges::any_of(columns, [](const MainloopOperation& column) {
    return column.contraction && warps_of(*column.contraction->instruction) > 1;
  });
}

Datatype Mainloop::widest_input() const {
  const auto type = [&](ArrayId input) { return diagram().at(input).type; };
  const auto widest =
      std::ranges::max_element(nest->inputs, {}, [&](ArrayId input) { return napkin::row(type(input)).bytes; });
  return widest == nest->inputs.end() ? Datatype::f32 : type(*widest);
}
double Mainloop::output_tiles() const {
  double most = 1;
  for (const auto& edge : edges)
    if (!edge.inside && contains(outputs, edge.buffer)) most = std::max(most, edge.around.times * steps);
  return most;
}

std::optional<Mainloop> mainloop_of(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core || !hardware.find(Unit::tensor)) return std::nullopt;
  return Reader(kernel, hardware).run();
}

}  // namespace napkin
