// Reports: costs and derivations as text, markdown and pages for people and as JSON for scripts.
//
// Text, markdown and HTML are prints of one Document, so they always say the same; a page has pictures and programs
// besides, and only analyses and comparisons have one. The JSON schemas are promises; see
// docs/json.md. Nothing here decides or computes: every number comes from the stages above.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/configure.hpp"
#include "napkin/explore.hpp"
#include "napkin/verify.hpp"

namespace napkin {

enum class Format { text, json, markdown, html };

// Everything that one `analyze` found. `kernels[i].best` starts with the partition that is reported; the runners-up
// follow. A kernel for which nothing fits has an empty `best` and a `nearest`.
struct Analysis {
  Diagram written;  // what was asked about
  Diagram diagram;  // what the kernels are of: the same, or with parts of an axis side by side, or with sweeps apart
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
};
std::string print(const Analysis&, Format, bool color);

std::string print(const Diagram&, const std::vector<Derivation>&, Format, bool color);

// Numbers by name, in the order of the levels.
using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;

// One line of a comparison. Its metrics, by the names that `--metric` takes: `time`, `ideal_time`, `energy`, and of
// each level LEVEL.transfer_bytes (what crosses between it and the level below) and LEVEL.memory_bytes (what it holds).
struct ComparedRow {
  std::string partition, target;
  Metrics metrics;
  Metrics arrays;  // LEVEL.ARRAY: bytes of the array that cross between the level and the one below
  bool fits = true;
  std::string why_not;
};
ComparedRow compared_row(const Hardware&, const std::vector<Candidate>& kernels, std::string partition);
std::optional<double> find(const Metrics&, const std::string& name);

// What one metric was in the baseline and is now.
struct Change {
  std::string metric;
  double before = 0, after = 0;
  std::vector<std::string> because;  // the level and the arrays that moved most of the difference
};

// What a comparison is measured against, and what `--save-baseline` keeps.
struct Baseline {
  std::string diagram;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  ComparedRow row;
};
std::string print(const Baseline&);  // napkin.baseline/1
// None, with what is wrong in `why`, where the text is no baseline.
std::optional<Baseline> parse_baseline(const std::string& text, std::string& why);
// Every metric that both know, with the level and array behind a change.
std::vector<Change> changes(const ComparedRow& before, const ComparedRow& after);

struct Comparison {
  std::string diagram;
  std::vector<ComparedRow> rows;
  std::optional<std::size_t> best;  // of the rows that fit
  std::optional<Baseline> baseline;
  std::string metric = "time";  // what the gate looks at
  std::vector<Change> changes;  // of the best row against the baseline
  double allowed = 0;           // the regression that the gate lets pass, as a fraction
  bool regressed = false;
};
std::string print(const Comparison&, Format, bool color);

std::string print(const Verification&, Format, bool color);

}  // namespace napkin
