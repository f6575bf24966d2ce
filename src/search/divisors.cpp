// Finds the divisors of each wire: least common multiples of the sizes of instructions for the kernel's contractions,
// and of the lines and sectors of memory in which its arrays lie.
#include "search/divisors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cost/figures/evaluate.hpp"
#include "cost/figures/fits.hpp"
#include "diagram/index.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "hardware/assumptions.hpp"
#include "loops/formats.hpp"
#include "loops/work.hpp"
#include "timing/divisors.hpp"
#include "timing/mainloop/excess.hpp"

namespace napkin {
namespace {

void collect_accesses(const Diagram& diagram, ExprId id, std::vector<const Access*>& found) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access& a) { found.push_back(&a); },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect_accesses(diagram, argument, found);
      },
      [&](const Cast& c) { collect_accesses(diagram, c.value, found); },
      [&](const Reduce& r) { collect_accesses(diagram, r.body, found); });
}

// Returns the smallest matrix instruction for operands of one type, or the smallest vector instruction if there is no
// matrix unit.
const InstructionShape* least_instruction(const Hardware& hardware, Datatype type) {
  const auto* unit = hardware.find(Unit::tensor);
  if (unit == nullptr) unit = hardware.find(Unit::fma);
  if (unit == nullptr) return nullptr;
  const InstructionShape* least = nullptr;
  for (const auto& shape : unit->instructions)
    if (shape.operands == type && (least == nullptr || shape.m * shape.n * shape.k < least->m * least->n * least->k))
      least = &shape;
  return least;
}

// Rows of an instruction that one warp holds.
std::int64_t rows(const InstructionShape& shape) { return shape.m / warps_of(shape); }

std::int64_t size_of(const Diagram& diagram, WireId wire) { return diagram.size(wire).value_or(1); }

// Returns the kept wires that only the first of two operands has.
std::vector<WireId> own_wires(const std::vector<WireId>& kept, const Access& operand, const Access& other) {
  std::vector<WireId> own;
  for (const auto wire : kept)
    if (moves(operand.at, wire) && !moves(other.at, wire)) own.push_back(wire);
  return own;
}

// Returns the innermost wire that is as long as the divisor, or else the innermost. The others count instructions.
std::optional<WireId> innermost(const Diagram& diagram, const std::vector<WireId>& own, std::int64_t divisor) {
  if (own.empty()) return std::nullopt;
  const auto long_enough = [&](WireId wire) { return size_of(diagram, wire) >= divisor; };
  const auto found = std::find_if(own.rbegin(), own.rend(), long_enough);
  return found == own.rend() ? own.back() : *found;
}

// Sets the divisors of a sum of products of two arrays. The contracted wire has multiples of the instruction's k. Wires
// of only one operand have multiples of m and n, because either operand may have the rows.
void divide_contraction(const Diagram& scratch, const Hardware& hardware, const Column& column, Space& space) {
  auto& divisors = space.divisors;
  const auto* product = std::get_if<Apply>(&scratch.at(column.value).node);
  if (column.fold == nullptr || column.fold->combine->role != Role::add || product == nullptr ||
      product->function->role != Role::multiply)
    return;
  std::vector<const Access*> reads;
  collect_accesses(scratch, column.value, reads);
  if (reads.size() != 2) return;
  const auto a = scratch.at(reads[0]->array).type, b = scratch.at(reads[1]->array).type;
  const auto* shape = least_instruction(hardware, multiplied_as(scratch, {a, b}, hardware).value_or(wider(a, b)));
  if (shape == nullptr) return;
  const auto& kept = scratch.at(column.output).wires;
  const auto divisor = std::max(rows(*shape), shape->n);
  const std::pair all = {own_wires(kept, *reads[0], *reads[1]), own_wires(kept, *reads[1], *reads[0])};
  const std::pair own = {innermost(scratch, all.first, divisor), innermost(scratch, all.second, divisor)};
  const bool matrix = own.first && own.second, vectors = shape->m == 1;
  if (!matrix && !(vectors && (own.first || own.second))) return;
  const auto is_short = [&](WireId wire) { return size_of(scratch, wire) < divisor; };
  for (auto wires : {all.first, all.second})
    if (std::erase_if(wires, is_short); matrix && wires.size() > 1) space.single.insert(wires.begin(), wires.end());
  const auto k = parts_of(a, b) > 1 && shape->operands == Datatype::tf32 ? k_of_parts : shape->k;
  const auto depth = depth_of(column.over, *reads[0], scratch, k);
  divisors[depth.index] = std::lcm(divisors[depth.index], k);
  for (const auto& wire : {own.first, own.second}) {
    // A vector instruction computes several contiguous values, and one position of other wires.
    if (!wire || (vectors && *wire != kept.back())) continue;
    divisors[wire->index] = std::lcm(divisors[wire->index], divisor);
  }
}

