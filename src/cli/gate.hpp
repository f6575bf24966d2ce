// A gate: the best rows of a comparison against those that a baseline keeps.
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"

namespace napkin::cli {

// The rows of one file, the analyses that they are of, and the diagram as text, without comments.
struct Compared {
  Comparison comparison;
  std::vector<Analysis> analyses;
  std::string text;
};

// Of the rows of one target, or of all where it is empty, that fit: least in the metric, the first of equals.
std::optional<std::size_t> best_row(const Comparison&, const std::string& target, const std::string& metric);

// The metrics that some row of the target knows.
std::vector<std::string> metric_names(const Comparison&, const std::string& target);

// The metrics that were asked for; else the time where it is known, and what leaves the outermost level where it is
// not.
std::vector<std::string> gated_metrics(const Session&, const Comparison&, const std::string& target);

// Options that mean nothing without a baseline, or a baseline without a name: such a gate would let everything pass.
bool check_gate_options(Session&);

// Fills the gates that `--baseline` asks for, and writes what `--save-baseline` asks for. False with diagnostics where
// nothing can be judged.
bool gate(Session&, std::vector<Compared>&);

}  // namespace napkin::cli
