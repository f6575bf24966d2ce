// Comparisons: rows from costs, and their print as text, markdown and `napkin.comparison/1`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emit/report_analysis.hpp"
#include "emit/report_json.hpp"
#include "emit/report_quantity.hpp"
#include "emit/report_words.hpp"

namespace napkin {
namespace report {
namespace {

// How a metric is written, by the end of its name.
std::string words(const std::string& metric, std::optional<double> value) {
  if (!value) return "-";
  if (metric.ends_with("time")) return lasting(*value);
  if (metric == "energy") return energy(*value);
  return metric.ends_with("memory_bytes") ? held(*value) : moved(*value);
}

std::string percent(const Change& change) {
  return change.before == 0 ? "new" : fmt::format("{:+.1f} %", 100 * (change.after / change.before - 1));
}

// One column per metric that some row knows.
std::vector<std::string> known_metrics(const std::vector<ComparedRow>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    for (const auto& [name, value] : row.metrics) {
      if (value && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool one_target(const std::vector<ComparedRow>& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.target == rows[0].target; });
}

// "gmem.transfer_bytes" over two lines, so that a table with many levels stays narrow.
std::string title(const std::string& metric) {
  const auto dot = metric.find('.');
  if (dot == std::string::npos) return metric == "ideal_time" ? "ideal" : metric;
  return metric.substr(0, dot) + (metric.ends_with("memory_bytes") ? " holds" : " moves");
}

Table row_table(const Comparison& comparison) {
  const auto metrics = known_metrics(comparison.rows);
  Table table{{{""}}, {}};
  if (!one_target(comparison.rows)) table.columns.push_back({"target"});
  for (const auto& metric : metrics) table.columns.push_back({title(metric), true});
  table.columns.push_back({"partition", false, true});
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const auto& row = comparison.rows[i];
    std::vector<std::string> cells{comparison.best == i ? "best" : row.fits ? "" : "does not fit"};
    if (!one_target(comparison.rows)) cells.push_back(row.target);
    for (const auto& metric : metrics) cells.push_back(words(metric, find(row.metrics, metric)));
    cells.push_back(row.fits ? row.partition : row.partition + "\n" + row.why_not);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table change_table(const Comparison& comparison) {
  Table table{{{"metric"}, {"before", true}, {"now", true}, {"change", true}, {"because", false, true}}, {}};
  for (const auto& change : comparison.changes) {
    table.rows.push_back({change.metric, words(change.metric, change.before), words(change.metric, change.after),
                          percent(change), join(change.because, "\n")});
  }
  return table;
}

}  // namespace

Document comparison_document(const Comparison& comparison) {
  Document made;
  made.blocks.push_back(Heading{
      1, comparison.diagram, comparison.rows.empty() || !one_target(comparison.rows) ? "" : comparison.rows[0].target});
  made.blocks.push_back(row_table(comparison));
  if (!comparison.baseline) return made;
  const auto limit = fmt::format("{} may grow by {:g} %", comparison.metric, 100 * comparison.allowed);
  made.blocks.push_back(Heading{2, comparison.regressed ? "Worse than the baseline" : "Against the baseline", limit});
  if (comparison.changes.empty()) made.blocks.push_back(Paragraph{"no change"});
  if (!comparison.changes.empty()) made.blocks.push_back(change_table(comparison));
  return made;
}

namespace {

// The metrics of every level with the given end, keyed by the level.
Json by_level(const ComparedRow& row, const std::string& end) {
  auto levels = Json::object();
  for (const auto& [name, value] : row.metrics) {
    if (name.ends_with("." + end)) levels[name.substr(0, name.find('.'))] = value ? whole(*value) : Json(nullptr);
  }
  return levels;
}

Json row_json(const ComparedRow& row) {
  auto arrays = Json::object();
  for (const auto& [name, value] : row.arrays) arrays[name] = value ? whole(*value) : Json(nullptr);
  return {{"partition", row.partition},
          {"target", row.target},
          {"time_s", number(find(row.metrics, "time"))},
          {"ideal_time_s", number(find(row.metrics, "ideal_time"))},
          {"energy_j", number(find(row.metrics, "energy"))},
          {"transfer_bytes", by_level(row, "transfer_bytes")},
          {"memory_bytes", by_level(row, "memory_bytes")},
          {"arrays", arrays},
          {"fits", row.fits}};
}

Json baseline_json(const Baseline& baseline) {
  auto sizes = Json::object();
  for (const auto& [name, size] : baseline.sizes) sizes[name] = size;
  auto json = row_json(baseline.row);
  Json made{{"schema", "napkin.baseline/1"}, {"diagram", baseline.diagram}, {"sizes", sizes}};
  made.update(json);
  return made;
}

Json changes_json(const std::vector<Change>& changes) {
  auto all = Json::array();
  for (const auto& change : changes) {
    all.push_back({{"metric", change.metric},
                   {"before", whole(change.before)},
                   {"after", whole(change.after)},
                   {"because", change.because}});
  }
  return all;
}

std::string comparison_json(const Comparison& comparison) {
  Json json{{"schema", "napkin.comparison/1"}, {"diagram", comparison.diagram}, {"rows", Json::array()}};
  for (const auto& row : comparison.rows) json["rows"].push_back(row_json(row));
  json["best"] = comparison.best ? Json(*comparison.best) : Json(nullptr);
  json["baseline"] = comparison.baseline ? baseline_json(*comparison.baseline) : Json(nullptr);
  json["metric"] = comparison.metric;
  json["allowed"] = comparison.allowed;
  json["changes"] = changes_json(comparison.changes);
  json["regressed"] = comparison.regressed;
  return json.dump(2) + "\n";
}

}  // namespace
}  // namespace report

std::string print(const Comparison& comparison, Format format, bool color) {
  if (format == Format::json) return report::comparison_json(comparison);
  const auto document = report::comparison_document(comparison);
  if (format == Format::html) return report::to_html(document);
  return format == Format::text ? report::to_text(document, color) : report::to_markdown(document);
}

std::string print(const Baseline& baseline) { return report::baseline_json(baseline).dump(2) + "\n"; }

}  // namespace napkin
