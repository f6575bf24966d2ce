// What a column does at each position, by unit: its function's operations, those of the fold and of the repair.
#include "loops/work.hpp"

#include <algorithm>

#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

// What is the same at every position is computed once and not counted; dividing by it is multiplying by its inverse,
// and a small power is products.
bool varies(const Diagram& diagram, ExprId id) {
  return !free_wires(diagram, id).empty() || !arrays_read(diagram, id).empty();
}

void collect(const Diagram& diagram, ExprId id, bool folded, std::vector<ColumnWork>& work) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {}, [](const Access&) {},
      [](const Reduce&) {}, [&](const Cast& c) { collect(diagram, c.value, folded, work); },
      [&](const Apply& a) {
        if (!varies(diagram, id)) return;
        const bool scales = a.function->role == Role::divide && !varies(diagram, a.arguments[1]);
        const int products = small_power(diagram, a) - 1;
        const auto unit = scales || products > 0 ? Unit::fma : a.function->unit;
        work.push_back({unit, Datatype::f32, products > 0 ? products : a.function->operations, folded});
        for (const auto argument : a.arguments) collect(diagram, argument, folded, work);
      });
}

Datatype wider(Datatype a, Datatype b) {
  if (a == b) return a;
  if (row(a).bytes == row(b).bytes) return Datatype::f32;
  return row(a).bytes > row(b).bytes ? a : b;
}

// The operand type of a sum of products of two arrays.
std::optional<Datatype> contraction(const Diagram& diagram, const Column& column) {
  const auto* product = std::get_if<Apply>(&diagram.at(column.value).node);
  if (!column.fold || column.fold->combine->role != Role::add) return {};
  if (!product || product->function->role != Role::multiply) return {};
  const auto* a = std::get_if<Access>(&diagram.at(product->arguments[0]).node);
  const auto* b = std::get_if<Access>(&diagram.at(product->arguments[1]).node);
  if (!a || !b) return {};
  return wider(diagram.at(a->array).type, diagram.at(b->array).type);
}

bool has_matrix(const Diagram& diagram, const Column& column) {
  const auto& arguments = std::get<Apply>(diagram.at(column.value).node).arguments;
  const auto a = free_wires(diagram, arguments[0]), b = free_wires(diagram, arguments[1]);
  return std::ranges::any_of(diagram.at(column.output).wires, [&](WireId wire) {
    return std::ranges::binary_search(a, wire) != std::ranges::binary_search(b, wire);
  });
}

bool has_rate(const Hardware& hardware, Unit unit, Datatype type) {
  const auto* found = hardware.find(unit);
  return found && found->rates.contains(type);
}

// Lanes add what they multiply in the type of sums.
ColumnWork sum_of_products(bool of_matrices, Datatype type, const Hardware& hardware) {
  if (of_matrices && has_rate(hardware, Unit::tensor, type)) return {Unit::tensor, type, 2, true, false};
  const auto summed = type == Datatype::f64 ? Datatype::f64 : Datatype::f32;
  return {Unit::fma, of_matrices ? type : summed, 2, true, true};
}

}  // namespace

bool contracts(const Diagram& diagram, const Column& column) {
  return contraction(diagram, column) && has_matrix(diagram, column);
}

std::vector<ColumnWork> work_of(const Diagram& diagram, const Column& column, const Hardware& hardware) {
  std::vector<ColumnWork> work;
  const bool folded = column.fold != nullptr;
  if (const auto type = contraction(diagram, column)) {
    work.push_back(sum_of_products(has_matrix(diagram, column), *type, hardware));
  } else {
    collect(diagram, column.value, folded, work);
    if (folded) work.push_back({column.fold->combine->unit, Datatype::f32, column.fold->combine->operations, folded});
  }
  if (column.repair) {
    work.push_back({Unit::fma, Datatype::f32, 1, false});
    collect(diagram, *column.repair, false, work);
  }
  return work;
}

}  // namespace napkin
