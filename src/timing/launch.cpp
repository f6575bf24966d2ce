// Time of a launch: waves of blocks over the cores, the last wave incomplete. Each line of the loss is the difference
// that one more fact about the machine makes, starting at the ideal time, so that the lines add up to the launch time.
#include "timing/launch.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/assumptions.hpp"
#include "timing/pipelining.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

constexpr const char* cache_answers = "tiles that several blocks read from the cache";

class Reckoning : OnCore {
 public:
  Reckoning(const OnCore& on, const Pipelining& chosen, const Demand& demand, Detail detail)
      : OnCore(on), chosen_(chosen), demand_(demand), detail_(detail) {}

  Launch run(const IterationClocks& spread, const IterationClocks& datasheet, double ideal_s) {
    const auto now = spread.of_busiest_partition(chosen_.unevenness);
    const auto ideal = no_slower(datasheet.of_busiest_partition(chosen_.unevenness), now);
    count(ideal);
    launch_.ideal_s = time_ = ideal_s;
    const double steps = launch_.steps / static_cast<double>(launch_.cores);
    const double from_cache = model == Model::machine ? cached(steps, ideal) : 0;
    add(cache_answers, from_cache);
    reach("the busiest unit of a core, partial tiles included", std::max(floor(steps, ideal), steps * ideal.bound));
    reach("operations of an iteration that wait for each other", steps * step_at(ideal));
    reach("operations outside the mainloop", steps * with_outside(ideal, step_at(ideal)));
    const auto quiet = now.without_waits();
    reach("sustained rates instead of datasheet rates",
          std::max(steps * with_outside(quiet, step_at(quiet)), model == Model::machine ? demand_.units_s : 0));
    const double iteration = sustained(now);
    const double busy = std::max(steps * iteration, model == Model::machine ? demand_.units_s : 0);
    reach("waiting for results and tiles, or for turns", busy);
    add("cores idle in the last wave", in_rounds(now, iteration) - busy);
    launch_.bound = compulsory(&Rate::reached) > time_ ? Resource::copy : now.slowest;
    launch_.bound_by_cache = launch_.bound == Resource::copy && compulsory(&Rate::reached) <= time_ && now.by_cache;
    reach("memory that cannot keep up", compulsory(&Rate::reached));
    launch_.bound_outside = outer() > time_;
    reach("loads from outer memory that iterations do not hide", outer());
    add("prologue and epilogue, which overlap nothing", ends());
    add("the launch", hardware.limits.launch_seconds ? hardware.limits.launch_seconds->value : 0);
    launch_.time_s = time_;
    return std::move(launch_);
  }

