// The cut of a diagram into kernels: how good it is, and what it saved.
#pragma once

#include <optional>
#include <string>

#include "napkin/report.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

std::string plan_text(const Analysis&);  // how the cut was found; empty for one statement or one by hand
// What `--partition` takes to give back this plan: 'S, P: group q 128 at smem | O: group q 64 at smem'. None where
// statements were swept apart, or parts of an axis are grouped in a way that no label says.
std::optional<std::string> as_partition(const Analysis&);
// What it says of one kernel.
std::optional<std::string> as_partition(const Analysis&, std::size_t kernel);
Table saved_table(const Analysis&);  // what every fused kernel saved, and all of them
Json saved_json(const Analysis&);
// What the names mean that the plan made.
std::string names_text(const Analysis&);
Table division_table(const Analysis&);  // axes that were divided to keep every core busy, and why
Json prefixes_json(const Analysis&);
Json divisions_json(const Analysis&);
Table sweeps_table(const Analysis&);  // statements that fit only with a kernel for each sweep
Json sweeps_json(const Analysis&);
// Where the plan is of another diagram than was written: what changed, and why.
std::vector<std::string> changes(const Analysis&);

}  // namespace napkin::report
