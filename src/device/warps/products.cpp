// Finds the columns of a nest that are matrix products, by the wires of the arrays that they multiply, and the wire
// that runs along the rows of all products.
#include "device/warps/products.hpp"

#include <fmt/format.h>

#include "loops/formats.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_warpgroups = 7;  // that compute in a block of 1024 threads; the eighth one copies

// Products

// Both arrays usually have one type. Arrays of two types are multiplied in the format that holds both, or in parts if
// that is faster than arithmetic on lanes. Warpgroups read operands from shared memory as they are: only a computed one
// may have another type, because lanes pack it.
const MatrixInstruction* instruction_of(const Lowered& lowered, const Compute& compute, const FactorPair& both) {
  const auto [a, b] = types_of(lowered.diagram(), both);
  if (a == b) return find_matrix_instruction(a, lowered.issuing_warps);
  const auto type = multiplied_as(lowered.diagram(), {a, b}, lowered.hardware);
  if (!type) return nullptr;
  const bool parts = parts_of(a, b) > 1;
  const auto packs = [&](ExprId access, Datatype own) {
    return own == *type || !lowered.nest->is_input(compute.read_from(access));
  };
  if (lowered.by_warpgroups() && (parts || !packs(both.first, a) || !packs(both.second, b))) return nullptr;
  return parts ? find_part_instruction(a, b) : find_matrix_instruction(*type, lowered.issuing_warps);
}
// The two arrays that a column multiplies, and their long wires.
struct Factors {
  FactorPair both;
  const MatrixInstruction* instruction;
  std::vector<WireId> summed, beside{}, of_first{}, of_second{};  // beside: wires of both arrays that are not summed
};
std::optional<Factors> multiplied(const Lowered& lowered, const Placed<Compute>& placed) {
  const auto both = factors_of(lowered.diagram(), placed.step->column);
  const auto* instruction = both ? instruction_of(lowered, *placed.step, *both) : nullptr;
  if (!instruction) return {};
  const auto long_wires = [&](ExprId access) {
    auto wires = free_wires(lowered.diagram(), access);
    std::erase_if(wires, [&](WireId wire) { return placed.extents[wire.index] == 1; });
    return wires;
  };
  Factors factors{*both, instruction, {}};
  const auto first = long_wires(both->first), second = long_wires(both->second);
  for (const auto wire : first)
    (!contains(second, wire)                    ? factors.of_first
     : contains(placed.step->column.over, wire) ? factors.summed
                                                : factors.beside)
        .push_back(wire);
  for (const auto wire : second)
    if (!contains(first, wire)) factors.of_second.push_back(wire);
  return factors;
}
std::optional<Product> as_product(const Lowered& lowered, const Placed<Compute>& placed) {
  const auto& [compute, block, extents] = placed;
  const auto factors = multiplied(lowered, placed);
  if (!factors || factors->summed.size() != 1 || !factors->beside.empty() || factors->of_first.size() != 1 ||
      factors->of_second.size() != 1)
    return {};
  const auto& [first, second] = factors->both;
  const auto along = factors->summed.front();
  const auto is_other = [&, &lengths = extents](WireId wire) { return wire != along && lengths[wire.index] > 1; };
  if (std::ranges::any_of(compute->column.over, is_other)) return {};
  const auto* instruction = factors->instruction;
  if (!instruction->formats)
    instruction = find_matrix_instruction(instruction->operands, lowered.issuing_warps, extents[along.index]);
  return Product{.compute = compute,
                 .instruction = instruction,
                 .over = along,
                 .rows = {first, compute->read_from(first)},
                 .columns = {second, compute->read_from(second)}};
}
// An instruction sums over one wire, and each of its operands has one other wire. A column with more wires is a product
// at each position of the additional ones, which this function returns. The longest summed wire, and the longest wire
// that each array has alone, remain with the product.
std::vector<WireId> beside_product(const Lowered& lowered, const Placed<Compute>& placed) {
  auto factors = multiplied(lowered, placed);
  if (!factors) return {};
  auto beside = factors->beside;
  for (auto* some : {&factors->summed, &factors->of_first, &factors->of_second}) {
    const auto longest = std::ranges::max_element(*some, {}, [&](WireId wire) { return placed.extents[wire.index]; });
    if (longest == some->end()) return {};
    some->erase(longest);
    beside.insert(beside.end(), some->begin(), some->end());
  }
  return beside;
}
std::optional<std::string> two_formats(const Lowered& lowered) {
  for (const auto& place : lowered.computes) {
    const auto& column = place.step->column;
    if (!contracts(lowered.diagram(), column)) continue;
    const auto [a, b] = types_of(lowered.diagram(), *factors_of(lowered.diagram(), column));
    if (a != b)
      return fmt::format("`{}` multiplies arrays of {} and {}, and no instruction takes both: cast one of them",
                         lowered.name(place.step->to), row(a).name, row(b).name);
  }
  return std::nullopt;
}
Infeasible no_products(const Lowered& lowered) {
  Infeasible infeasible{"it has no sum of products of two arrays"};
  for (const auto& place : lowered.computes) {
    for (const auto wire : beside_product(lowered, place)) {
      const auto kind = contains(place.step->column.over, wire) ? SplitKind::stream : SplitKind::group;
      infeasible.single.push_back({kind, wire, 1, lowered.block_level});
    }
    if (!infeasible.single.empty()) return infeasible;
  }
  infeasible.reason = two_formats(lowered).value_or(infeasible.reason);
  return infeasible;
}