 private:
  // Tiles from neighbours of a cluster may arrive sooner than tiles at datasheet rates without a cluster, and values as
  // wide as the widest input may take longer than the actual ones. The ideal times are therefore limited to the actual
  // ones.
  static IterationClocks no_slower(IterationClocks ideal, const IterationClocks& now) {
    ideal.leading = std::min(ideal.leading, now.leading), ideal.trailing = std::min(ideal.trailing, now.trailing);
    ideal.pointwise = std::min(ideal.pointwise, now.pointwise), ideal.outside = std::min(ideal.outside, now.outside);
    ideal.last_copy = std::min(ideal.copy, now.copy);
    return ideal.last_copy < ideal.copy ? ideal.in_last_round() : ideal;
  }
  void count(const IterationClocks& ideal) {
    launch_.blocks = demand_.blocks;
    launch_.cores = hardware.total(mainloop.core);
    launch_.blocks_per_core = std::max<std::int64_t>(1, chosen_.occupancy.blocks);
    launch_.turns = static_cast<std::int64_t>(demand_.turns);
    const double full = demand_.per_core / static_cast<double>(launch_.blocks_per_core), waves = std::ceil(full);
    launch_.waves = launch_.turns * static_cast<std::int64_t>(waves);
    launch_.last_wave_busy = full - (waves - 1);
    rounds_ = std::ceil(demand_.per_core);
    launch_.steps = demand_.tensor_operations / (ideal.operations + ideal.operations_outside);
    if (model == Model::machine) launch_.steps *= demand_.whole;
  }
  // Returns the time below which no order of the work can get.
  double floor(double steps, const IterationClocks& ideal) const {
    return std::max({compulsory(&Rate::peak), steps * ideal.copy, demand_.units_ideal_s, demand_.outer_ideal_s});
  }
  // Returns the (negative) change of time if the cache serves repeated reads, so that another part is the slowest.
  double cached(double steps, const IterationClocks& ideal) const { return std::min(0.0, floor(steps, ideal) - time_); }
  double compulsory(double (Rate::*kind)() const) const {
    const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
    return bandwidth ? demand_.compulsory_bytes / ((*bandwidth).*kind)() : 0;
  }
  // Levels above the cores work in parallel with them. What siblings exchange arrives iteration by iteration: the first
  // part is local, and the last part is computed on after everything has arrived. What arrives in one piece is waited
  // for.
  double outer() const {
    const double crossing = demand_.crossing_s > 0 ? demand_.crossing_s + time_ / demand_.crossing_steps : 0;
    return std::max(demand_.outer_s, demand_.crossing_once_s + std::max(time_, crossing));
  }
  // Raises the time to at least these seconds.
  void reach(const char* what, double seconds) { add(what, std::max(0.0, seconds - time_)); }
  void add(const char* what, double seconds) {
    time_ += seconds;
    if (detail_ == Detail::columns) launch_.losses.push_back({what, seconds});
  }
  // Returns how many blocks are resident on a core together: as many as fit, or as many as there are.
  double here() const { return std::min(static_cast<double>(launch_.blocks_per_core), rounds_); }
  double step_at(const IterationClocks& clocks) const {
    const auto there = model == Model::ideal
                           ? chosen_.occupancy.warpgroups
                           : overlapping(chosen_.overlap, static_cast<std::int64_t>(here()), warpgroup);
    return step_seconds(chosen_.overlap, clocks, there);
  }
  // Other blocks on the core run their iterations during these columns, with the resources that the columns leave free.
  double with_outside(const IterationClocks& clocks, double iteration) const {
    const double together = iteration + clocks.outside;
    return here() < 2 ? together : std::clamp(clocks.beside(true), iteration, together);
  }
  double sustained(const IterationClocks& clocks) const {
    const auto blocks = std::min(chosen_.occupancy.blocks, static_cast<std::int64_t>(rounds_));
    const double waits = least_iteration(*this, chosen_, blocks, clocks);
    return with_outside(clocks, std::max(step_at(clocks), waits));
  }
  // Returns the time of all rounds of the core that finishes last, if an iteration takes this long while all cores
  // work.
  double in_rounds(const IterationClocks& now, double iteration) const {
    const auto rounds = rounds_of(demand_, hardware, here());
    const double last = now.last_copy < now.copy && rounds.last > 0 ? sustained(now.in_last_round()) : iteration;
    const double columns =
        launch_.steps / static_cast<double>(launch_.blocks) * (rounds.full * iteration + rounds.last * last);
    const double cores = static_cast<double>(launch_.cores) / static_cast<double>(launch_.blocks);
    return std::max(columns, model == Model::machine ? demand_.units_s * cores * rounds.all() : 0);
  }
  // Returns the time at the beginning and end of one round of blocks, when no other block of the core computes. Blocks
  // begin and end at different times, so that each has its share of the cache's bandwidth. Published persistent kernels
  // lose as much between two output tiles as other kernels between two blocks.
  double ends() const {
    const auto& level = hardware.levels[mainloop.core];
    const auto* tensor = hardware.find(Unit::tensor);
    const bool on_chip = model == Model::machine;
    const double begun = mainloop.output_tiles();
    double seconds = 0,
           bytes = mainloop.streamed.empty() ? 0 : begun * mainloop.moved(mainloop.streamed.front(), on_chip);
    for (const auto& edge : mainloop.edges)
      if (!edge.inside)
        bytes += (edge.reloaded ? begun : edge.around.times * mainloop.steps) * mainloop.moved(edge.buffer, on_chip);
    if (const auto* rate = CorePath{mainloop, hardware, model, on_chip}.nearest())
      seconds += bytes * static_cast<double>(launch_.cores) / rate->reached();
    if (level.latency_clocks && tensor->clock_hz)
      seconds += begun * 2 * level.latency_clocks->value / tensor->clock_hz->value;
    return seconds * demand_.turns * std::ceil(rounds_ / here()) / here();
  }

  const Pipelining& chosen_;
  const Demand& demand_;
  Detail detail_;
  Launch launch_;
  double time_ = 0, rounds_ = 1;  // of blocks in a turn
};

// The rounds if blocks of different lengths leave this part of a block at the end.
Rounds rounds_with_end(const Demand& demand, double end) {
  const double mean = demand.per_core, turns = demand.turns;
  if (!demand.masked) return {(std::ceil(mean) - 1) * turns, turns};
  const double most = std::max(std::ceil(std::min(mean, 1.0)), mean + end);
  return mean < 1 ? Rounds{0, most * turns} : Rounds{most * turns, 0};
}

}  // namespace

Rounds rounds_of(const Demand& demand, const Hardware& hardware, double blocks_at_once) {
  return rounds_with_end(demand, masked_end(hardware.limits) * blocks_at_once);
}

Rounds least_rounds(const Demand& demand) { return rounds_with_end(demand, 0); }

double last_round(const Demand& demand) { return demand.per_core - (std::ceil(demand.per_core) - 1); }

std::vector<Loss> lines(const Launch& launch) {
  std::vector<Loss> all = {{"the slowest of memory, cache and units, all in parallel", launch.ideal_s}};
  for (const auto& loss : launch.losses)
    if (loss.what == cache_answers)
      all.front().seconds += loss.seconds;
    else if (loss.seconds != 0)
      all.push_back(loss);
  return all;
}

Launch launch_of(const OnCore& on, const Pipelining& chosen, const IterationClocks& now, const IterationClocks& ideal,
                 const Demand& demand, double ideal_s, Detail detail) {
  return Reckoning(on, chosen, demand, detail).run(now, ideal, ideal_s);
}

}  // namespace napkin
