// Reports: costs and derivations as text, markdown and pages for people and as JSON for scripts.
//
// Text, markdown and HTML print the same Document, so they always agree. An HTML page also has pictures and programs;
// only analyses and comparisons have one. The JSON schemas are stable; see docs/json.md. Nothing is decided or computed
// here: every number comes from the stages before.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/analyze.hpp"
#include "napkin/summary.hpp"
#include "napkin/verify.hpp"

namespace napkin {

enum class Format { text, json, markdown, html };

// The parts of an analysis that text and markdown show. JSON and HTML show everything.
struct View {
  bool details = false;               // after the page, also all tables, formulas and the drawing
  std::optional<std::size_t> kernel;  // the page of this kernel; none: of the plan
};
std::string print(const Analysis&, Format, bool color, const View& = {});

// A derivation and its products, each with the unit that runs it. Without a machine, matrix units have the formats of
// all matrix instructions.
struct Derived {
  Derivation kernel;
  std::vector<MatrixProduct> products{};
  std::string machine{};                    // its name; empty without one
  std::vector<BlockedSum> blocks{};         // sums of the diagram that are taken in blocks
  PrefixesInChunks prefixes{};              // reductions of prefixes, with the shortest possible chunks
  std::vector<ContractionOrders> orders{};  // products of many factors, and the orders that they can be contracted in
};
std::string print(const Diagram&, const std::vector<Derived>&, Format, bool color);

// Numbers by name, in the order of the levels.
using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;
std::optional<double> find(const Metrics&, const std::string& name);

// One line of a comparison. Its metrics have the names that `--metric` takes: `time`, `ideal_time`, `energy`, and for
// each level LEVEL.transfer_bytes (moved between it and the level below) and LEVEL.memory_bytes (held at it).
struct ComparedRow {
  std::string partition, target;
  Metrics metrics;
  // The parts of a metric: losses of the launches for the time, arrays for the bytes of a level.
  std::vector<std::pair<std::string, Metrics>> parts;
  std::string bound;        // of the slowest kernel: "transfers from gmem to smem"
  std::string launch;       // of the same kernel: "264 blocks on 132 cores, 2 waves, the last 100 % full"
  std::size_t kernels = 1;  // launches
  bool fits = true;
  std::string why_not;
};
ComparedRow compared_row(const Analysis&, std::string partition);

// The inputs of a row. Two rows are comparable if these are equal; only the text of the diagram may differ.
struct Basis {
  std::string diagram;
  std::vector<std::pair<std::string, std::int64_t>> sizes;           // of all axes
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // names and types
  std::string text;                                                  // hash of the diagram without its comments
  std::string target, numbers;                                       // name of the target, and hash of its numbers
  std::string model, objective, metric;
};
Basis basis_of(const Analysis&, std::string text, std::string metric);

// One difference between two bases, with the word that `--accept` takes: "sizes", "q is 2048, and 4096 in the
// baseline".
struct Difference {
  std::string what, words;
};
std::vector<Difference> differences(const Basis& before, const Basis& now);

// `--save-baseline` stores the best row for every diagram, target and metric.
struct Baseline {
  Basis basis;
  ComparedRow row;
};
struct Baselines {
  std::string version;  // of napkin
  std::vector<Baseline> all;
};
std::string print(const Baselines&);  // napkin.baseline/2
// None if the text is no set of baselines; `why` then has the reason.
std::optional<Baselines> parse_baselines(const std::string& text, std::string& why);

// One metric in the baseline and now.
struct Change {
  std::string metric;
  double before = 0, after = 0;
  std::vector<std::string> because;  // explanations, the largest first
};
// All metrics that both rows have and that differ.
std::vector<Change> changes(const ComparedRow& before, const ComparedRow& after);

// The comparison of the best row of one target in one metric with the baseline.
struct Gate {
  std::string metric;
  std::size_t row = 0;
  std::optional<Baseline> baseline;   // none: the baseline lacks it, which was accepted
  std::vector<std::string> accepted;  // differences from the baseline that `--accept` allowed
  bool edited = false;                // the text of the diagram has changed
  std::vector<Change> changes;
  bool regressed = false;
};

// The rows of one diagram.
struct Comparison {
  std::string file, diagram;
  std::vector<ComparedRow> rows;
  std::optional<std::size_t> best;  // of the rows that fit
  std::string metric = "time";      // by which `best` was chosen
  std::vector<Gate> gates;          // empty without a baseline
  double allowed = 0;               // the regression that a gate accepts, as a fraction
};
// Formats of a comparison in addition to those of every report: annotations for GitHub, and JUnit XML.
enum class GateForm { github, junit };
std::string print(const std::vector<Comparison>&, Format, bool color);
std::string print(const std::vector<Comparison>&, GateForm);
bool regressed(const std::vector<Comparison>&);

std::string print(const Verification&, Format, bool color);

}  // namespace napkin