bool contracts(const Diagram& scratch, const Column& column, const Hardware& hardware) {
  return std::ranges::any_of(work_of(scratch, column, hardware),
                             [](const ColumnWork& work) { return work.unit == Unit::tensor; });
}

// Returns the summed wires of each contraction that sums along several.
std::vector<std::vector<WireId>> summed(const Derivation& derivation, const Hardware& hardware) {
  std::vector<std::vector<WireId>> all;
  for (const auto& column : derivation.columns) {
    if (!contracts(derivation.scratch, column, hardware)) continue;
    auto& wires = all.emplace_back(column.over);
    std::erase_if(wires, [&](WireId wire) { return size_of(derivation.scratch, wire) == 1; });
  }
  std::erase_if(all, [](const auto& wires) { return wires.size() < 2; });
  return all;
}

// Makes a divisor a multiple of `size` if the wire is longer than that.
void multiply(std::int64_t& divisor, std::int64_t size, std::int64_t length) {
  if (const auto both = std::lcm(divisor, size); both < length) divisor = both;
}

void add_coarser(Space& space, std::vector<std::int64_t> divisors) {
  if (divisors == space.core_divisors || (!space.coarser.empty() && divisors == space.coarser.back())) return;
  space.coarser.push_back(std::move(divisors));
}

// Divisors that follow from the mainloop replace those that follow from its instructions alone.
std::vector<std::int64_t> divided(const Space& space, const Mainloop& mainloop, Fineness fineness) {
  auto all = space.divisors;
  for (const auto& [wire, size] : core_divisors(mainloop, *space.hardware, fineness)) {
    auto& divisor = all[wire.index];
    const auto wanted = fineness == Fineness::least ? size : std::lcm(divisor, size);
    if (wanted < size_of(space.derivation->scratch, wire)) divisor = wanted;
  }
  return all;
}

// Returns the launch configurations of a mainloop with a contraction: of the kernel without splits, or with the first
// stream that leaves a contraction.
std::unique_ptr<LaunchConfigs> any_launch_configs(const Space& space) {
  if (!has_contraction(*space.derivation, *space.hardware)) return nullptr;
  const auto configs = [&](const Partition& partition) {
    return LaunchConfigs::of(make_kernel(space.derivation, partition), *space.hardware, Model::machine);
  };
  if (auto whole = configs({})) return whole;
  for (const auto wire : space.streamed) {
    const auto length = size_of(space.derivation->scratch, wire);
    if (auto one = configs({{{SplitKind::stream, wire, length, *space.hardware->core}}})) return one;
  }
  return nullptr;
}

bool has_excess(const Space& space, Partition partition, const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) partition.splits[i].size = sizes[i];
  const auto configs = LaunchConfigs::of(make_kernel(space.derivation, partition), *space.hardware, Model::machine);
  return configs && excess_of(configs->mainloop());
}

