// Printing of mainloop iterations in which products overlap other operations: those of the same warpgroup's next
// iteration (intra-warpgroup overlap), or those of other warpgroups (ping-pong).
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/warpgroups/pipelines.hpp"
#include "emit/cuda/warpgroups/turns.hpp"
#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Prints comments on the overlap in the kernel's head.
void describe_overlap(FragmentPage&);

class OverlapPrinter {
 public:
  OverlapPrinter(FragmentStatements&, GroupPrinter&, PipelinePrinter&, TurnPrinter&);

  // With intra-warpgroup overlap, the loop is entered after one piece's leading products are done. Otherwise each
  // iteration begins with its leading products.
  bool within(const For& loop) const { return is_step(loop.body) && page_.warps.is_within(); }
  bool in_turn(const For& loop) const { return is_step(loop.body) && !page_.warps.is_within(); }
  bool is_step(const LoopBody& block) const { return page_.warps.step && &iteration() == &block; }

  // Prints the whole loop for intra-warpgroup overlap, whose pieces `body` prints; otherwise the beginning of each
  // iteration.
  void stream_within(const GroupPrinter::Inside& body);
  void begin_iteration();
  // Prints a column of an iteration. Returns whether nothing is left to print of it.
  bool print_in_step(const Compute&);

 private:
  const LoopBody& iteration() const { return page_.warps.step->loop->body; }
  const Product& product(const Compute* compute) const { return *page_.warps.product(compute); }
  std::string slot() const;
  void load_tiles();
  void issue_leading();
  void wait_for_leading(int left);

  void declare_ahead();
  void iteration_within(const std::string& begin, const WirePiece& around, const std::string& skips,
                        const GroupPrinter::Inside& body);
  void lead(int behind);
  void trail();
  void issue_trailing();
  void trailing_arrived();
  void wait_for_last();
  void begin_product(const Product&);
  void declare_stages(const std::vector<const Compute*>& readers, const std::string& number);
  bool reads(const Compute&, BufferId tile) const;
  std::vector<const Compute*> other_columns() const;

  FragmentStatements& statements_;
  FragmentPage& page_;
  Lines& out_;
  GroupPrinter& groups_;
  PipelinePrinter& pipelines_;
  TurnPrinter& turns_;
  std::string last_;  // the stage that running products read, -1 if none
};

}  // namespace napkin
