// The cut of a diagram into kernels: how good it is, and what it saves.
#pragma once

#include <optional>
#include <string>

#include "napkin/report.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

std::string plan_text(const Analysis&);  // how the cut was found; empty for one statement or a cut by hand
// The argument of `--partition` that reproduces this plan: 'S, P: group q 128 at smem | O: group q 64 at smem'. None if
// statements were split into sweeps, or if parts of an axis are grouped in a way that no label expresses.
std::optional<std::string> as_partition(const Analysis&);
// The part of the argument for one kernel.
std::optional<std::string> as_partition(const Analysis&, std::size_t kernel);
Table saved_table(const Analysis&);  // what each fused kernel saves, and their sum
Json saved_json(const Analysis&);
// The meaning of names that the plan introduced.
std::string names_text(const Analysis&);
Table division_table(const Analysis&);  // axes divided to keep every core busy, and why
Json prefixes_json(const Analysis&);
Json divisions_json(const Analysis&);
Table sweeps_table(const Analysis&);  // statements that fit only with one kernel per sweep
Json sweeps_json(const Analysis&);
// If the plan is for another diagram than the file's: what changed, and why.
std::vector<std::string> changes(const Analysis&);

}  // namespace napkin::report