// True if the smallest pieces of some shape fit in the core's memory, and suit its instructions and copies.
bool smallest_fit(const Space& space) {
  bool fit = false;
  const auto core = space.core_level;
  each_continuation(space, space.fixed, core, [&](const Kernel& shape) {
    if (fit) return;
    std::vector<std::int64_t> sizes;
    for (const auto& split : shape.partition.splits)
      sizes.push_back(std::min(space.divisor(split), size_of(space.derivation->scratch, split.wire)));
    Figures figures;
    bound_memory(space.kernels->model(shape), sizes, sizes, figures);
    fit = static_cast<double>(figures.levels[core].memory_bytes) <= space.hardware->levels[core].room() &&
          !has_excess(space, shape.partition, sizes);
  });
  return fit;
}

// Tests whether the smallest pieces of some complete partition fit at every level. If there are many shapes, only the
// first ones are tested.
class SmallestPieces {
 public:
  explicit SmallestPieces(const Space& space) : space_(space) {}
  bool fit() { return fit(space_.fixed, space_.first); }

 private:
  static constexpr int most = 400;  // tens of milliseconds

  // Shapes with more streams hold less. They come last in the list and are tested first.
  bool fit(const Partition& partition, std::size_t level) {
    std::vector<Partition> shapes;
    each_continuation(space_, partition, level, [&](const Kernel& shape) { shapes.push_back(shape.partition); });
    return std::any_of(shapes.rbegin(), shapes.rend(), [&](const Partition& shape) {
      if (asked_ == most) return false;
      return level + 1 < space_.end ? fit(shape, level + 1) : holds(make_kernel(space_.derivation, shape));
    });
  }
  bool holds(const Kernel& shape) {
    ++asked_;
    std::vector<std::int64_t> sizes;
    for (const auto& split : shape.partition.splits)
      sizes.push_back(split.level < space_.first ? split.size : std::min(space_.least(split), size_of(split)));
    Figures figures;
    const auto& model = space_.kernels->model(shape);
    bound_memory(model, sizes, sizes, figures);
    return fits(model, figures, Model::machine, space_.held);
  }
  std::int64_t size_of(const Split& split) const { return napkin::size_of(space_.derivation->scratch, split.wire); }

  const Space& space_;
  int asked_ = 0;
};

double bytes_of(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  double bytes = row(array.stored()).bytes;
  for (const auto wire : array.wires) bytes *= static_cast<double>(size_of(diagram, wire));
  return bytes / row(array.stored()).share;
}

// Arrays with fewer bytes than these may waste sectors: even one value in a whole sector costs little.
double noticeable_bytes(const Derivation& derivation) {
  constexpr double share = 1.0 / 1024;
  double all = 0;
  for (const auto* arrays : {&derivation.inputs, &derivation.outputs})
    for (const auto array : *arrays) all += bytes_of(derivation.scratch, array);
  return all * share;
}

// Returns divisors that are multiples of a part of a sector along the innermost axis of every array of at least
// `least_bytes`.
std::vector<std::int64_t> divided_by_sectors(Space& space, double least_bytes, std::int64_t parts) {
  const auto& derivation = *space.derivation;
  const auto& scratch = derivation.scratch;
  const auto sector = static_cast<std::int64_t>(space.hardware->levels[space.core_level].sector->value);
  auto all = space.core_divisors;
  const auto add = [&](WireId wire, ArrayId array) {
    const auto& type = row(scratch.at(array).stored());
    multiply(all[wire.index], std::max<std::int64_t>(1, sector / parts / type.bytes * type.share),
             size_of(scratch, wire));
  };
  for (const auto& column : derivation.columns) {
    std::vector<const Access*> reads;
    collect_accesses(scratch, column.value, reads);
    for (const auto* read : reads)
      if (std::ranges::count(derivation.inputs, read->array) > 0 && bytes_of(scratch, read->array) >= least_bytes &&
          !read->at.empty() && read->at.back().terms.size() == 1)
        add(read->at.back().terms[0].first, read->array);
  }
  // If only results are contiguous along a wire, tiles of one position waste sectors of the results only.
  for (const auto output : derivation.outputs) {
    const auto& wires = scratch.at(output).wires;
    if (wires.empty() || bytes_of(scratch, output) < least_bytes) continue;
    if (all[wires.back().index] == 1) space.single.insert(wires.back());
    add(wires.back(), output);
  }
  return all;
}

