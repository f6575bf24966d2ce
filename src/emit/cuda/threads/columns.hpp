// Columns and saves of one thread.
#pragma once

#include <set>

#include "emit/cuda/page.hpp"

namespace napkin {

// Outputs that are stored as they are computed. Their buffers need no storage.
using PassingOutputs = std::set<BufferId>;
PassingOutputs passing_outputs(const Page&);

void print_column(Page&, const PassingOutputs&, const Compute&);
void print_save(Page&, const PassingOutputs&, const Save&);
// Prints a mask test on the piece that several threads share.
void print_mask_test(Page&, const MaskTest&, const WirePieces&);

}  // namespace napkin
