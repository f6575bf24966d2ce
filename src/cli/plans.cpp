// Search, or search below the levels that are written by hand.
#include "cli/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/by_hand.hpp"
#include "cli/print_stages.hpp"
#include "cli/progress.hpp"
#include "loops/work.hpp"
#include "napkin/distribute.hpp"
#include "napkin/loops.hpp"
#include "report/analysis.hpp"
#include "report/plan.hpp"
#include "report/words.hpp"

namespace napkin::cli {
namespace {

// Where the kernel can be emitted for matrix units: the shared memory that it is launched with, results on their way
// and barriers included, in place of the tiles that its configuration counts.
void count_shared_memory(Configuration& made, const Kernel& kernel, const Hardware& hardware) {
  if (hardware.cuda_capability() < 80) return;
  auto placed = distribute_warpgroups(kernel, hardware);
  if (std::holds_alternative<Refused>(placed)) placed = distribute(kernel, hardware);
  const auto* warps = std::get_if<WarpNest>(&placed);
  if (!warps || warps->warps != made.warpgroups * made.warpgroup_warps) return;
  made.pipelinings[made.chosen].shared_bytes = warps->shared_bytes;
}

// How a core shares out its rows is for the configuration to say, unless a person did.
Kernel as_asked(const Kernel& kernel, std::size_t k, const Analysis& analysis) {
  auto deepest = analysis.hardware.core.value_or(0);
  if (analysis.by_hand) deepest = std::max(deepest, analysis.written_to.at(k));
  Partition partition;
  std::ranges::copy_if(kernel.partition.splits, std::back_inserter(partition.splits),
                       [&](const Split& split) { return split.level <= deepest; });
  return make_kernel(kernel.derivation, partition);
}

std::string complaint(const Analysis& analysis, const Candidate& candidate) {
  const auto names = fmt::format("{}", fmt::join(report::statement_names(*candidate.kernel.derivation), ", "));
  const auto what = analysis.by_hand ? "the partition does not fit" : fmt::format("nothing fits for {}", names);
  const auto& overruns = candidate.cost.overruns;
  return overruns.empty() ? what
                          : fmt::format("{}: {}", what, report::overrun_text(analysis.hardware, overruns.front()));
}

// A length that no reduction is taken in would be ignored.
void complain_of_chunks(Session& session, const Analysis& analysis) {
  if (session.options.chunks == 0 || (analysis.plan && !analysis.plan->prefixes.empty())) return;
  const auto length = std::to_string(session.options.chunks);
  complain(session, "E0523", fmt::format("nothing is reduced in chunks of {}", length), length,
           analysis.by_hand ? "a partition is of the file's own axes, and leaves no chunks; leave `--chunks` out"
                            : "chunks are shorter than their axis; `napkin derive` says what may be taken in chunks");
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

std::optional<Written> read_one_partition(Session& session, const Input& input) {
  const auto& asked = session.options.partition;
  if (asked.size() > 1) {
    complain(session, "E0522", "one partition at a time", asked.back(), "`napkin compare` compares several");
  }
  return asked.empty() ? std::nullopt : read_partition(session, input, asked.front());
}

// Closed forms do not depend on sizes, but which axes a good partition splits does: axes without a size are given one
// for the search, and of what it finds only the forms are kept.
std::optional<Analysis> make_symbolic(Session& session, const Input& input, const Hardware& hardware,
                                      const std::optional<Written>& written) {
  constexpr std::int64_t stand_in = 4096;
  Input sized = input;
  for (auto& axis : sized.diagram.axes) axis.size = axis.size.value_or(stand_in);
  auto analysis = make_analysis(session, sized, hardware, written);
  if (!analysis) return std::nullopt;
  analysis->written = input.written, analysis->diagram = analysis->ordered = input.diagram;
  analysis->symbolic = true;
  analysis->plan.reset();
  analysis->configurations.clear();
  for (auto& found : analysis->kernels) {
    const auto* best = report::reported(found);
    if (!best) continue;
    auto candidate = *best;
    auto form = candidate.cost.closed_form;
    for (auto& term : form.terms) term.alpha_value = 0;
    form.bound_values.reset();
    candidate.cost = {};
    candidate.cost.closed_form = std::move(form);
    found = Found{{std::move(candidate)}, std::nullopt, 0, 0, false, ""};
  }
  return analysis;
}

// Pages and charts of what lies around a plan show it, too.
bool asks_to_explore(const Options& options) {
  const auto charted = std::ranges::find(chart_kinds(), std::string_view(options.plot), &ChartKind::name);
  return options.explore || (charted != chart_kinds().end() && charted->around);
}

std::optional<double> seconds(const Analysis& analysis) {
  double all = 0;
  for (const auto& found : analysis.kernels) {
    if (found.best.empty() || !found.best.front().cost.time_s) return std::nullopt;
    all += *found.best.front().cost.time_s;
  }
  return all;
}

// Labels do not say whether matrix units take products in parts: whatever is faster.
bool add_faster_by_hand(Session& session, const Written& written, Analysis& analysis) {
  auto lanes = analysis;
  if (!add_by_hand(session, written, analysis)) return false;
  if (!has_parts(analysis.diagram, analysis.hardware)) return true;
  lanes.diagram.in_parts = lanes.ordered.in_parts = false;
  const auto said = session.diagnostics;
  const bool added = add_by_hand(session, written, lanes);
  session.diagnostics = said;
  const auto before = seconds(analysis), then = added ? seconds(lanes) : std::nullopt;
  if (then && (!before || *then < *before)) analysis = std::move(lanes);
  return true;
}

template <class Text>
std::string kernel_by_kernel(const Analysis& analysis, Text text) {
  std::string all;
  for (const auto& candidate : chosen(analysis)) all += (all.empty() ? "" : "\n") + text(candidate.kernel);
  return all;
}

}  // namespace

std::optional<Analysis> make_analysis(Session& session, const Input& input, const Hardware& hardware,
                                      const std::optional<Written>& written) {
  const Progress progress(session, fmt::format("napkin: searching {} on {}", input.diagram.name, hardware.name));
  const auto start = std::chrono::steady_clock::now();
  Analysis analysis{.written = input.written,
                    .diagram = input.diagram,
                    .ordered = input.diagram,
                    .hardware = hardware,
                    .goal = goal(session.options)};
  if (!input.diagram.statements.empty())
    analysis.source = session.sources.at(input.diagram.statements.front().span.file).text;
  if (written) {
    if (!add_faster_by_hand(session, *written, analysis)) return std::nullopt;
  } else {
    analysis.goal.chunks = analysis.goal.orders =
        std::ranges::all_of(input.written.axes, [](const Axis& axis) { return axis.size.has_value(); });
    analysis.plan = search(input.diagram, hardware, analysis.goal);
    analysis.kernels = std::move(analysis.plan->kernels);
    analysis.diagram = analysis.plan->diagram, analysis.ordered = analysis.plan->ordered;
  }
  const auto divisions = analysis.plan ? analysis.plan->divisions.size() : analysis.divisions_by_hand;
  if (divisions + 1 == analysis.kernels.size()) analysis.shared = share(analysis.ordered, hardware, analysis.goal);
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k) {
    const auto* shown = report::reported(analysis.kernels[k]);
    auto& made = analysis.configurations.emplace_back();
    if (!shown) continue;
    made = configure(as_asked(shown->kernel, k, analysis), shown->cost, hardware, analysis.goal.model);
    if (made && analysis.goal.model == Model::machine) count_shared_memory(*made, shown->kernel, hardware);
  }
  complain_of_chunks(session, analysis);
  if (asks_to_explore(session.options) && fits(analysis))
    analysis.explored = explore(report::plan_of(analysis), hardware, analysis.goal.model);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (session.options.timings) analysis.seconds = passed.count();
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
               fmt::format("matrix instructions take it as '{}'; analyze that to see what runs",
                           to_text(*tiles, candidate.kernel.program.scratch, analysis.hardware)));
}

void look_around(Session& session, Analysis& analysis) {
  if (analysis.explored || analysis.symbolic || !fits(analysis)) return;
  const Progress progress(session, fmt::format("napkin: looking around {}", analysis.diagram.name));
  analysis.explored = explore(report::plan_of(analysis), analysis.hardware, analysis.goal.model, glance);
}

bool fits(const Analysis& analysis) {
  const auto all = chosen(analysis);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const auto& one) { return one.cost.overruns.empty(); });
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
  const auto make = sized ? make_analysis : make_symbolic;
  auto analysis = make(session, *input, *hardware, written);
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
