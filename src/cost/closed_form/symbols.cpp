// Turns the products of a cost model into symbols: wires become the names of their axes, splits become g_NAME and
// s_NAME.
#include "cost/closed_form/symbols.hpp"

#include <algorithm>
#include <cmath>

#include "cost/model/positions.hpp"

namespace napkin {
namespace {

class Reader {
 public:
  // If `whole` is set, no wire is cut.
  Reader(const CostModel& model, const Kernel& shape, bool whole = false)
      : model_(model), shape_(shape), whole_(whole) {}

  Posynomial sum(const CostModel::Product& product) const {
    Monomial all;
    for (const auto wire : product.whole) all.times(axis(wire));
    for (const auto cut : product.counts) all = all * count(model_.cuts[cut]);
    for (const auto cut : product.lengths) all.times(length(model_.cuts[cut]));
    if (product.region) all = all * run(model_.regions[*product.region]);
    for (const auto share : product.shares)
      if (const auto density = model_.shares[share].density; density > 0) all.factor *= density;
    Posynomial result = {all};
    for (const auto footprint : product.footprints) result = result * reach(model_.footprints[footprint]);
    return result;
  }
  Symbol axis(WireId wire) const { return {SymbolKind::size, diagram().at(diagram().at(wire).axis).name}; }
  Symbol piece(const Split& split) const {
    return {SymbolKind::piece, (split.kind == SplitKind::group ? "g_" : "s_") + diagram().at(split.wire).name};
  }
  const Diagram& diagram() const { return shape_.derivation->scratch; }

 private:
  // To leading order, pieces run as often as single positions do, and each has one entry of a mask.
  Monomial run(const Region& region) const {
    Monomial all{share_of(model_, region), {}};
    for (std::size_t w = 0; w < region.wires.size(); ++w)
      if (region.measured[w])
        all.times(axis(region.wires[w]));
      else
        all = all * count(model_.cuts[region.cuts[w]]);
    return all;
  }
  Symbol length(const CostModel::Cut& cut) const {
    return whole_ || cut.splits.empty() ? axis(cut.wire) : piece(shape_.partition.splits[cut.splits.back()]);
  }
  Monomial count(const CostModel::Cut& cut) const {
    Monomial ratio;
    ratio.times(axis(cut.wire));
    ratio.times(length(cut), -1);
    return ratio;
  }
  const CostModel::Cut& cut_of(const CostModel::Footprint& footprint, WireId wire) const {
    const auto found =
        std::ranges::find_if(footprint.cuts, [&](std::size_t cut) { return model_.cuts[cut].wire == wire; });
    return model_.cuts[*found];
  }
  Posynomial reach(const CostModel::Footprint& footprint) const {
    Posynomial result = {Monomial{}};
    for (const auto& dimension : footprint.indices) result = result * reach(footprint, dimension.first);
    if (footprint.all_pieces)
      for (const auto cut : footprint.cuts) result = result * Posynomial{count(model_.cuts[cut])};
    return result;
  }
  Posynomial reach(const CostModel::Footprint& footprint, const Index& index) const {
    if (index.terms.empty()) return {Monomial{}};
    if (is_divided_wire(index)) return {length_of_all(footprint, index)};
    Posynomial result;
    for (const auto& [wire, coefficient] : index.terms) {
      result.push_back({std::abs(static_cast<double>(coefficient)) / static_cast<double>(index.divisor), {}});
      result.back().times(length(cut_of(footprint, wire)));
    }
    return result;
  }

  // True for `n * x_part + x_in_part` with n positions of x_in_part: one wire in two parts, whose pieces together reach
  // as far as the product of both lengths.
  bool is_divided_wire(const Index& index) const {
    auto terms = index.terms;
    std::ranges::sort(terms, {}, [](const auto& term) { return term.second; });
    std::int64_t inside = 1;
    for (const auto& [wire, coefficient] : terms) {
      if (coefficient != inside || index.divisor != 1) return false;
      inside *= diagram().size(wire).value_or(1);
    }
    return terms.size() > 1;
  }
  Monomial length_of_all(const CostModel::Footprint& footprint, const Index& index) const {
    Monomial all;
    for (const auto& [wire, coefficient] : index.terms) all.times(length(cut_of(footprint, wire)));
    return all;
  }

