// Reports: costs and derivations as text and markdown for people and as JSON for scripts.
//
// Text and markdown are two prints of one Document, so they always say the same. The JSON schemas are promises; see
// docs/json.md. Nothing here decides or computes: every number comes from the stages above.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/search.hpp"

namespace napkin {

enum class Format { text, json, markdown };

// Everything that one `analyze` found. `kernels[i].best` starts with the partition that is reported; the runners-up
// follow. A kernel for which nothing fits has an empty `best` and a `nearest`.
struct Analysis {
  Diagram diagram;
  Hardware hardware;
  Goal goal;
  std::vector<Found> kernels;
  std::optional<std::string> by_hand;         // the partition that was asked for, as it was written or named
  std::vector<std::size_t> completed_levels;  // of a partition by hand: the levels that the search split
  double seconds = 0;                         // of the search; 0 unless `--timings`, so that output repeats
};
std::string print(const Analysis&, Format, bool color);

std::string print(const Diagram&, const std::vector<Derivation>&, Format, bool color);

// One line of a comparison. Levels are keyed by name: transfers by the level that they leave (`gmem` for what moves
// between gmem and smem), memory by the level that holds it.
struct ComparedRow {
  std::string partition, target;
  std::optional<double> time_s, ideal_time_s, energy_j;
  std::vector<std::pair<std::string, double>> transfer_bytes, memory_bytes;
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> arrays;  // level -> array -> bytes
  bool fits = true;
  std::string why_not;
};
// What one metric was in the baseline and is now.
struct Change {
  std::string metric;
  double before = 0, after = 0;
  std::vector<std::string> because;  // the level and the arrays that moved most of the difference
};
struct Comparison {
  std::string diagram;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<ComparedRow> rows;
  std::optional<std::size_t> best;
  std::optional<ComparedRow> baseline;
  std::vector<Change> changes;  // against the baseline, the gated metric first
  double allowed = 0;           // the regression that the gate lets pass, as a fraction
  bool regressed = false;
};
std::string print(const Comparison&, Format, bool color);
ComparedRow compared_row(const Diagram&, const Hardware&, const std::vector<Candidate>&);

}  // namespace napkin
