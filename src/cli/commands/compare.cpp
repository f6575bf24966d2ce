// `napkin compare`: prints, for every file, a row for every partition on every machine; gates them against a baseline.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "cli/commands/commands.hpp"
#include "cli/gate.hpp"
#include "cli/plans.hpp"
#include "cli/print_stages.hpp"

namespace napkin::cli {
namespace {

// Reads "2%" or "0.02"; an empty text is 0.
std::optional<double> fraction(Session& session, const std::string& text) {
  if (text.empty()) return 0;
  const bool percent = text.ends_with('%');
  const std::string digits(text, 0, text.size() - (percent ? 1 : 0));
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  const bool sound = !digits.empty() && end == digits.c_str() + digits.size() && value >= 0 && value < 1e6;
  if (sound) return percent ? value / 100 : value;
  complain(session, "E0523", fmt::format("`{}` is not a share", text), text, "write `2%` or `0.02`");
  return std::nullopt;
}

// Adds one row for each given partition, or one for the searched plan.
void add_rows(Session& session, const Input& input, const Hardware& hardware, Compared& compared) {
  std::vector<std::optional<WrittenPlan>> written;
  for (const auto& text : session.options.partition) written.push_back(read_partition(session, input, text));
  if (written.empty()) written.emplace_back();
  for (const auto& one : written) {
    if (!one && !session.options.partition.empty()) continue;
    auto analysis = make_analysis(session, input, hardware, one);
    if (!analysis) continue;
    warn_of_other_tiles(session, *analysis);
    compared.comparison.rows.push_back(compared_row(*analysis, one ? one->text : partition_words(*analysis)));
    compared.analyses.push_back(std::move(*analysis));
  }
}

bool check_metrics(Session& session, const Comparison& comparison) {
  const auto names = metric_names(comparison, "");
  for (const auto& metric : session.options.metric) {
    if (names.empty() || std::find(names.begin(), names.end(), metric) != names.end()) continue;
    const auto help = did_you_mean(metric, names);
    complain(session, "E0523", fmt::format("no row has the metric `{}`", metric), metric,
             help.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : help);
  }
  return !session.diagnostics.has_errors();
}

// The text that shows whether a person edited the diagram: without sizes, which are compared separately, and comments.
std::string text_without_sizes(Diagram diagram) {
  for (auto& axis : diagram.axes) axis.size.reset();
  return diagram_text(diagram);
}

std::optional<Compared> compare(Session& session, const Input& input, const std::vector<Hardware>& machines,
                                double allowed) {
  Compared made;
  made.text = text_without_sizes(input.diagram);
  made.comparison.file = input.path;
  made.comparison.diagram = input.diagram.name;
  made.comparison.allowed = allowed;
  for (const auto& machine : machines) add_rows(session, input, machine, made);
  if (session.diagnostics.has_errors() || !check_metrics(session, made.comparison)) return std::nullopt;
  made.comparison.metric = gated_metrics(session, made.comparison, "").front();
  made.comparison.best = best_row(made.comparison, "", made.comparison.metric);
  return made;
}

bool check_page(Session& session) {
  const auto& files = session.options.arguments;
  if (session.options.format != "html" || files.size() < 2) return true;
  complain(session, "E0522", "an HTML page compares one file", files.back(),
           "write a page for each, or use another format");
  return false;
}

std::string product(const Session& session, const std::vector<Compared>& all) {
  std::vector<Comparison> comparisons;
  for (const auto& one : all) comparisons.push_back(one.comparison);
  const auto& form = session.options.format;
  if (form == "github" || form == "junit")
    return print(comparisons, form == "github" ? GateForm::github : GateForm::junit);
  if (form == "html") return report::to_html(report::comparison_page(comparisons.front(), all.front().analyses));
  return print(comparisons, format(session.options), product_in_color(session));
}

// Complains if nothing fits; the table is still printed, because it says why.
void complain_of_infeasible(Session& session, const std::vector<Compared>& all) {
  for (const auto& one : all)
    if (!one.comparison.best)
      complain(session, "E0304", all.size() == 1 ? "nothing fits" : "nothing fits of " + one.comparison.diagram,
               one.comparison.file);
}

int end(Session& session, std::vector<Compared>& all) {
  complain_of_infeasible(session, all);
  if (session.diagnostics.has_errors()) return deliver(session, product(session, all));
  if (!gate(session, all)) return finish(session);
  const bool worse = std::ranges::any_of(all, [](const Compared& one) { return regressed({one.comparison}); });
  return deliver(session, product(session, all), worse ? exit_gate : exit_done);
}

}  // namespace

int run_compare(Session& session) {
  if (!check_gate_options(session) || !check_page(session)) return finish(session);
  const auto inputs = read_inputs(session);
  const auto machines = read_machines(session);
  const auto allowed = fraction(session, session.options.max_regression);
  if (inputs.empty() || machines.empty() || !allowed) return finish(session);
  std::vector<Compared> all;
  for (const auto& input : inputs) {
    if (!has_sizes(session, input.diagram)) return finish(session);
    auto compared = compare(session, input, machines, *allowed);
    if (!compared) return finish(session);
    all.push_back(std::move(*compared));
  }
  return end(session, all);
}

}  // namespace napkin::cli
