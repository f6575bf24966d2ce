// `napkin compare`: a row for every partition on every machine, and a gate against a baseline.
#include <fmt/format.h>

#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/plans.hpp"

namespace napkin::cli {
namespace {

// "2%" or "0.02".
std::optional<double> fraction(Session& session, const std::string& text) {
  const bool percent = text.ends_with('%');
  const std::string digits(text, 0, text.size() - (percent ? 1 : 0));
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  const bool sound = !digits.empty() && end == digits.c_str() + digits.size() && value >= 0 && value < 1e6;
  if (sound) return percent ? value / 100 : value;
  complain(session, "E0523", fmt::format("`{}` is not a share", text), text, "write `2%` or `0.02`");
  return std::nullopt;
}

std::vector<std::pair<std::string, std::int64_t>> sizes(const Diagram& diagram) {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const auto& axis : diagram.axes) all.emplace_back(axis.name, axis.size.value_or(0));
  return all;
}

// One row for each written partition, or for the searched one.
void add_rows(Session& session, const Input& input, const Hardware& hardware, Comparison& comparison,
              std::vector<Analysis>& analyses) {
  std::vector<std::optional<Written>> written;
  for (const auto& text : session.options.partition) written.push_back(read_partition(session, input, text));
  if (written.empty()) written.emplace_back();
  for (const auto& one : written) {
    if (!one && !session.options.partition.empty()) continue;
    auto analysis = make_analysis(session, input, hardware, one);
    if (!analysis) continue;
    comparison.rows.push_back(compared_row(hardware, chosen(*analysis), one ? one->text : partition_words(*analysis)));
    analyses.push_back(std::move(*analysis));
  }
}

// Of the rows that fit: least in the metric, the first of equals. Rows that do not know it come last.
std::optional<std::size_t> best_row(const Comparison& comparison) {
  std::optional<std::size_t> best;
  std::optional<double> least;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const auto& row = comparison.rows[i];
    const auto value = find(row.metrics, comparison.metric);
    if (!row.fits || (best && (!value || (least && *value >= *least)))) continue;
    best = i;
    least = value;
  }
  return best;
}

std::vector<std::string> metric_names(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const auto& row : comparison.rows) {
    for (const auto& [name, value] : row.metrics) {
      if (value && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// A time where there is one; on a machine without rates, what leaves its outermost level.
std::string default_metric(const Comparison& comparison, const std::string& asked) {
  const auto names = metric_names(comparison);
  const bool known = std::find(names.begin(), names.end(), asked) != names.end();
  return known || asked != Options{}.metric || names.empty() ? asked : names.front();
}

bool check_metric(Session& session, const Comparison& comparison) {
  const auto names = metric_names(comparison);
  if (names.empty() || std::find(names.begin(), names.end(), comparison.metric) != names.end()) return true;
  const auto help = did_you_mean(comparison.metric, names);
  complain(session, "E0523", fmt::format("no row has the metric `{}`", comparison.metric), comparison.metric,
           help.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : help);
  return false;
}

void bad_baseline(Session& session, const std::string& what) {
  complain(session, "E0532", fmt::format("`{}` cannot serve as a baseline: {}", session.options.baseline, what),
           session.options.baseline, "write a new one with `--save-baseline`");
}

std::optional<Baseline> read_baseline(Session& session, const Comparison& comparison) {
  const auto file = load(session, session.options.baseline);
  if (!file) return std::nullopt;
  std::string why;
  auto baseline = parse_baseline(session.sources.at(*file).text, why);
  if (!baseline) {
    bad_baseline(session, why);
  } else if (baseline->diagram != comparison.diagram) {
    bad_baseline(session, fmt::format("it is of the diagram `{}`", baseline->diagram));
  } else if (!find(baseline->row.metrics, comparison.metric)) {
    bad_baseline(session, fmt::format("it does not know `{}`", comparison.metric));
  } else {
    return baseline;
  }
  return std::nullopt;
}

void judge(Comparison& comparison, const Baseline& baseline) {
  const auto& row = comparison.rows[*comparison.best];
  comparison.baseline = baseline;
  comparison.changes = changes(baseline.row, row);
  const auto before = *find(baseline.row.metrics, comparison.metric);
  const auto after = find(row.metrics, comparison.metric).value_or(before);
  comparison.regressed = after > before * (1 + comparison.allowed);
}

// The gate's exit code, and the files that were asked for.
int gate(Session& session, const Input& input, Comparison& comparison) {
  if (!comparison.best) {
    complain(session, "E0304", "nothing fits", session.options.arguments.front());
    return exit_input;
  }
  if (!session.options.baseline.empty()) {
    const auto baseline = read_baseline(session, comparison);
    if (!baseline) return exit_input;
    judge(comparison, *baseline);
  }
  if (!session.options.save_baseline.empty()) {
    const Baseline made{comparison.diagram, sizes(input.diagram), comparison.rows[*comparison.best]};
    save(session, session.options.save_baseline, print(made));
  }
  return comparison.regressed ? exit_gate : exit_done;
}

}  // namespace

int run_compare(Session& session) {
  const auto input = read_input(session);
  const auto machines = read_machines(session);
  const auto allowed = fraction(session, session.options.max_regression);
  if (!input || machines.empty() || !allowed || !has_sizes(session, input->diagram)) return finish(session);
  Comparison comparison;
  comparison.diagram = input->diagram.name;
  comparison.allowed = *allowed;
  std::vector<Analysis> analyses;
  for (const auto& machine : machines) add_rows(session, *input, machine, comparison, analyses);
  if (session.diagnostics.has_errors()) return finish(session);
  comparison.metric = default_metric(comparison, session.options.metric);
  if (!check_metric(session, comparison)) return finish(session);
  comparison.best = best_row(comparison);
  const int code = gate(session, *input, comparison);
  if (format(session.options) == Format::html)
    return deliver(session, report::to_html(report::comparison_page(comparison, analyses)), code);
  return deliver(session, print(comparison, format(session.options), product_in_color(session)), code);
}

}  // namespace napkin::cli
