// Analyze: a diagram on a machine -> everything that is known of its best plan, or of a plan that a person wrote.
//
// The plan is searched, or its kernels are taken as they are written and completed below the levels that they name. How
// each kernel runs on a core is described, and what lies around the plan is explored if that is asked for. Times are in
// seconds. Reports print an analysis and decide nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/configure.hpp"
#include "napkin/explore.hpp"
#include "napkin/search.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

// A plan that a person wrote: the name of a partition in the file, or labels, of one kernel or of several.
struct WrittenPlan {
  std::string text;  // the name or the labels
  std::vector<ast::KernelLabels> kernels;
};

// What to analyze.
struct AnalysisRequest {
  const Diagram& written;  // as the file has it
  const Diagram& diagram;  // with sums in blocks
  const Hardware& hardware;
  Goal goal;
  std::optional<WrittenPlan> plan{};  // none: search for one
  bool explore = false;               // what lies around the plan
  std::string source{};               // the text of the file
};

// Everything that one `analyze` found. `kernels[i].best` starts with the partition that is reported; the runners-up
// follow. A kernel for which nothing fits has an empty `best` and a `nearest`.
struct Analysis {
  Diagram written;  // what was asked about
  Diagram diagram;  // what the kernels are of: the same, or with parts of an axis side by side, or with sweeps apart
  Diagram ordered;  // what was asked about, with sums in blocks and products in the orders that the kernels have
  Hardware hardware;
  Goal goal;
  std::vector<Found> kernels{};
  std::optional<std::string> by_hand{};  // the plan that was asked for, as it was written or named; of each kernel then
  std::vector<std::size_t> written_to{};                     // the deepest level whose labels a person wrote, and
  std::vector<std::vector<std::size_t>> completed_levels{};  // those that the search split
  std::size_t divisions_by_hand = 0;
  double seconds = 0;               // of the search; 0 unless `--timings`, so that output repeats
  std::optional<FoundPlan> plan{};  // how `kernels` were cut; none where that is by hand
  // Some axis has no size: of the kernels only the closed forms and which axes are split hold, no number does.
  bool symbolic = false;
  // How each of `kernels` runs on a core; none where the machine or the kernel knows no matrix units.
  std::vector<std::optional<Configuration>> configurations{};
  // What lies around the plan, where it was asked for: of `kernels` as reported.
  std::optional<Explored> explored{};
  std::vector<Shared> shared{};  // ways to share the diagram among joined memories; empty by hand
  std::string source{};          // the text of the file that `written` was read from; empty where there is none
};

// None, with errors in the diagnostics, if the plan that was written is not legal. Every axis needs a size.
std::optional<Analysis> analyze(const AnalysisRequest&, Diagnostics&);
// The same for a diagram with axes that have no size: an analysis that is symbolic. Which axes a good partition splits
// depends on sizes, so that the search assumes some.
std::optional<Analysis> analyze_symbolically(const AnalysisRequest&, Diagnostics&);

// The candidate of a kernel that is shown: the best, or the nearest if nothing fits; null if there is none.
const Candidate* reported(const Found&);
// The reported candidates in launch order, and the plan that they make.
std::vector<Candidate> chosen(const Analysis&);
Plan plan_of(const Analysis&);
// Whether there is a plan, and every kernel of it fits.
bool fits(const Analysis&);

}  // namespace napkin
