// Gates for continuous integration: one line or one test case for each file, target and metric.
#include "report/gate/gate.hpp"

#include <fmt/format.h>

#include "report/words.hpp"
#include "text/escape.hpp"
#include "text/github.hpp"
#include "text/junit.hpp"

namespace napkin {
namespace {

std::string subject(const Comparison& comparison, const Gate& gate) {
  return fmt::format("{} on {}", comparison.diagram, comparison.rows.at(gate.row).target);
}

std::string because(const Gate& gate) {
  const auto* change = report::find_change(gate);
  auto words = change ? change->because : std::vector<std::string>();
  for (const auto& accepted : gate.accepted) words.push_back("accepted: " + accepted);
  if (gate.edited) words.emplace_back("the diagram was edited since the baseline");
  return report::join(words, "\n");
}

// A regression is an error at the file, another change a notice; everything else is a line of the log.
std::string github_text(const Comparison& comparison, const Gate& gate) {
  const auto value = report::value_text(comparison, gate);
  const auto what = fmt::format("{} of {}", gate.metric, subject(comparison, gate));
  if (!gate.regressed && gate.baseline && !report::find_change(gate) && gate.accepted.empty())
    return on_one_line(fmt::format("{}: {}", what, value)) + "\n";
  const auto reasons = because(gate);
  return github_command(gate.regressed ? "error" : "notice", {{"file", comparison.file}, {"title", "napkin: " + what}},
                        reasons.empty() ? value : value + "\n" + reasons);
}

JunitCase junit_case(const Comparison& comparison, const Gate& gate) {
  JunitCase one{subject(comparison, gate), gate.metric, "", report::value_text(comparison, gate), because(gate)};
  if (gate.regressed) one.outcome = "failure";
  if (!gate.baseline) one.outcome = "skipped";
  return one;
}

std::string github(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const auto& one : comparisons)
    for (const auto& gate : one.gates) text += github_text(one, gate);
  return text;
}

std::string junit(const std::vector<Comparison>& comparisons) {
  std::vector<JunitSuite> suites;
  for (const auto& one : comparisons) {
    suites.push_back({one.diagram, {}});
    for (const auto& gate : one.gates) suites.back().cases.push_back(junit_case(one, gate));
  }
  return junit_text(suites);
}

}  // namespace

std::string print(const std::vector<Comparison>& comparisons, GateForm form) {
  return form == GateForm::github ? github(comparisons) : junit(comparisons);
}

}  // namespace napkin
