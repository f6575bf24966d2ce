// How many sweeps over a wire are needed: one for every reduction in a chain of reductions that do not separate.
#include <algorithm>
#include <map>

#include "derive/algebra/trial.hpp"
#include "derive/streams/absorb.hpp"

namespace napkin {
namespace {

// All columns that a column's value is computed from, itself included.
std::set<ArrayId> sources(const Diagram& diagram, const std::vector<Column>& columns, const Column& of) {
  std::set<ArrayId> all{of.output};
  for (auto column = columns.rbegin(); column != columns.rend(); ++column)
    if (all.contains(column->output))
      for (const auto array : reads(diagram, *column)) all.insert(array);
  return all;
}

}  // namespace

int passes(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed) {
  std::map<ArrayId, int> finished;  // the sweep after which each reduction over the wire is known
  int most = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    if (!involves(scratch, column, wire)) continue;
    int before = 0;
    for (const auto array : sources(scratch, columns, column))
      if (const auto found = finished.find(array); found != finished.end()) before = std::max(before, found->second);
    const bool folds = std::ranges::find(column.over, wire) != column.over.end();
    int sweep = before + 1;
    if (folds) {
      Trial trial(scratch);
      const std::vector<Column> upto(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (std::holds_alternative<Absorbed>(absorb(scratch, upto, wire, {column.output}))) sweep = 1;
      trial.take_back();
      finished[column.output] = sweep;
    }
    if (folds || needed.contains(column.output)) most = std::max(most, sweep);
  }
  return std::max(most, 1);
}

}  // namespace napkin
