// Compares columns by what they hold. The lists of a column are sorted.
#include "cost/model/columns.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace napkin {
namespace {

bool is_within(const CostModel::Column& a, const CostModel::Column& b) {
  return a.level == b.level && (b.shared.empty() || a.shared == b.shared) && std::ranges::includes(b.held, a.held);
}

// Removes the entries of which another one holds everything. Of equal ones the first remains.
template <class One, class Within>
void drop_lesser(std::vector<One>& all, const Within& within) {
  std::vector<One> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool lesser = false;
    for (std::size_t j = 0; j < all.size() && !lesser; ++j)
      lesser = j != i && within(all[i], all[j]) && (j < i || !within(all[j], all[i]));
    if (!lesser) kept.push_back(all[i]);
  }
  all = std::move(kept);
}

bool waits_within(const CostModel::Instant& a, const CostModel::Instant& b) {
  return a.turns == b.turns && is_within(a.at_work, b.at_work) && (a.waiting.empty() || a.waiting == b.waiting);
}

}  // namespace

void keep_largest(std::vector<CostModel::Column>& columns) { drop_lesser(columns, is_within); }
void keep_largest(std::vector<CostModel::Instant>& instants) { drop_lesser(instants, waits_within); }

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
