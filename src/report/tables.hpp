// The tables of an analysis.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.hpp"

namespace napkin::report {

using Rows = std::vector<std::vector<std::string>>;

// The splits of every level, how many pieces they make, and which warps compute them, where that is configured.
Table partition_table(const Analysis&, std::size_t kernel, const Candidate&, const Configuration*);
Table level_table(const Analysis&, const KernelCost&);  // what moves into a level, what it holds, how long it takes
// How its numbers differ from those of the launch; empty where they do not.
std::string level_words(const Analysis&, const KernelCost&, const Configuration*);
Table held_table(const Analysis&, const KernelCost&);    // what the largest column of a level holds
Table array_table(const Analysis&, const KernelCost&);   // what moves of every array, and how often
Table sector_table(const Analysis&, const KernelCost&);  // levels at which pieces are narrower than what moves whole
Table mask_table(const Analysis&, const KernelCost&);    // loops that pass pieces over
Table unit_table(const KernelCost&);
Table ranking_table(const Analysis&, const std::vector<Candidate>& best);
// "307 W on average, below the limit of 400 W".
std::string power_text(double watts, const Hardware&);
Table totals_table(const Analysis&);

// A partition without sizes: "group q g_q, stream x s_x at smem".
std::string shape_text(const Analysis&, const Kernel&);

}  // namespace napkin::report