  const CostModel& model_;
  const Kernel& shape_;
  bool whole_;
};

// Returns the holdings that the paper counts, or those of the largest column at the given sizes.
std::vector<std::size_t> held_at_level(const CostModel& model, const Reader& reader, const Assignment& at, Model kind) {
  if (kind == Model::ideal)
    return only_level < model.ideal.size() ? model.ideal[only_level] : std::vector<std::size_t>{};
  std::vector<std::size_t> largest;
  double most = -1;
  for (const auto& column : model.columns) {
    if (column.level != only_level) continue;
    auto held = column.held;
    const auto size = [&](std::size_t holding) { return value(reader.sum(model.holdings[holding].values), at); };
    for (const auto& [a, b] : column.shared) std::erase(held, size(a) < size(b) ? a : b);
    double total = 0;
    for (const auto holding : held) total += size(holding) * model.holdings[holding].bytes;
    if (total > most) largest = held, most = total;
  }
  return largest;
}

void add_sizes(Symbolic& all, const Reader& reader, const Kernel& shape) {
  const auto& diagram = reader.diagram();
  for (const auto& axis : diagram.axes)
    if (axis.size) all.sizes[{SymbolKind::size, axis.name}] = static_cast<double>(*axis.size);
  for (const auto& split : shape.partition.splits) {
    if (split.level != only_level) continue;
    const auto size = diagram.size(split.wire);
    const auto largest = static_cast<double>(size.value_or(INT64_MAX));
    all.largest[reader.piece(split)] = largest;
    all.written[reader.piece(split)] = std::min(largest, static_cast<double>(split.size));
  }
}

bool all_sized(const Posynomial& sum, const Assignment& sizes) {
  for (const auto& term : sum)
    for (const auto& [symbol, power] : term.powers)
      if (symbol.kind == SymbolKind::size && !sizes.contains(symbol)) return false;
  return true;
}

}  // namespace

// Operations that a piece does once, such as rescaling a state, count only once in total, because pieces may have any
// length.
Posynomial operations(const CostModel& model, const Kernel& shape, std::size_t work) {
  const Reader reader(model, shape, true);
  Posynomial all;
  for (const auto& operations : model.operations)
    if (operations.work == work)
      for (const auto& term : reader.sum(operations.positions)) all.push_back(Monomial{operations.each, {}} * term);
  return collected(all);
}

Symbolic symbols(const CostModel& model, const Kernel& shape, const Hardware& hardware, Model kind) {
  Symbolic all;
  const Reader reader(model, shape);
  add_sizes(all, reader, shape);
  const bool in_values = hardware.levels.at(only_level).in_values;
  for (const auto& transfer : model.transfers) {
    if (transfer.level != only_level) continue;
    for (const auto& term : reader.sum(transfer.values)) {
      all.transfers.push_back(term);
      all.weighted_transfers.push_back(Monomial{in_values ? 1.0 : transfer.width(), {}} * term);
    }
  }
  auto at = all.sizes;
  at.insert(all.written.begin(), all.written.end());
  for (const auto index : held_at_level(model, reader, at, kind)) {
    const auto& holding = model.holdings[index];
    const double weight = in_values ? 1 : holding.bytes;
    for (const auto& term : reader.sum(holding.values)) {
      all.memory.push_back(term);
      all.weighted_memory.push_back(Monomial{weight, {}} * term);
    }
  }
  all.transfers = collected(all.transfers);
  all.weighted_transfers = collected(all.weighted_transfers);
  all.memory = collected(all.memory);
  all.weighted_memory = collected(all.weighted_memory);
  all.sized = all_sized(all.transfers, all.sizes) && all_sized(all.memory, all.sizes);
  return all;
}

}  // namespace napkin
