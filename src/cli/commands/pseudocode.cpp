// `napkin pseudocode`: prints the loop nest of every kernel of a plan.
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/plans.hpp"
#include "napkin/emit.hpp"

namespace napkin::cli {
namespace {

std::string pseudocode(const Analysis& analysis) {
  std::string all;
  for (const auto& kernel : plan_of(analysis).kernels) {
    all += (all.empty() ? "" : "\n") + emit_pseudocode(lower(kernel, analysis.hardware), analysis.hardware);
  }
  return all;
}

std::string pseudocode_json(const Analysis& analysis) {
  auto kernels = nlohmann::ordered_json::array();
  for (const auto& kernel : plan_of(analysis).kernels) {
    auto text = emit_pseudocode_json(lower(kernel, analysis.hardware), analysis.hardware);
    kernels.push_back(nlohmann::ordered_json::parse(text));
    kernels.back().erase("schema");
  }
  const nlohmann::ordered_json json{{"schema", "napkin.pseudocode/1"},
                                    {"diagram", analysis.diagram.name},
                                    {"target", analysis.hardware.name},
                                    {"kernels", kernels}};
  return json.dump(2) + "\n";
}

}  // namespace

int run_pseudocode(Session& session) {
  const auto started = start(session);
  if (!started.analysis) return started.finished;
  const auto& analysis = *started.analysis;
  return deliver(session, session.options.format == "json" ? pseudocode_json(analysis) : pseudocode(analysis));
}

}  // namespace napkin::cli
