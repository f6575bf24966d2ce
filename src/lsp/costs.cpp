// Shows the plan next to the statements, as inlay hints: the kernel that makes an array, its time, and its bound.
#include <fmt/format.h>

#include <algorithm>

#include "diagram/resolve/names.hpp"
#include "lsp/session.hpp"
#include "text/quantity.hpp"

namespace napkin::lsp {
namespace {

constexpr std::chrono::milliseconds hint_patience{50};

// The statements of a kernel as written. A kernel of parts, and those that merge them, have those of the whole.
std::vector<std::string> statements_of(const FoundPlan& found, std::size_t k) {
  for (const auto& division : found.divisions)
    if (division.has(k)) return division.statements;
  std::vector<std::string> names;
  const auto& derivation = *found.plan.kernels[k].derivation;
  for (const auto id : derivation.statements)
    names.push_back(derivation.scratch.at(derivation.scratch.at(id).output).name);
  for (const auto& swept : found.swept)
    for (const auto& before : swept.before)
      if (std::ranges::find(names, before) != names.end() && std::ranges::find(names, swept.statement) == names.end())
        names.push_back(swept.statement);
  return names;
}

std::string kernel_words(const FoundPlan& found, std::size_t k) {
  const auto& cost = found.cost.kernels[k];
  auto text = found.plan.kernels.size() == 1 ? std::string("one kernel") : fmt::format("kernel {}", k + 1);
  if (cost.time_s) text += fmt::format(": {}", lasting(*cost.time_s));
  if (cost.time_s && found.cost.time_s && found.plan.kernels.size() > 1)
    text += fmt::format(" of {}", lasting(*found.cost.time_s));
  if (const auto bound = bound_words(cost); !bound.empty()) text += ", bound by " + bound;
  return text;
}

// A statement lists every kernel that computes it. If a kernel fuses several statements, the last of them shows its
// time.
std::string statement_words(const FoundPlan& found, const std::string& name) {
  std::string text;
  for (std::size_t k = 0; k < found.plan.kernels.size(); ++k) {
    const auto names = statements_of(found, k);
    if (std::ranges::find(names, name) == names.end()) continue;
    if (!text.empty()) text += "; ";
    text += names.back() == name ? kernel_words(found, k) : fmt::format("in the kernel of {}", names.back());
    if (names.back() != name) break;
  }
  return text;
}

std::size_t end_of_line(std::string_view text, std::size_t offset) {
  return std::min(text.find('\n', offset), text.size());
}

}  // namespace

Planning* planning(State& state, Document& open) {
  const auto& diagram = open.reading.diagram;
  const auto symbolic = [](const Axis& axis) { return !axis.size; };
  if (!state.target || !open.reading.resolved || std::ranges::any_of(diagram.axes, symbolic)) return nullptr;
  if (open.planning) return open.planning.get();
  std::function<void()> told;
  if (state.costs && state.refreshes && state.push) told = [push = state.push] { push("workspace/inlayHint/refresh"); };
  open.planning = std::make_unique<Planning>(diagram, state.target, std::move(told));
  return open.planning.get();
}

// Returns no hints until the plan is found; then the editor is told to request them again, if it supports that.
Json inlay_hints(State& state, const Json& params) {
  auto& open = document(state, params);
  auto hints = Json::array();
  auto* plan = state.costs ? planning(state, open) : nullptr;
  const auto* found = plan ? plan->wait(hint_patience) : nullptr;
  if (!found || found->plan.kernels.size() < found->kernels.size()) return hints;
  const auto& reading = open.reading;
  const auto& place = field(params, "range");
  const auto begin = reading.lines.offset(reading.text(), position_field(place, "start"));
  const auto end = reading.lines.offset(reading.text(), position_field(place, "end"));
  for (const auto& declared : reading.syntax.declarations) {
    const auto* statement = std::get_if<ast::Statement>(&declared.node);
    if (!statement || declared.span.end < begin || declared.span.begin > end) continue;
    const auto words = statement_words(*found, statement->name.text);
    if (words.empty()) continue;
    const auto at = reading.lines.position(reading.text(), end_of_line(reading.text(), declared.span.end));
    hints.push_back({{"position", to_json(at)}, {"label", words}, {"paddingLeft", true}});
  }
  return hints;
}

}  // namespace napkin::lsp
