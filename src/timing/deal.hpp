// The rows of a block dealt out to teams, in every way, and how long a step and a launch then take: numbers only, so
// that a search can ask for thousands.
#pragma once

#include "timing/launch.hpp"

namespace napkin {

// The rows of a block dealt out in one way, and what comes of it.
struct Deal {
  Team team;
  StepClocks clocks;                // at the rates that the model has
  std::optional<StepClocks> ideal;  // at the datasheet's, which no time depends on: only with Detail::columns
  std::vector<Pipelining> pipelinings;
  std::size_t fastest = 0;  // of those that run, the simplest of equals
  double seconds = 0;       // of the launch with it
  bool keeps = false;       // rows of tiles that outlive the step stay in registers
  const Pipelining& chosen() const { return pipelinings[fastest]; }
  bool runs() const { return chosen().runs; }
  double seconds_per_operation() const { return chosen().step_s / clocks.operations; }
};

class Dealing {
 public:
  // None where the machine says nothing of its cores, or the kernel has nothing for its matrix units.
  static std::unique_ptr<Dealing> of(const Kernel&, const Hardware&, Model);
  Dealing(const Dealing&) = delete;
  Dealing& operator=(const Dealing&) = delete;

  // The same splits in other sizes.
  void resize(const Partition&);
  // The same with tiles in registers that outlive the step, of which contractions take their rows; none without such.
  const Dealing* keeping() const { return keeping_ && keeping_->step_.keeps_any() ? keeping_.get() : nullptr; }
  // As a deal has the step.
  const Dealing& as(const Deal& deal) const { return deal.keeps && !step_.keeps ? *keeping_ : *this; }
  // The fewest rows a team that are as fast as any, for the blocks of this launch; rows in registers where that is
  // faster.
  Deal best(const Demand&) const;
  // The same rows a team, in full.
  Deal in_full(const Deal& deal, const Demand& demand) const {
    return as(deal).deal(deal.team, demand, Detail::columns);
  }
  Deal deal(const Team&, const Demand&, Detail = Detail::totals) const;
  // Whether threads have the registers that they need, at the fewest rows a team, and instructions the columns; else
  // nothing runs.
  bool may_run() const;
  // Of a step, what no way of dealing out rows goes below.
  StepClocks least(const Demand&) const;
  Launch launch(const Deal&, const Demand&, double ideal_s, Detail = Detail::totals) const;

  const BlockStep& step() const { return step_; }
  const Hardware& hardware() const { return hardware_; }
  const Variables& variables() const { return variables_; }
  // The paper's model has no cache.
  bool has_cache() const { return model_ == Model::machine; }

 private:
  Dealing(BlockStep, Partition, const Hardware&, Model);
  Deal best_of_teams(const Demand&) const;
  bool shares_rows() const;
  std::vector<Team> teams() const;
  bool has_registers(const Team&) const;
  Deal deal(const Team&, const Passage&, const Demand&, Detail) const;
  OfLaunch of_launch(const Demand&) const;
  Team team_of(std::int64_t rows, std::int64_t each) const;
  void choose(Deal&, const Demand&) const;

  BlockStep step_;
  Partition partition_;
  const Hardware& hardware_;
  Model model_;
  Variables variables_;
  LaneRegisters lanes_;
  std::int64_t warps_;
  std::unique_ptr<Dealing> keeping_;
};

const Contraction& first_contraction(const BlockStep&);

// What keeping tiles in registers comes to, for rows dealt out as this deal has them.
std::optional<Kept> kept(const Dealing&, const Deal&, const Demand&);

// What the blocks of a kernel do, as it is split down to the core.
Demand demand_of(const Kernel&, const Hardware&);

// What no way of dealing out rows and overlapping columns goes below, nor any smaller piece of a stream in the same
// number of blocks: the busiest resource alone.
double least_launch_seconds(const Dealing&, const Demand&);

// The launch of a kernel as its rows are best dealt out, and the resource that takes longest; none where it cannot run.
struct LaunchTime {
  double seconds = 0;
  Resource bound = Resource::tensor;
  bool bound_outside = false, bound_by_cache = false;
  double copied_s = 0, read_s = 0;  // of all steps: the way into the cores, and reads of their memory
  double inner_bytes = 0;           // between the memories of all cores and registers
};
std::optional<LaunchTime> launch_time(const Dealing&, const Demand&);
// What a block needs more of than a core has, where none can run.
std::string why_no_block(const Dealing&, const Deal&);

// The time of the launch in place of the coarser one, and the energy of the idle machine for as long, where the machine
// knows how its cores run the kernel: as it is split down to a level, the core's or one below it. The level below the
// core's, where it is the innermost, then holds the registers of a warp, and pieces that overran it do not; its energy
// is that of what instructions read, several warps at once, where the nest has each warp read its own.
// Returns what a block lacks if none can run on a core.
std::optional<Overrun> set_launch_time(KernelCost&, const Kernel&, std::size_t level, const Hardware&);

}  // namespace napkin
