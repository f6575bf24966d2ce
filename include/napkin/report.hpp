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

#include "napkin/analyze.hpp"
#include "napkin/summary.hpp"
#include "napkin/verify.hpp"

namespace napkin {

enum class Format { text, json, markdown, html };

// What of an analysis text and markdown show. JSON and HTML show everything.
struct View {
  bool details = false;               // the page, then all tables, formulas and the drawing; else the page
  std::optional<std::size_t> kernel;  // the page of one kernel; else of the plan
};
std::string print(const Analysis&, Format, bool color, const View& = {});

// A derivation, and which of its products matrix units run: those of a machine, or without one those that there are.
struct Derived {
  Derivation kernel;
  std::vector<MatrixProduct> products{};
  std::string machine{};                    // its name; empty without one
  std::vector<BlockedSum> blocks{};         // sums of the diagram that are taken in blocks
  PrefixesInChunks prefixes{};              // what reduces prefixes, with the shortest chunks that there are
  std::vector<ContractionOrders> orders{};  // products of many factors, and the orders that they can be contracted in
};
std::string print(const Diagram&, const std::vector<Derived>&, Format, bool color);

// Numbers by name, in the order of the levels.
using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;
std::optional<double> find(const Metrics&, const std::string& name);

// One line of a comparison. Its metrics, by the names that `--metric` takes: `time`, `ideal_time`, `energy`, and of
// each level LEVEL.transfer_bytes (what crosses between it and the level below) and LEVEL.memory_bytes (what it holds).
struct ComparedRow {
  std::string partition, target;
  Metrics metrics;
  // What a metric is made of: the losses of the launches for the time, arrays for the bytes of a level.
  std::vector<std::pair<std::string, Metrics>> parts;
  std::string bound;   // of the kernel that takes longest: "transfers from gmem to smem"
  std::string launch;  // and how its blocks fill the cores: "264 blocks on 132 cores, 2 waves, the last 100 % full"
  std::size_t kernels = 1;  // launches
  bool fits = true;
  std::string why_not;
};
ComparedRow compared_row(const Analysis&, std::string partition);

// What a row was computed for. Two rows are compared where these are equal; the text of the diagram may change.
struct Basis {
  std::string diagram;
  std::vector<std::pair<std::string, std::int64_t>> sizes;           // of every axis
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // their types
  std::string text;                                                  // a hash of the diagram, without its comments
  std::string target, numbers;                                       // its name, and a hash of its numbers
  std::string model, objective, metric;
};
Basis basis_of(const Analysis&, std::string text, std::string metric);

// One way in which two differ, by the word that `--accept` takes: "sizes", "q is 2048, and 4096 in the baseline".
struct Difference {
  std::string what, words;
};
std::vector<Difference> differences(const Basis& before, const Basis& now);

// What `--save-baseline` keeps: for every diagram, target and metric the best row.
struct Baseline {
  Basis basis;
  ComparedRow row;
};
struct Baselines {
  std::string version;  // of napkin
  std::vector<Baseline> all;
};
std::string print(const Baselines&);  // napkin.baseline/2
// None, with what is wrong in `why`, where the text is no set of baselines.
std::optional<Baselines> parse_baselines(const std::string& text, std::string& why);

// What one metric was in the baseline and is now.
struct Change {
  std::string metric;
  double before = 0, after = 0;
  std::vector<std::string> because;  // what explains it, most of it first
};
// Every metric that both know and that is not the same.
std::vector<Change> changes(const ComparedRow& before, const ComparedRow& after);

// The best row of one target in one metric, held against the baseline.
struct Gate {
  std::string metric;
  std::size_t row = 0;
  std::optional<Baseline> baseline;   // none: there is none, which was accepted
  std::vector<std::string> accepted;  // differences from it that were
  bool edited = false;                // the diagram's text is another
  std::vector<Change> changes;
  bool regressed = false;
};

// The rows of one diagram.
struct Comparison {
  std::string file, diagram;
  std::vector<ComparedRow> rows;
  std::optional<std::size_t> best;  // of the rows that fit
  std::string metric = "time";      // in which it is
  std::vector<Gate> gates;          // none without a baseline
  double allowed = 0;               // the regression that a gate lets pass, as a fraction
};
// The forms of a comparison besides those of every report: what GitHub shows beside a change, and JUnit's XML.
enum class GateForm { github, junit };
std::string print(const std::vector<Comparison>&, Format, bool color);
std::string print(const std::vector<Comparison>&, GateForm);
bool regressed(const std::vector<Comparison>&);

std::string print(const Verification&, Format, bool color);

}  // namespace napkin
