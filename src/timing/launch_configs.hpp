// The launch configurations of a kernel: every way to divide the rows of a block among warpgroups and to overlap the
// columns of its mainloop, and the times of an iteration and of the launch. They are numbers only, since a search needs
// thousands.
#pragma once

#include "timing/launch.hpp"

namespace napkin {

// One way to divide the rows of a block, its ways to overlap, and the fastest of them.
struct LaunchConfig {
  RowDivision warpgroup;
  IterationClocks clocks;                // at the rates of the model
  std::optional<IterationClocks> ideal;  // at datasheet rates, for reports; only with Detail::columns
  std::vector<Pipelining> pipelinings;
  std::size_t fastest = 0;  // index of the fastest that runs; the simplest among equals
  double seconds = 0;       // of the launch with it
  bool keeps = false;       // operands that outlive the iterations are resident in registers
  const Pipelining& chosen() const { return pipelinings[fastest]; }
  bool runs() const { return chosen().runs; }
  double seconds_per_operation() const { return chosen().step_s / clocks.operations; }
};

class LaunchConfigs {
 public:
  // None if the profile does not describe cores, or if the kernel has nothing for matrix units.
  static std::unique_ptr<LaunchConfigs> of(const Kernel&, const Hardware&, Model);
  LaunchConfigs(const LaunchConfigs&) = delete;
  LaunchConfigs& operator=(const LaunchConfigs&) = delete;

  // The same splits in other sizes.
  void resize(const Partition&);
  // The same with resident operands in registers; none if the kernel has no operand that outlives the iterations.
  const LaunchConfigs* keeping() const;
  // The one of both that a configuration belongs to.
  const LaunchConfigs& as(const LaunchConfig& config) const {
    return config.keeps && !mainloop_.keeps ? *keeping() : *this;
  }
  // The fastest for the blocks of this launch, with the fewest rows of a warpgroup among equals, and with resident
  // operands if they make it faster.
  LaunchConfig best(const Demand&) const;
  // The same with every column's numbers.
  LaunchConfig in_full(const LaunchConfig& config, const Demand& demand) const {
    return as(config).config(config.warpgroup, demand, Detail::columns);
  }
  LaunchConfig config(const RowDivision&, const Demand&, Detail = Detail::totals) const;
  // Whether threads have enough registers with the fewest rows of a warpgroup, and instructions fit the columns. Else
  // no configuration runs.
  bool may_run() const;
  // A lower bound of an iteration's clocks over all divisions of rows.
  IterationClocks least(const Demand&) const;
  Launch launch(const LaunchConfig&, const Demand&, double ideal_s, Detail = Detail::totals) const;

  const Mainloop& mainloop() const { return mainloop_; }
  const Hardware& hardware() const { return hardware_; }
  const Variables& variables() const { return variables_; }
  // The paper's model has no cache.
  bool has_cache() const { return model_ == Model::machine; }

 private:
  LaunchConfigs(Mainloop, Partition, const Hardware&, Model);
  LaunchConfig best_of_warpgroups(const Demand&) const;
  bool shares_rows() const;
  std::vector<RowDivision> warpgroups() const;
  bool has_registers(const RowDivision&) const;
  LaunchConfig config(const RowDivision&, const Passage&, const Demand&, Detail) const;
  OfLaunch of_launch(const Demand&) const;
  OnCore on(const RowDivision& warpgroup) const { return {mainloop_, warpgroup, hardware_, model_}; }
  Passage passage(Model rates) const { return CorePath{mainloop_, hardware_, rates, has_cache()}.of_iteration(); }
  RowDivision division_of(std::int64_t rows, std::int64_t each) const;
  void choose(LaunchConfig&, const Demand&) const;

  Mainloop mainloop_;
  Partition partition_;
  const Hardware& hardware_;
  Model model_;
  Variables variables_;
  LaneRegisters lanes_;
  std::int64_t warps_;
  std::unique_ptr<LaunchConfigs> keeping_;
};

const Contraction& first_contraction(const Mainloop&);

// The effect of resident operands, with the rows divided as in this configuration.
std::optional<ResidentOperands> kept(const LaunchConfigs&, const LaunchConfig&, const Demand&);

// The work of a kernel's blocks, with the kernel split down to the core.
Demand demand_of(const Kernel&, const Hardware&);

// A lower bound over all launch configurations, and over all smaller pieces of streams with the same number of blocks:
// the time of the busiest resource alone.
double least_launch_seconds(const LaunchConfigs&, const Demand&);

// The fastest launch of a kernel and its slowest resource; none if the kernel cannot run.
struct LaunchTime {
  double seconds = 0;
  Resource bound = Resource::tensor;
  bool bound_outside = false, bound_by_cache = false;
  double core_steps = 0;            // iterations of a core
  double copied_s = 0, read_s = 0;  // of all iterations: copies into the cores, and reads of their memory
  double inner_bytes = 0;           // between the memories of all cores and registers
};
std::optional<LaunchTime> launch_time(const LaunchConfigs&, const Demand&);
LaunchTime launch_time(const LaunchConfigs&, const LaunchConfig& that_runs, const Demand&);
// The resource of which a block needs more than a core has, if none can run.
std::string why_no_block(const LaunchConfigs&, const LaunchConfig&);

// If the profile describes how cores run the kernel, replaces the coarse time of the cost by that of the launch, with
// the energy of the idle machine for as long. `level` is the one that the kernel is split down to: the core's or one
// below. If the level below the core is the innermost, it then holds the registers of a warp, and pieces no longer
// overrun it; its energy is that of the bytes that instructions read, also where several warps read the same bytes at
// once. Returns the overrun of a block if none can run on a core.
std::optional<Overrun> set_launch_time(KernelCost&, const Kernel&, std::size_t level, const Hardware&);

}  // namespace napkin
