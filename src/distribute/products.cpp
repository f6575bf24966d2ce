// Which columns are products for matrix units.
#include <cstdlib>

#include "distribute/wires.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

std::vector<WireId> long_wires(const Diagram& diagram, ExprId access, const Extents& extents) {
  auto wires = free_wires(diagram, access);
  std::erase_if(wires, [&](WireId wire) { return extents[wire.index] == 1; });
  return wires;
}

// The two arrays that are multiplied.
std::optional<std::pair<ExprId, ExprId>> factors(const Diagram& diagram, const Compute& compute) {
  const auto* fold = compute.column.fold;
  const auto* product = std::get_if<Apply>(&diagram.at(compute.column.value).node);
  if (!fold || fold->combine->role != Role::add || !product || product->function->role != Role::multiply) return {};
  const auto is_access = [&](ExprId id) { return std::holds_alternative<Access>(diagram.at(id).node); };
  if (!is_access(product->arguments[0]) || !is_access(product->arguments[1])) return {};
  return std::pair{product->arguments[0], product->arguments[1]};
}

BufferId read_from(const Compute& compute, ExprId access) {
  return std::find_if(compute.reads.begin(), compute.reads.end(), [&](const auto& r) { return r.first == access; })
      ->second;
}

}  // namespace

std::optional<WireId> long_wire(const Index& index, const Extents& extents) {
  std::optional<WireId> found;
  for (const auto& [wire, coefficient] : index.terms) {
    if (extents[wire.index] == 1) continue;
    if (found || coefficient != 1) return {};
    found = wire;
  }
  return index.divisor == 1 ? found : std::nullopt;
}

int capability(const Hardware& hardware) {
  const auto& name = hardware.cuda_architecture;
  return name.starts_with("sm_") ? std::atoi(name.c_str() + 3) : 0;
}

std::optional<Product> as_product(const Diagram& diagram, const Compute& compute, const Extents& extents, int team) {
  const auto both = factors(diagram, compute);
  if (!both) return {};
  const auto first = long_wires(diagram, both->first, extents), second = long_wires(diagram, both->second, extents);
  const auto& type = [&](ExprId id) { return diagram.at(access(diagram, id).array).type; };
  const auto* instruction = find_matrix_instruction(type(both->first), team);
  if (first.size() != 2 || second.size() != 2 || type(both->first) != type(both->second) || !instruction) return {};
  Product product;
  product.instruction = instruction;
  int shared = 0;
  for (const auto wire : first)
    if (has(second, wire)) product.over = wire, ++shared;
  if (shared != 1 || !has(compute.column.over, product.over)) return {};
  for (const auto wire : compute.column.over)
    if (wire != product.over && extents[wire.index] > 1) return {};
  product.rows = {both->first, read_from(compute, both->first)};
  product.columns = {both->second, read_from(compute, both->second)};
  return product;
}

}  // namespace napkin