// Returns the number of blocks of the smallest pieces.
double most_blocks(const Space& space) {
  double blocks = 1;
  for (const auto wire : space.grouped) {
    const auto size = size_of(space.derivation->scratch, wire);
    blocks *= std::ceil(static_cast<double>(size) / static_cast<double>(space.core_divisors[wire.index]));
  }
  return blocks;
}

bool asks_for_position(const Diagram& diagram, ExprId id) {
  return any_part(diagram, id, [&](ExprId part) { return std::holds_alternative<Position>(diagram.at(part).node); });
}

}  // namespace

void divide_by_instructions(Space& space) {
  each_column(*space.derivation, [&](const Diagram& scratch, const Column& column) {
    space.divisors.resize(std::max(space.divisors.size(), scratch.wires.size()), 1);
    divide_contraction(scratch, *space.hardware, column, space);
  });
  space.core_divisors = space.divisors;
}

void time_launches(Space& space) {
  constexpr std::size_t most = 4;  // more take seconds to look through
  const auto configs = any_launch_configs(space);
  auto several = summed(*space.derivation, *space.hardware);
  if (!configs || std::ranges::any_of(several, [](const auto& wires) { return wires.size() > most; })) return;
  space.summed = std::move(several);
  // If three or more wires are summed, all of them may be streamed, because tiles of all but one of them would be long.
  for (const auto& wires : space.summed)
    space.most_streams = std::max(space.most_streams, wires.size() > 2 ? wires.size() : 1);
  space.core_level = std::max(*space.hardware->core, space.first - 1);
  space.launches = std::make_shared<Launches>(space.kernels, *space.hardware, space.core_level);
  space.core_divisors = divided(space, configs->mainloop(), Fineness::least);
  if (space.first == space.core_level && !smallest_fit(space)) space.core_divisors = space.divisors;
  add_coarser(space, divided(space, configs->mainloop(), Fineness::lines));
}

void cut_between_sectors(Space& space) {
  const auto& hardware = *space.hardware;
  const auto& derivation = *space.derivation;
  const auto& scratch = derivation.scratch;
  if (space.launches || !hardware.core || !hardware.levels[*hardware.core].sector) return;
  const auto masked = [&](const Column& column) { return asks_for_position(scratch, column.value); };
  if (std::any_of(derivation.columns.begin(), derivation.columns.end(), masked)) return;
  space.core_level = *hardware.core;
  const auto any = space.core_divisors, whole = divided_by_sectors(space, noticeable_bytes(derivation), 1);
  space.core_divisors = whole;
  const auto held = static_cast<double>(hardware.total(space.core_level)) * blocks_together(hardware.limits);
  if (most_blocks(space) >= held) return;  // blocks cost time to launch, which the model does not know
  space.core_divisors = any;
  add_coarser(space, whole);
  add_coarser(space, divided_by_sectors(space, noticeable_bytes(derivation), 4));
}

void divide_where_it_fits(Space& space) {
  if (space.launches || space.first >= space.end || space.derivation->statements.size() > 1) return;
  const std::vector<std::int64_t> any(space.divisors.size(), 1);
  const auto with = [&](const std::vector<std::int64_t>& below, const std::vector<std::int64_t>& to_core) {
    auto made = space;
    made.divisors = below, made.core_divisors = to_core;
    return made;
  };
  for (auto tried : {space, with(space.divisors, space.divisors), with(any, any)})
    if (SmallestPieces(tried).fit()) return void(space = std::move(tried));
}

}  // namespace napkin
