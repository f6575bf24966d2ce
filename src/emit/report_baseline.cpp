// Costs -> the metrics of a row; a baseline's text -> its row; two rows -> what changed and why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emit/report_json.hpp"
#include "emit/report_quantity.hpp"
#include "emit/report_words.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

using report::Json;

// Adds up over kernels; unknown of one kernel is unknown of all.
void add(Metrics& metrics, const std::string& name, std::optional<double> value) {
  const auto at =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  if (at == metrics.end()) {
    metrics.emplace_back(name, value);
  } else {
    at->second = at->second && value ? std::optional(*at->second + *value) : std::nullopt;
  }
}

// Kernels run one after another: memory is the largest of them.
void raise(Metrics& metrics, const std::string& name, double value) {
  const auto before = find(metrics, name);
  add(metrics, name, before ? std::max(0.0, value - *before) : value);
}

void add_levels(ComparedRow& row, const Hardware& hardware, const KernelCost& cost) {
  for (const auto& level : cost.levels) {
    const auto& from = hardware.levels[level.level - 1].name;
    add(row.metrics, from + ".transfer_bytes", static_cast<double>(level.transfer_bytes));
    for (const auto& array : level.arrays) {
      add(row.arrays, from + "." + array.array, static_cast<double>(array.transfer_bytes));
    }
  }
  for (const auto& level : cost.levels) {
    raise(row.metrics, hardware.levels[level.level].name + ".memory_bytes", static_cast<double>(level.memory_bytes));
  }
}

// The arrays of a level that grew or shrank the most: "K: 33.6 MB -> 67.1 MB".
std::vector<std::string> reasons(const ComparedRow& before, const ComparedRow& after, const std::string& metric) {
  constexpr std::size_t most = 3;
  const bool transfers = metric.ends_with(".transfer_bytes");
  const auto level = transfers ? metric.substr(0, metric.find('.') + 1) : "";
  std::vector<std::pair<double, std::string>> moved;
  for (const auto& [name, value] : after.arrays) {
    const auto old = find(before.arrays, name);
    if (!value || !old || *value == *old || !name.starts_with(level)) continue;
    const auto text = fmt::format("{}: {} -> {}", name, report::moved(*old), report::moved(*value));
    moved.emplace_back(-std::abs(*value - *old), text);
  }
  std::stable_sort(moved.begin(), moved.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(most, moved.size()); ++i) words.push_back(moved[i].second);
  if (before.partition != after.partition && words.empty()) words.push_back("the partition changed");
  return words;
}

void read_metrics(const Json& json, const char* key, const std::string& end, Metrics& metrics) {
  for (const auto& [name, value] : json.at(key).items()) {
    if (value.is_number()) metrics.emplace_back(on_one_line(name) + end, value.get<double>());
  }
}

// Throws what nlohmann throws where a key is missing or of another type.
Baseline baseline_of(const Json& json) {
  Baseline baseline;
  baseline.diagram = on_one_line(json.at("diagram").get<std::string>());
  for (const auto& [name, size] : json.at("sizes").items())
    baseline.sizes.emplace_back(on_one_line(name), size.get<std::int64_t>());
  auto& row = baseline.row;
  row.partition = on_one_line(json.at("partition").get<std::string>());
  row.target = on_one_line(json.at("target").get<std::string>());
  const std::pair<const char*, const char*> plain[] = {
      {"time", "time_s"}, {"ideal_time", "ideal_time_s"}, {"energy", "energy_j"}};
  for (const auto& [name, key] : plain) {
    const auto& value = json.at(key);
    row.metrics.emplace_back(name, value.is_null() ? std::nullopt : std::optional(value.get<double>()));
  }
  read_metrics(json, "transfer_bytes", ".transfer_bytes", row.metrics);
  read_metrics(json, "memory_bytes", ".memory_bytes", row.metrics);
  read_metrics(json, "arrays", "", row.arrays);
  return baseline;
}

}  // namespace

std::optional<double> find(const Metrics& metrics, const std::string& name) {
  const auto at =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  return at == metrics.end() ? std::nullopt : at->second;
}

ComparedRow compared_row(const Hardware& hardware, const std::vector<Candidate>& kernels, std::string partition) {
  ComparedRow row{std::move(partition), hardware.name, {}, {}, true, ""};
  for (const auto& [kernel, cost] : kernels) {
    add(row.metrics, "time", cost.time_s);
    add(row.metrics, "ideal_time", cost.ideal_time_s);
    add(row.metrics, "energy", cost.energy_j);
    add_levels(row, hardware, cost);
    for (const auto& overrun : cost.overruns) {
      if (row.fits) row.why_not = report::overrun_text(hardware, overrun);
      row.fits = false;
    }
  }
  return row;
}

std::optional<Baseline> parse_baseline(const std::string& text, std::string& why) {
  try {
    const auto json = Json::parse(text);
    const auto schema = json.is_object() ? json.value("schema", "") : "";
    if (schema == "napkin.baseline/1") return baseline_of(json);
    why = schema.empty() ? "it names no schema" : fmt::format("its schema is `{}`", schema);
  } catch (const Json::exception& problem) {
    why = problem.what();
  }
  return std::nullopt;
}

std::vector<Change> changes(const ComparedRow& before, const ComparedRow& after) {
  std::vector<Change> found;
  for (const auto& [name, value] : after.metrics) {
    const auto old = find(before.metrics, name);
    if (value && old && *value != *old) found.push_back({name, *old, *value, reasons(before, after, name)});
  }
  return found;
}

}  // namespace napkin
