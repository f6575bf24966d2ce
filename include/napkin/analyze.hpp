// Analyze: from a diagram and a machine to everything that is known about its best plan, or about a plan that a person
// wrote.
//
// The plan is searched. Or its kernels are used as written, and the search splits only the levels below those that they
// name. The analysis describes how each kernel runs on an SM and, on request, explores the surroundings of the plan.
// Times are in seconds. Reports print an analysis and decide nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/configure.hpp"
#include "napkin/explore.hpp"
#include "napkin/search.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

// A plan that a person wrote: the name of a partition in the file, or the labels of one kernel or several.
struct WrittenPlan {
  std::string text;  // the name or the labels
  std::vector<ast::KernelLabels> kernels;
};

struct AnalysisRequest {
  const Diagram& written;  // the diagram of the file
  const Diagram& diagram;  // `written` with sums in blocks (rule S10)
  const Hardware& hardware;
  Goal goal;
  std::optional<WrittenPlan> plan{};  // none: search for one
  bool explore = false;               // also explore the surroundings of the plan
  std::string source{};               // the text of the file
};

// `kernels[i].best` starts with the partition that is reported; the runners-up follow. If nothing fits for a kernel,
// its `best` is empty and it has a `nearest`.
struct Analysis {
  Diagram written;  // the diagram of the request
  Diagram diagram;  // the diagram of the kernels: the same, or with a divided axis, or with sweeps as statements
  Diagram ordered;  // `written` with sums in blocks, and with products in the orders that the kernels use
  Hardware hardware;
  Goal goal;
  std::vector<Found> kernels{};
  std::optional<std::string> by_hand{};   // text or name of the written plan; none if the plan was searched
  std::vector<std::size_t> written_to{};  // by kernel of a written plan: the deepest level with written labels
  std::vector<std::vector<std::size_t>> completed_levels{};  // by kernel of a written plan: levels the search split
  std::size_t merging_by_hand = 0;                           // kernels of a written plan that merge parts
  double seconds = 0;               // duration of the search; 0 without `--timings`, so that output is reproducible
  std::optional<FoundPlan> plan{};  // how the diagram was cut into `kernels`; none for a written plan
  // Some axis has no size. Then only the closed forms of the kernels and the choice of split axes are valid, and no
  // number is.
  bool symbolic = false;
  // How each of `kernels` runs on an SM; none if the machine has no matrix units or the kernel does not use them.
  std::vector<std::optional<Configuration>> configurations{};
  // The surroundings of the reported `kernels`; none unless requested.
  std::optional<Explored> explored{};
  std::vector<Shared> shared{};  // ways to distribute the diagram over joined memories, if the plan is one kernel
  std::string source{};          // the text of the file that `written` was read from; empty if there is no file
};

// Returns none, with errors in the diagnostics, if the written plan is not legal. Every axis needs a size.
std::optional<Analysis> analyze(const AnalysisRequest&, Diagnostics&);
// The same for a diagram with axes that have no size. The analysis is symbolic. Which axes a good partition splits
// depends on sizes, so the search assumes sizes for them.
std::optional<Analysis> analyze_symbolically(const AnalysisRequest&, Diagnostics&);

// The candidate that reports show for a kernel: the best, or the nearest if nothing fits; null if there is neither.
const Candidate* reported(const Found&);
// The reported candidates in launch order, and the plan that consists of them.
std::vector<Candidate> chosen(const Analysis&);
Plan plan_of(const Analysis&);
// Whether there is a plan and each of its kernels fits.
bool fits(const Analysis&);

}  // namespace napkin
