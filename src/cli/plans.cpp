// Makes an analysis from the options, and prints its complaints and its progress.
#include "cli/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/print_stages.hpp"
#include "cli/progress.hpp"
#include "napkin/device.hpp"
#include "napkin/loops.hpp"
#include "report/analysis.hpp"
#include "report/plan.hpp"
#include "report/words.hpp"

namespace napkin::cli {
namespace {

std::string complaint(const Analysis& analysis, const Candidate& candidate) {
  const auto names = fmt::format("{}", fmt::join(report::statement_names(*candidate.kernel.derivation), ", "));
  const auto what = analysis.by_hand ? "the partition does not fit" : fmt::format("nothing fits for {}", names);
  const auto& overruns = candidate.cost.overruns;
  return overruns.empty() ? what
                          : fmt::format("{}: {}", what, report::overrun_text(analysis.hardware, overruns.front()));
}

// Complains of `--chunks` if no reduction uses chunks, because the option would be ignored. Returns whether it did.
bool complains_of_chunks(Session& session, const Analysis& analysis) {
  if (session.options.chunks == 0 || (analysis.plan && !analysis.plan->prefixes.empty())) return false;
  const auto length = std::to_string(session.options.chunks);
  complain(session, "E0523", fmt::format("nothing is reduced in chunks of {}", length), length,
           analysis.by_hand ? "a partition is of the file's own axes, and leaves no chunks; leave `--chunks` out"
                            : "chunks are shorter than their axis; `napkin derive` says what may be taken in chunks");
  return true;
}

void complain_of_overruns(Session& session, const Analysis& analysis, const Excuse& excuse) {
  for (const auto& candidate : chosen(analysis)) {
    if (candidate.cost.overruns.empty() || (excuse && excuse(candidate, analysis.hardware))) continue;
    complain(session, "E0304", complaint(analysis, candidate), analysis.by_hand.value_or(analysis.hardware.name));
  }
}

std::optional<std::string> derivation_text(const Input& input) {
  std::vector<Derived> kernels{{napkin::derive(input.diagram, all_statements(input.diagram))}};
  return print(input.diagram, kernels, Format::text, false);
}

std::optional<WrittenPlan> read_one_partition(Session& session, const Input& input) {
  const auto& asked = session.options.partition;
  if (asked.size() > 1) {
    complain(session, "E0522", "one partition at a time", asked.back(), "`napkin compare` compares several");
  }
  return asked.empty() ? std::nullopt : read_partition(session, input, asked.front());
}

// Charts of a plan's surroundings also need the exploration.
bool asks_to_explore(const Options& options) {
  const auto charted = std::ranges::find(chart_kinds(), std::string_view(options.plot), &ChartKind::name);
  return options.explore || (charted != chart_kinds().end() && charted->around);
}

template <class Text>
std::string kernel_by_kernel(const Analysis& analysis, Text text) {
  std::string all;
  for (const auto& candidate : chosen(analysis)) all += (all.empty() ? "" : "\n") + text(candidate.kernel);
  return all;
}

AnalysisRequest request_of(const Session& session, const Input& input, const Hardware& hardware,
                           const std::optional<WrittenPlan>& written) {
  AnalysisRequest request{input.written,         input.diagram, hardware,
                          goal(session.options), written,       asks_to_explore(session.options)};
  if (!input.diagram.statements.empty())
    request.source = session.sources.at(input.diagram.statements.front().span.file).text;
  return request;
}

}  // namespace

std::optional<Analysis> make_analysis(Session& session, const Input& input, const Hardware& hardware,
                                      const std::optional<WrittenPlan>& written, Analyzer analyzer) {
  const Progress progress(session, fmt::format("napkin: searching {} on {}", input.diagram.name, hardware.name));
  const auto start = std::chrono::steady_clock::now();
  auto analysis = analyzer(request_of(session, input, hardware, written), session.diagnostics);
  if (!analysis || complains_of_chunks(session, *analysis)) return std::nullopt;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (session.options.timings) analysis->seconds = passed.count();
  return analysis;
}

void warn_of_other_tiles(Session& session, const Analysis& analysis) {
  if (!analysis.by_hand || analysis.symbolic || analysis.goal.model != Model::machine || !fits(analysis)) return;
  for (const auto& candidate : chosen(analysis))
    if (const auto tiles = other_tiles(candidate.kernel, analysis.hardware))
      complain(session, "W0308",
               fmt::format("the kernel of {} gets other tiles than these",
                           fmt::join(report::statement_names(*candidate.kernel.derivation), ", ")),
               *analysis.by_hand,
               fmt::format("it runs as '{}'; analyze that to see its time",
                           to_text(*tiles, candidate.kernel.program.scratch, analysis.hardware)));
}

void look_around(Session& session, Analysis& analysis) {
  if (analysis.explored || analysis.symbolic || !fits(analysis)) return;
  const Progress progress(session, fmt::format("napkin: looking around {}", analysis.diagram.name));
  analysis.explored = explore(plan_of(analysis), analysis.hardware, analysis.goal.model, glance);
}

std::string partition_words(const Analysis& analysis) {
  const auto kernels = chosen(analysis);
  const bool reordered = analysis.plan && !analysis.plan->orders.empty();
  if (auto text = report::as_partition(analysis); text && (kernels.size() > 1 || reordered)) return *std::move(text);
  std::vector<std::string> words;
  for (const auto& [kernel, cost] : kernels) {
    auto text = to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware);
    words.push_back(text.empty() ? "everything whole" : std::move(text));
  }
  return fmt::format("{}", fmt::join(words, " | "));
}

Started start(Session& session, Sizes sizes, const Excuse& excuse) {
  const auto input = read_input(session);
  if (input) {
    if (const auto text = print_early(session, *input)) return {std::nullopt, deliver(session, *text)};
  }
  const auto hardware = read_machine(session);
  const auto written = input ? read_one_partition(session, *input) : std::nullopt;
  if (session.diagnostics.has_errors()) return {std::nullopt, finish(session)};
  const bool sized = has_sizes(session, input->diagram);
  if (!sized && (sizes == Sizes::needed || asks_to_explore(session.options))) return {std::nullopt, finish(session)};
  auto analysis = make_analysis(session, *input, *hardware, written, sized ? analyze : analyze_symbolically);
  if (!analysis) return {std::nullopt, finish(session)};
  complain_of_overruns(session, *analysis, excuse);
  if (const auto text = print_late(session, *analysis)) return {std::nullopt, deliver(session, *text)};
  return {std::move(analysis), exit_done};
}

std::optional<std::string> print_early(const Session& session, const Input& input) {
  const auto& stage = session.options.print;
  if (stage == "syntax") return print(session.sources, input.syntax);
  if (stage == "diagram") return diagram_text(input.diagram);
  if (stage == "derivation") return derivation_text(input);
  return std::nullopt;
}

std::optional<std::string> print_late(const Session& session, const Analysis& analysis) {
  const auto& stage = session.options.print;
  if (stage == "program") {
    return kernel_by_kernel(analysis, [](const Kernel& kernel) { return program_text(kernel.program); });
  }
  if (stage == "plan") {
    return kernel_by_kernel(analysis, [&](const Kernel& kernel) {
      return fmt::format("kernel {}\n  {}\n", fmt::join(report::statement_names(*kernel.derivation), ", "),
                         to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware));
    });
  }
  if (stage == "nest") {
    return kernel_by_kernel(
        analysis, [&](const Kernel& kernel) { return to_text(lower(kernel, analysis.hardware), analysis.hardware); });
  }
  return std::nullopt;
}

}  // namespace napkin::cli
