// The step of a loop whose products run beside other columns, in print: beside those of the warpgroup's next step, or
// beside those of warpgroups whose turn it is not.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/nest.hpp"

namespace napkin {

class OverlapPrinter : public NestPrinter {
 public:
  using NestPrinter::NestPrinter;

 protected:
  // Of whoever prints pipelines: that a tile is on its way, waiting for tiles, the copy at hand, the next one, and that
  // a copy is empty.
  virtual void loaded(BufferId) = 0;
  virtual void arrive(const Compute&) = 0;
  virtual void arrive_all() = 0;
  virtual std::string slot(const For&) const = 0;
  virtual void advance(const For&) = 0;
  virtual std::string release(const For&, const std::string& copy) const = 0;

  // The kernel's head, where computing warpgroups begin, and their end.
  void turn_words();
  void begin_turns();
  void end_turns();
  void take_turn();
  void give_turn();

  // Within a warpgroup the loop is entered with one piece's leading products done; else its rounds begin with them.
  bool within(const For& loop) const { return is_step(loop.body) && warps_.is_within(); }
  bool in_turn(const For& loop) const { return is_step(loop.body) && !warps_.is_within(); }
  bool is_step(const LoopBody& block) const { return warps_.step && &round() == &block; }

  // The whole loop, within a warpgroup; in turn, how each of its rounds begins.
  void stream_within();
  void begin_round();
  // A column of a round: whether nothing is left to print.
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

  std::string last_;                          // the stage that running products read; none: -1
  std::string warpgroup_, turn_, next_turn_;  // named barriers
};

}  // namespace napkin
