// Finds the changed metrics between two rows and explains them: by the parts of a metric that moved in the same
// direction and account for most of the difference; and for the time also by its bound and by how the blocks fill the
// machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/gate/gate.hpp"
#include "report/words.hpp"

namespace napkin {
namespace {

const Metrics& parts_in(const ComparedRow& row, const std::string& metric) {
  static const Metrics none;
  const auto at =
      std::find_if(row.parts.begin(), row.parts.end(), [&](const auto& part) { return part.first == metric; });
  return at == row.parts.end() ? none : at->second;
}

struct Moved {
  std::string name;
  double before = 0, after = 0;
  double by() const { return after - before; }
};

// A part that only one of the rows has counts as 0 in the other.
std::vector<Moved> moved_parts(const ComparedRow& before, const ComparedRow& after, const std::string& metric) {
  std::vector<Moved> all;
  for (const auto& [name, value] : parts_in(after, metric))
    all.push_back({name, find(parts_in(before, metric), name).value_or(0), value.value_or(0)});
  for (const auto& [name, value] : parts_in(before, metric))
    if (!find(parts_in(after, metric), name)) all.push_back({name, value.value_or(0), 0});
  return all;
}

// The parts that moved in the same direction as the metric, largest first. Parts below a tenth of the change are
// omitted.
std::vector<Moved> explaining(const ComparedRow& before, const ComparedRow& after, const std::string& metric,
                              double by) {
  constexpr std::size_t most = 3;
  auto all = moved_parts(before, after, metric);
  std::erase_if(all, [&](const Moved& part) { return part.by() * by <= 0 || std::abs(part.by()) < std::abs(by) / 10; });
  std::ranges::stable_sort(all, std::greater(), [](const Moved& part) { return std::abs(part.by()); });
  all.resize(std::min(most, all.size()));
  return all;
}

std::string moved_text(const std::string& metric, const Moved& part) {
  return fmt::format("{}: {} -> {}", part.name, report::metric_text(metric, part.before),
                     report::metric_text(metric, part.after));
}

// If the launch is slower even without losses, more bytes cross. Lists the levels whose transfers changed at least half
// as much as the time, relative to before.
void add_moved_levels(std::vector<std::string>& words, const ComparedRow& before, const ComparedRow& after) {
  const auto change = [&](const std::string& metric) {
    const auto old = find(before.metrics, metric), now = find(after.metrics, metric);
    return old && now && *old > 0 ? *now / *old - 1 : 0;
  };
  const double time = change("time");
  for (const auto& [name, value] : after.metrics)
    if (name.ends_with(".transfer_bytes") && change(name) * time > 0 && std::abs(change(name)) >= std::abs(time) / 2)
      words.push_back(moved_text(name, {name, *find(before.metrics, name), *value}));
}

// "bound by tensor, before by transfers from gmem to smem"
void add_other(std::vector<std::string>& words, const std::string& what, const std::string& before,
               const std::string& after) {
  if (before != after && !before.empty() && !after.empty())
    words.push_back(fmt::format("{} {}, before {}", what, after, before));
}

// The largest part of the ideal time, which bounds the kernels.
std::string ideal_bound(const ComparedRow& row) {
  const auto& parts = parts_in(row, "ideal_time");
  const auto largest = std::ranges::max_element(parts, {}, [](const auto& part) { return part.second.value_or(0); });
  return largest == parts.end() ? "" : largest->first;
}

std::vector<std::string> reasons(const ComparedRow& before, const ComparedRow& after, const std::string& metric,
                                 double by) {
  std::vector<std::string> words;
  if (metric == "ideal_time") add_other(words, "bound by", ideal_bound(before), ideal_bound(after));
  if (!words.empty()) return words;
  for (const auto& part : explaining(before, after, metric, by)) {
    words.push_back(moved_text(metric, part));
    const auto& parts = parts_in(after, metric);
    if (metric == "time" && !parts.empty() && part.name == parts.front().first) add_moved_levels(words, before, after);
  }
  if (metric == "time") {
    add_other(words, "bound by", before.bound, after.bound);
    add_other(words, "launch:", before.launch, after.launch);
    add_other(words, "kernels:", std::to_string(before.kernels), std::to_string(after.kernels));
  }
  if (metric == "time" || words.empty()) add_other(words, "partition:", before.partition, after.partition);
  return words;
}

}  // namespace

std::vector<Change> changes(const ComparedRow& before, const ComparedRow& after) {
  std::vector<Change> found;
  for (const auto& [name, value] : after.metrics) {
    const auto old = find(before.metrics, name);
    if (value && old && *value != *old)
      found.push_back({name, *old, *value, reasons(before, after, name, *value - *old)});
  }
  return found;
}

bool regressed(const std::vector<Comparison>& comparisons) {
  return std::ranges::any_of(comparisons, [](const Comparison& comparison) {
    return std::ranges::any_of(comparison.gates, [](const Gate& gate) { return gate.regressed; });
  });
}

}  // namespace napkin
