// The tables of an analysis.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.hpp"

namespace napkin::report {

using Rows = std::vector<std::vector<std::string>>;

// The splits of every level, the number of their pieces, and, if there is a configuration, the warps that compute them.
Table partition_table(const Analysis&, std::size_t kernel, const Candidate&, const Configuration*);
Table level_table(const Analysis&, const KernelCost&);  // for each level: bytes moved into it, bytes held, time
// How the numbers of level_table() differ from those of the launch; empty if they do not.
std::string level_words(const Analysis&, const KernelCost&, const Configuration*);
Table held_table(const Analysis&, const KernelCost&);    // what the largest column of each level holds
Table array_table(const Analysis&, const KernelCost&);   // how many bytes of each array move, and how often
Table sector_table(const Analysis&, const KernelCost&);  // levels where tiles are narrower than sectors
Table mask_table(const Analysis&, const KernelCost&);    // loops that skip pieces
Table unit_table(const KernelCost&);
Table ranking_table(const Analysis&, const std::vector<Candidate>& best);
// "307 W on average, below the limit of 400 W".
std::string power_text(double watts, const Hardware&);
Table totals_table(const Analysis&);

// A partition without sizes: "group q g_q, stream x s_x at smem".
std::string shape_text(const Analysis&, const Kernel&);

}  // namespace napkin::report
