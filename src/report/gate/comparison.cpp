// Comparisons as text, markdown, pages and `napkin.comparison/2`.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis.hpp"
#include "report/gate/gate.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin {
namespace report {
namespace {

// One column for each metric that any row knows.
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

// Splits "gmem.transfer_bytes" into two lines, so that a table with many levels stays narrow.
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
    for (const auto& metric : metrics) cells.push_back(metric_text(metric, find(row.metrics, metric)));
    cells.push_back(row.fits ? row.partition : row.partition + "\n" + row.why_not);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The gates of one target; they share a section.
using Gates = std::vector<const Gate*>;
std::vector<Gates> by_target(const Comparison& comparison) {
  std::vector<Gates> all;
  for (const auto& gate : comparison.gates) {
    const auto& target = comparison.rows.at(gate.row).target;
    const auto at =
        std::ranges::find_if(all, [&](const Gates& gates) { return comparison.rows[gates[0]->row].target == target; });
    (at == all.end() ? all.emplace_back() : *at).push_back(&gate);
  }
  return all;
}

const Gate* gate_of(const Gates& gates, const std::string& metric) {
  const auto at = std::ranges::find(gates, metric, &Gate::metric);
  return at == gates.end() ? nullptr : *at;
}

void add_change(Table& table, const Change& change, const std::string& mark) {
  table.rows.push_back({mark, change.metric, metric_text(change.metric, change.before),
                        metric_text(change.metric, change.after), percent_text(change), join(change.because, "\n")});
}

// Lists the gated metrics first, then the other changes, each once.
Table change_table(const Gates& gates) {
  Table table{{{""}, {"metric"}, {"before", true}, {"now", true}, {"change", true}, {"because", false, true}}, {}};
  for (const auto* gate : gates)
    if (const auto* change = find_change(*gate)) add_change(table, *change, gate->regressed ? "worse" : "gated");
  for (const auto* gate : gates)
    for (const auto& change : gate->changes) {
      const bool there = std::ranges::any_of(table.rows, [&](const auto& row) { return row[1] == change.metric; });
      if (!there && !gate_of(gates, change.metric)) add_change(table, change, "");
    }
  return table;
}

void add_gates(Document& made, const Comparison& comparison, const Gates& gates) {
  const bool worse = std::ranges::any_of(gates, &Gate::regressed);
  std::vector<std::string> metrics, paragraphs;
  for (const auto* gate : gates) {
    metrics.push_back(gate->metric);
    if (!gate->baseline)
      paragraphs.push_back(fmt::format("{} has no baseline yet, which --accept allows", gate->metric));
    for (const auto& words : gate->accepted) paragraphs.push_back(fmt::format("accepted: {}", words));
  }
  if (std::ranges::any_of(gates, &Gate::edited)) paragraphs.emplace_back("the diagram was edited since the baseline");
  auto heading = std::string(worse ? "Worse than the baseline" : "Against the baseline");
  if (!one_target(comparison.rows)) heading += " on " + comparison.rows[gates[0]->row].target;
  made.blocks.push_back(
      Heading{2, heading, fmt::format("{} may grow by {:g} %", join_and(metrics), 100 * comparison.allowed)});
  auto table = change_table(gates);
  const bool all = std::ranges::all_of(gates, [](const Gate* gate) { return gate->baseline.has_value(); });
  if (table.rows.empty() && all) paragraphs.emplace_back("no change");
  std::string last;
  for (auto& text : paragraphs)
    if (last != text) made.blocks.push_back(Paragraph{last = text});
  if (!table.rows.empty()) made.blocks.push_back(std::move(table));
}

}  // namespace

std::string metric_text(const std::string& metric, std::optional<double> value) {
  if (!value) return "-";
  if (metric.ends_with("time")) return lasting(*value);
  if (metric == "energy") return energy(*value);
  return metric.ends_with("memory_bytes") ? held(*value) : moved(*value);
}

std::string percent_text(const Change& change) {
  return change.before == 0 ? "new" : fmt::format("{:+.1f} %", 100 * (change.after / change.before - 1));
}

const Change* find_change(const Gate& gate) {
  const auto at = std::ranges::find(gate.changes, gate.metric, &Change::metric);
  return at == gate.changes.end() ? nullptr : &*at;
}

std::string value_text(const Comparison& comparison, const Gate& gate) {
  const auto now = metric_text(gate.metric, find(comparison.rows.at(gate.row).metrics, gate.metric));
  if (!gate.baseline) return now + ", without a baseline";
  const auto* change = find_change(gate);
  if (change == nullptr) return now + ", as in the baseline";
  return fmt::format("{} -> {} ({}, {:+g} % allowed)", metric_text(gate.metric, change->before), now,
                     percent_text(*change), 100 * comparison.allowed);
}

Document comparison_document(const Comparison& comparison) {
  Document made;
  made.blocks.push_back(Heading{
      1, comparison.diagram, comparison.rows.empty() || !one_target(comparison.rows) ? "" : comparison.rows[0].target});
  made.blocks.push_back(row_table(comparison));
  for (const auto& gates : by_target(comparison)) add_gates(made, comparison, gates);
  return made;
}

namespace {

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

Json baseline_json(const Baseline& baseline) {
  return {{"of", basis_json(baseline.basis)}, {"row", row_json(baseline.row)}};
}

Json gate_json(const Comparison& comparison, const Gate& gate) {
  return {{"target", comparison.rows.at(gate.row).target},
          {"metric", gate.metric},
          {"row", gate.row},
          {"baseline", gate.baseline ? baseline_json(*gate.baseline) : Json(nullptr)},
          {"accepted", gate.accepted},
          {"edited", gate.edited},
          {"changes", changes_json(gate.changes)},
          {"regressed", gate.regressed}};
}

Json comparison_json(const Comparison& comparison) {
  Json json{{"file", comparison.file}, {"diagram", comparison.diagram}, {"rows", Json::array()}};
  for (const auto& row : comparison.rows) json["rows"].push_back(row_json(row));
  json["best"] = comparison.best ? Json(*comparison.best) : Json(nullptr);
  json["metric"] = comparison.metric;
  json["gates"] = Json::array();
  for (const auto& gate : comparison.gates) json["gates"].push_back(gate_json(comparison, gate));
  return json;
}

std::string comparisons_json(const std::vector<Comparison>& comparisons) {
  Json json{{"schema", "napkin.comparison/2"}, {"comparisons", Json::array()}};
  for (const auto& one : comparisons) json["comparisons"].push_back(comparison_json(one));
  json["allowed"] = comparisons.empty() ? 0 : comparisons.front().allowed;
  json["regressed"] = regressed(comparisons);
  return json.dump(2) + "\n";
}

}  // namespace
}  // namespace report

std::string print(const std::vector<Comparison>& comparisons, Format format, bool color) {
  if (format == Format::json) return report::comparisons_json(comparisons);
  std::string text;
  for (const auto& one : comparisons) {
    const auto document = report::comparison_document(one);
    text += text.empty() ? "" : "\n";
    text += format == Format::text ? report::to_text(document, color) : report::to_markdown(document);
  }
  return text;
}

}  // namespace napkin
