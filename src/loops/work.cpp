// Finds the operations of a column at each position, by unit: those of its function, of its fold and of its rescaling.
#include "loops/work.hpp"

#include <algorithm>

#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "loops/formats.hpp"

namespace napkin {
namespace {

// Values that are the same at every position are computed once and not counted. A division by such a value counts as a
// multiplication by its inverse, and a small power counts as multiplications.
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

bool has_matrix(const Diagram& diagram, const Column& column, const FactorPair& factors) {
  const auto a = free_wires(diagram, factors.first), b = free_wires(diagram, factors.second);
  const auto one_alone = [&](const std::vector<WireId>& one, const std::vector<WireId>& other) {
    return std::ranges::any_of(diagram.at(column.output).wires, [&](WireId wire) {
      return std::ranges::binary_search(one, wire) && !std::ranges::binary_search(other, wire);
    });
  };
  return one_alone(a, b) && one_alone(b, a);
}

ColumnWork in_parts(Datatype type, int parts) { return {Unit::tensor, type, 2.0 * parts, true, false, parts}; }

// Lanes add products in the type of sums.
ColumnWork sum_of_products(const Diagram& diagram, bool of_matrices, std::pair<Datatype, Datatype> types,
                           const Hardware& hardware) {
  const auto type = wider(types.first, types.second);
  if (!of_matrices) return {Unit::fma, type == Datatype::f64 ? type : Datatype::f32, 2, true, true};
  if (const auto multiplied = multiplied_as(diagram, types, hardware))
    return in_parts(*multiplied, parts_of(types.first, types.second));
  return {Unit::fma, type, 2, true, true};
}

}  // namespace

std::optional<FactorPair> factors_of(const Diagram& diagram, const Column& column) {
  const auto* product = std::get_if<Apply>(&diagram.at(column.value).node);
  if (!column.fold || column.fold->combine->role != Role::add) return {};
  if (!product || product->function->role != Role::multiply) return {};
  const auto is_access = [&](ExprId id) { return std::holds_alternative<Access>(diagram.at(id).node); };
  const auto a = product->arguments[0], b = product->arguments[1];
  return is_access(a) && is_access(b) ? std::optional(FactorPair{a, b}) : std::nullopt;
}

std::pair<Datatype, Datatype> types_of(const Diagram& diagram, const FactorPair& factors) {
  const auto type = [&](ExprId id) { return diagram.at(std::get<Access>(diagram.at(id).node).array).type; };
  return {type(factors.first), type(factors.second)};
}

bool sums_products(const Diagram& diagram, const Column& column, const FactorPair& factors) {
  const auto has = [&](ExprId factor, WireId wire) {
    return std::ranges::binary_search(free_wires(diagram, factor), wire);
  };
  return std::ranges::any_of(column.over, [&](WireId wire) {
    return diagram.size(wire) != 1 && has(factors.first, wire) && has(factors.second, wire);
  });
}

bool contracts(const Diagram& diagram, const Column& column) {
  const auto factors = factors_of(diagram, column);
  return factors && sums_products(diagram, column, *factors) && has_matrix(diagram, column, *factors);
}

std::vector<ColumnWork> work_of(const Diagram& diagram, const Column& column, const Hardware& hardware) {
  std::vector<ColumnWork> work;
  const bool folded = column.fold != nullptr;
  if (const auto factors = factors_of(diagram, column)) {
    work.push_back(sum_of_products(diagram, contracts(diagram, column), types_of(diagram, *factors), hardware));
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

// Streaming moves factors out of sums, which leaves products of two arrays.
void each_column(const Derivation& derivation, const std::function<void(const Diagram&, const Column&)>& visit) {
  for (const auto& column : derivation.columns) visit(derivation.scratch, column);
  for (const auto& verdict : derivation.verdicts)
    if (const auto* streamed = std::get_if<Streamable>(&verdict.stream))
      for (const auto* columns : {&streamed->piece, &streamed->absorb})
        for (const auto& column : *columns) visit(streamed->scratch, column);
}

bool has_contraction(const Derivation& derivation, const Hardware& hardware) {
  bool found = false;
  each_column(derivation, [&](const Diagram& scratch, const Column& column) {
    found = found || std::ranges::any_of(work_of(scratch, column, hardware),
                                         [](const ColumnWork& work) { return work.unit == Unit::tensor; });
  });
  return found;
}

bool has_parts(const Derivation& derivation, const Hardware& hardware) {
  bool found = false;
  each_column(derivation, [&](const Diagram& scratch, const Column& column) {
    found = found || std::ranges::any_of(work_of(scratch, column, hardware),
                                         [](const ColumnWork& work) { return work.parts > 1; });
  });
  return found;
}

bool has_parts(const Diagram& diagram, const Hardware& hardware) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return has_parts(derive(diagram, all), hardware);
}

std::vector<ColumnWork> on_lanes(std::vector<ColumnWork> work) {
  for (auto& one : work)
    if (one.unit == Unit::tensor) one = {Unit::fma, Datatype::f32, 2, true, true};
  return work;
}

std::vector<ColumnWork> take_common(std::vector<ColumnWork>& a, std::vector<ColumnWork>& b) {
  std::vector<ColumnWork> common;
  for (std::size_t i = 0; i < a.size();) {
    const auto twin = std::find(b.begin(), b.end(), a[i]);
    if (twin == b.end()) {
      ++i;
      continue;
    }
    common.push_back(a[i]);
    b.erase(twin);
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return common;
}

}  // namespace napkin