// Rows

// An input may be read in any order, but a computed operand has the wire along its rows. `of_some`: products may lack
// the wire.
bool may_be_rows(const Lowered& lowered, const Product& product, WireId wire, bool of_some) {
  const bool first = has_wire(lowered.diagram(), product.rows, wire);
  const bool second = has_wire(lowered.diagram(), product.columns, wire);
  if (first == second) return of_some && !first;
  const auto& other = first ? product.columns : product.rows;
  return lowered.at(product.compute).extents[wire.index] > 1 && (of_some || lowered.nest->is_input(other.buffer));
}
std::vector<WireId> row_wires(const Lowered& lowered, const std::vector<Product>& products, bool of_some) {
  std::vector<WireId> wires;
  for (const auto& product : products)
    for (const auto wire : lowered.diagram().at(product.compute->column.output).wires)
      if (!contains(wires, wire)) wires.push_back(wire);
  std::erase_if(wires, [&](WireId wire) {
    return !std::ranges::all_of(products, [&](const Product& p) { return may_be_rows(lowered, p, wire, of_some); });
  });
  return wires;
}
// True if a block has more than half as many rows as a warpgroup. A wire that no block splits is not divided.
bool fills_warpgroups(const Attempt& attempt, WireId rows) {
  const auto* block = find_split(attempt.kernel.partition, rows, false, attempt.leaf());
  return block && block->size * 2 > row_tile * attempt.issuing_warps;
}
WireId choose_rows(const Lowered& lowered, const std::vector<Product>& products) {
  auto wires = row_wires(lowered, products, false);
  if (wires.empty() && !lowered.by_warpgroups()) wires = row_wires(lowered, products, true);
  if (wires.empty()) throw infeasible("its products have no common row axis");
  const auto fills = [&](WireId wire) { return lowered.by_warpgroups() && fills_warpgroups(lowered, wire); };
  const auto& planned = lowered.planned.rows;
  if (planned && contains(wires, *planned) && fills(*planned)) return *planned;
  const auto found = std::ranges::find_if(wires, fills);
  return found == wires.end() ? wires.front() : *found;
}
std::int64_t planned_rows_of_warp(const Lowered& lowered, WireId rows) {
  if (lowered.planned.rows != rows) return row_tile;
  return std::max(lowered.planned.warpgroup_rows / lowered.issuing_warps / row_tile, std::int64_t{1}) * row_tile;
}
// A piece with fewer rows than a warpgroup may become longer if the axis is long enough, and every SM still gets a
// block.
bool may_fill_warpgroups(const Lowered& lowered, WireId rows) {
  const auto least = row_tile * lowered.issuing_warps;
  if (!lowered.hardware.core || lowered.size(rows) < least) return false;
  std::int64_t blocks = 1;
  for (const auto& group : lowered.nest->groups)
    if (group.level != lowered.leaf())
      blocks *= pieces_of(lowered.size(group.wire), group.wire == rows ? std::max(group.size, least) : group.size);
  return blocks >= lowered.hardware.total(*lowered.hardware.core);
}
// Checks that the rows are divided among warps and no other wire is, that no warp has more rows than planned, and that
// all warpgroups are full.
void check_rows(const Lowered& lowered, WireId rows) {
  const auto planned = planned_rows_of_warp(lowered, rows);
  const auto found = lowered.parts.find(rows);
  const bool divided = lowered.parts.size() == 1 && found != lowered.parts.end() &&
                       found->second.size % row_tile == 0 && found->second.parts % lowered.issuing_warps == 0 &&
                       found->second.size <= planned;
  if (!divided)
    throw Infeasible{.reason = fmt::format("the rows along {} do not divide among warpgroups of {} warps",
                                           lowered.name(rows), lowered.issuing_warps),
                     .divided = rows,
                     .rows_of_warp = planned,
                     .may_grow = may_fill_warpgroups(lowered, rows)};
  if (lowered.warps > most_warpgroups * lowered.issuing_warps)
    throw Infeasible{.reason = "its rows need more warpgroups than a block can have", .fewer_warps = {rows}};
}

}  // namespace

std::vector<Product> find_products(const Lowered& lowered) {
  std::vector<Product> products;
  const auto in_parts = [&] { return has_contraction(*lowered.kernel.derivation, lowered.hardware); };
  for (const auto& place : lowered.computes)
    if (const auto product = as_product(lowered, place); product && (!product->instruction->formats || in_parts()))
      products.push_back(*product);
  if (products.empty()) throw no_products(lowered);
  return products;
}
WireId find_rows(const Lowered& lowered, const std::vector<Product>& products) {
  const auto rows = choose_rows(lowered, products);
  if (lowered.by_warpgroups()) check_rows(lowered, rows);
  return rows;
}
bool has_wire(const Diagram& diagram, const Operand& side, WireId wire) {
  return contains(free_wires(diagram, side.access), wire);
}

}  // namespace napkin
