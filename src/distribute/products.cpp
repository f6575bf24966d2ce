// Which columns are products for matrix units.
#include "distribute/wires.hpp"
#include "loops/formats.hpp"
#include "loops/pieces.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

std::vector<WireId> long_wires(const Diagram& diagram, ExprId access, const Extents& extents) {
  auto wires = free_wires(diagram, access);
  std::erase_if(wires, [&](WireId wire) { return extents[wire.index] == 1; });
  return wires;
}

// Of two arrays of one type; of two types by a warp, in the format that has both, or in parts where that is faster than
// lanes.
const MatrixInstruction* instruction_of(const Diagram& diagram, const FactorPair& both, const Hardware& hardware,
                                        int warpgroup) {
  const auto [a, b] = types_of(diagram, both);
  if (a == b) return find_matrix_instruction(a, warpgroup);
  const auto type = warpgroup == 1 ? multiplied_as(diagram, {a, b}, hardware) : std::nullopt;
  if (!type) return nullptr;
  return parts_of(a, b) > 1 ? find_part_instruction(a, b) : find_matrix_instruction(*type);
}

// Leaves out the one with the longest piece, if there is any.
bool leave_longest(std::vector<WireId>& wires, const Extents& extents) {
  const auto longest = std::max_element(wires.begin(), wires.end(),
                                        [&](WireId a, WireId b) { return extents[a.index] < extents[b.index]; });
  if (longest == wires.end()) return false;
  wires.erase(longest);
  return true;
}

}  // namespace

std::optional<Product> as_product(const Diagram& diagram, const Compute& compute, const Extents& extents,
                                  const Hardware& hardware, int warpgroup) {
  const auto both = factors_of(diagram, compute.column);
  if (!both) return {};
  const auto first = long_wires(diagram, both->first, extents), second = long_wires(diagram, both->second, extents);
  const auto* instruction = instruction_of(diagram, *both, hardware, warpgroup);
  if (first.size() != 2 || second.size() != 2 || !instruction) return {};
  Product product;
  product.instruction = instruction;
  int shared = 0;
  for (const auto wire : first)
    if (contains(second, wire)) product.over = wire, ++shared;
  if (shared != 1 || !contains(compute.column.over, product.over)) return {};
  if (!instruction->formats)
    product.instruction = find_matrix_instruction(instruction->operands, warpgroup, extents[product.over.index]);
  for (const auto wire : compute.column.over)
    if (wire != product.over && extents[wire.index] > 1) return {};
  product.rows = {both->first, compute.read_from(both->first)};
  product.columns = {both->second, compute.read_from(both->second)};
  return product;
}

std::vector<WireId> beside_product(const Diagram& diagram, const Compute& compute, const Extents& extents,
                                   const Hardware& hardware, int warpgroup) {
  const auto both = factors_of(diagram, compute.column);
  if (!both || !instruction_of(diagram, *both, hardware, warpgroup)) return {};
  const auto first = long_wires(diagram, both->first, extents), second = long_wires(diagram, both->second, extents);
  std::vector<WireId> summed, beside, of_first, of_second;
  for (const auto wire : first)
    (!contains(second, wire) ? of_first : contains(compute.column.over, wire) ? summed : beside).push_back(wire);
  for (const auto wire : second)
    if (!contains(first, wire)) of_second.push_back(wire);
  for (auto* some : {&summed, &of_first, &of_second})
    if (!leave_longest(*some, extents)) return {};
  for (const auto& some : {summed, of_first, of_second}) beside.insert(beside.end(), some.begin(), some.end());
  return beside;
}

}  // namespace napkin
