// Printing of mainloop iterations in which products overlap other operations: those of the same warpgroup's next
// iteration (intra-warpgroup overlap), or those of other warpgroups (ping-pong).
#pragma once

#include <string>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/warpgroups/pipelines.hpp"
#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Prints comments on the overlap in the kernel's head.
void describe_overlap(FragmentPage&);

// The printers that the iterations of a mainloop use.
struct MainloopPrinters {
  FragmentStatements& statements;
  GroupPrinter& groups;
  PipelinePrinter& pipelines;
  std::string last{};  // the stage that running products read, -1 if none
};

// Whether the block is an iteration.
bool is_step(const WarpNest&, const LoopBody&);
// With intra-warpgroup overlap, the loop is entered after one piece's leading products are done. Otherwise each
// iteration begins with its leading products. Prints the whole loop, whose pieces `body` prints; or the beginning of an
// iteration.
void stream_within(MainloopPrinters&, const GroupPrinter::Inside& body);
void begin_iteration(MainloopPrinters&);
// Prints a column of an iteration. Returns whether nothing is left to print of it.
bool print_in_step(MainloopPrinters&, const Compute&);

}  // namespace napkin
