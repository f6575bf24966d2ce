// Printing of mainloop iterations in which products overlap other operations: those of the same warpgroup's next
// iteration (intra-warpgroup overlap), or those of other warpgroups (ping-pong).
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/nest.hpp"

namespace napkin {

class OverlapPrinter : public NestPrinter {
 public:
  using NestPrinter::NestPrinter;

 protected:
  // Implemented by the printer of pipelines: a tile is being loaded; wait for the tiles of a column, or for all; the
  // current stage; advance to the next stage; release a stage that is empty.
  virtual void loaded(BufferId) = 0;
  virtual void arrive(const Compute&) = 0;
  virtual void arrive_all() = 0;
  virtual std::string slot(const For&) const = 0;
  virtual void advance(const For&) = 0;
  virtual std::string release(const For&, const std::string& copy) const = 0;

  // Comments in the kernel's head, and code where the computing warpgroups begin and end.
  void turn_words();
  void begin_turns();
  void end_turns();
  void take_turn();
  void give_turn();

  // With intra-warpgroup overlap, the loop is entered after one piece's leading products are done. Otherwise each
  // iteration begins with its leading products.
  bool within(const For& loop) const { return is_step(loop.body) && warps_.is_within(); }
  bool in_turn(const For& loop) const { return is_step(loop.body) && !warps_.is_within(); }
  bool is_step(const LoopBody& block) const { return warps_.step && &round() == &block; }

  // Prints the whole loop for intra-warpgroup overlap; otherwise the beginning of each iteration.
  void stream_within();
  void begin_round();
  // Prints a column of an iteration. Returns whether nothing is left to print of it.
  bool print_in_step(const Compute&);

 private:
  const LoopBody& round() const { return warps_.step->loop->body; }
  const Product& product(const Compute* compute) const { return *warps_.product(compute); }
  bool leads(const Compute&) const;
  void load_tiles();
  void issue_leading();
  void wait_for_leading(int left);

  void round_within(const std::string& begin, const WirePiece& around, const std::string& skips);
  void lead(int behind);
  void issue_trailing();
  void arrive_trailing();
  void wait_for_last();
  void prepare_trailing(const Product&);

  template <class Wanted>
  void declare_copies(Wanted, const std::string& number);
  bool reads(const Compute&, BufferId tile) const;
  bool is_read_by(BufferId tile, const std::vector<const Compute*>&) const;
  bool is_read_by_others(BufferId tile) const;

  std::string last_;                          // the stage that running products read, -1 if none
  std::string warpgroup_, turn_, next_turn_;  // the warpgroup's number, and its and the next one's named barrier
};

}  // namespace napkin
