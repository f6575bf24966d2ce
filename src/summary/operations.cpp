// Counts the operations that a kernel's statements require, each once, and those that its partition executes.
#include <algorithm>

#include "cost/model/make_cost_model.hpp"
#include "cost/model/positions.hpp"
#include "derive/columns.hpp"
#include "loops/work.hpp"
#include "napkin/summary.hpp"
#include "summary/products.hpp"

namespace napkin {
namespace {

bool counts(Unit unit, bool of_products) { return !of_products || unit == Unit::tensor; }

// Returns the share of the positions that masks let through, for the products on matrix units or for everything; 1
// without masks.
double unmasked(const Kernel& kernel, const Hardware& hardware, bool of_products) {
  const auto model = make_cost_model(kernel, hardware);
  double all = 0, run = 0;
  for (const auto& operations : model.operations) {
    if (!counts(model.work[operations.work].unit, of_products)) continue;
    const auto& positions = operations.positions;
    double share = positions.region ? share_of(model, model.regions[*positions.region]) : 1;
    for (const auto asked : positions.shares) share *= model.shares[asked].density;
    double each = operations.each * static_cast<double>(positions.fixed);
    if (positions.region)
      for (const auto wire : model.regions[*positions.region].wires)
        each *= static_cast<double>(kernel.program.scratch.size(wire).value_or(1));
    all += each, run += each * share;
  }
  return all > 0 ? run / all : 1;
}

bool on_units(const Diagram& diagram, const Column& column, const Hardware& hardware) {
  return std::ranges::any_of(work_of(diagram, column, hardware),
                             [](const ColumnWork& work) { return work.unit == Unit::tensor; });
}

// True for a matrix product that no matrix unit would run as it is derived.
bool is_for_lanes(const Diagram& diagram, const Column& column, const Hardware& hardware) {
  return contracts(diagram, column) && !on_units(diagram, column, hardware);
}

// True if the program has moved factors out of the sum, so that matrix units run it after all.
bool program_has_on_units(const Kernel& kernel, const std::string& output, const Hardware& hardware) {
  const auto& diagram = kernel.program.scratch;
  return std::ranges::any_of(columns_in(kernel.program.steps), [&](const Column* column) {
    return diagram.at(column->output).name == output && on_units(diagram, *column, hardware);
  });
}

// True for a matrix product with a factor that a stream may move out of the sum.
bool hides_product(const Diagram& diagram, const Column& column) {
  return !contracts(diagram, column) && sums_matrices(diagram, column);
}

double positions(const Diagram& diagram, const std::vector<WireId>& wires) {
  double all = 1;
  for (const auto wire : wires) all *= static_cast<double>(diagram.size(wire).value_or(1));
  return all;
}

}  // namespace

Operations operations_of(const Kernel& kernel, const KernelCost& cost, const Hardware& hardware, bool of_products) {
  Operations made;
  for (const auto& unit : cost.units)
    if (counts(unit.unit, of_products)) made.executed += unit.operations;
  const double share = cost.masks.empty() ? 1 : unmasked(kernel, hardware, of_products);
  const auto& diagram = kernel.derivation->scratch;
  bool hides = false;
  for (const auto& column : kernel.derivation->columns) {
    double all = 0;
    const bool hidden = of_products && hides_product(diagram, column);
    const bool for_lanes = of_products && is_for_lanes(diagram, column, hardware);
    if (hidden) all = 2 * positions(diagram, diagram.at(column.output).wires) * positions(diagram, column.over);
    for (const auto& work : work_of(diagram, column, hardware))
      if (for_lanes ? work.joined : counts(work.unit, of_products))
        all += work.operations / work.parts * positions(diagram, diagram.at(column.output).wires) *
               (work.folded ? positions(diagram, column.over) : 1);
    if (for_lanes && !program_has_on_units(kernel, diagram.at(column.output).name, hardware))
      made.executed += all * share;
    hides = hides || hidden;
    if (all > 0) made.by_array.emplace_back(diagram.at(column.output).name, all * share);
    made.useful += all * share;
  }
  if (hides) made.executed = std::max(made.executed, made.useful);
  made.useful = std::min(made.useful, made.executed);
  return made;
}

}  // namespace napkin
