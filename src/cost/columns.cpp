// Columns by what they hold; the lists of a column are sorted.
#include "cost/columns.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace napkin {
namespace {

bool is_within(const CostModel::Column& a, const CostModel::Column& b) {
  return a.level == b.level && (b.shared.empty() || a.shared == b.shared) && std::ranges::includes(b.held, a.held);
}

}  // namespace

void keep_largest(std::vector<CostModel::Column>& columns) {
  std::vector<CostModel::Column> kept;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    bool lesser = false;
    for (std::size_t j = 0; j < columns.size() && !lesser; ++j)
      lesser = j != i && is_within(columns[i], columns[j]) && (j < i || !is_within(columns[j], columns[i]));
    if (!lesser) kept.push_back(columns[i]);
  }
  columns = std::move(kept);
}

std::vector<std::size_t> share_common(std::vector<CostModel::Column>& columns, std::size_t level) {
  std::vector<std::size_t> common;
  bool first = true;
  for (const auto& column : columns) {
    if (column.level != level) continue;
    if (std::exchange(first, false)) common = column.held;
    std::erase_if(common, [&](std::size_t i) { return !std::ranges::binary_search(column.held, i); });
  }
  for (auto& column : columns)
    if (column.level == level) std::ranges::set_difference(column.held, common, std::back_inserter(column.own));
  return common;
}

}  // namespace napkin
