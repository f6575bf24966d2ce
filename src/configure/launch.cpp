// Waves of blocks over the cores, the last one ragged. Each line of what is lost is the difference that one more fact
// about the machine makes, from the ideal time on, so that the lines add up.
#include "configure/launch.hpp"

#include <algorithm>
#include <cmath>

#include "configure/raster.hpp"

namespace napkin {
namespace {

class Reckoning {
 public:
  Reckoning(const BlockStep& step, const Team& team, const Pipelining& chosen, const KernelCost& cost,
            const Hardware& hardware, Model model)
      : step_(step), team_(team), chosen_(chosen), cost_(cost), hardware_(hardware), model_(model) {}

  std::optional<Launch> run(const StepClocks& now, const StepClocks& ideal) {
    const auto& level = cost_.levels[step_.core - 1];
    if (!cost_.ideal_time_s || ideal.operations <= 0) return std::nullopt;
    count(level, ideal);
    launch_.ideal_s = time_ = *cost_.ideal_time_s;
    add("tiles that several blocks read at once, from the cache", shared(ideal) - time_);
    const double steps = launch_.steps / static_cast<double>(launch_.cores);
    reach("the busiest part of a core, ragged pieces included", steps * ideal.bound);
    reach("columns of a step that wait for each other", steps * step_at(ideal));
    reach("rates that machines sustain, instead of the datasheet's", steps * step_at(now));
    add("cores idle in the last wave", idle(steps * step_at(now)));
    reach("memory that cannot keep up", compulsory(&Rate::reached));
    add("first tiles and last outputs, which nothing overlaps", ends());
    add("the launch", hardware_.limits.launch_seconds ? hardware_.limits.launch_seconds->value : 0);
    launch_.time_s = time_;
    return launch_;
  }

 private:
  void count(const LevelCost& level, const StepClocks& ideal) {
    launch_.blocks = level.groups;
    launch_.cores = hardware_.total(step_.core);
    launch_.blocks_per_core = std::max<std::int64_t>(1, chosen_.occupancy.blocks);
    const auto places = launch_.cores * launch_.blocks_per_core;
    launch_.waves = (launch_.blocks + places - 1) / places;
    launch_.last_wave_busy =
        static_cast<double>(launch_.blocks - (launch_.waves - 1) * places) / static_cast<double>(places);
    double operations = 0;
    for (const auto& unit : cost_.units)
      if (unit.unit == Unit::tensor) operations += unit.operations;
    launch_.steps = operations / ideal.operations;
  }
  // What is left to be slowest where the cache answers what is read again.
  double shared(const StepClocks& ideal) const {
    if (model_ == Model::ideal) return time_;
    double most = std::max(compulsory(&Rate::peak), launch_.steps / static_cast<double>(launch_.cores) * ideal.copy);
    for (const auto& unit : cost_.units) most = std::max(most, unit.ideal_time_s.value_or(0));
    return std::min(time_, most);
  }
  double compulsory(double (Rate::*kind)() const) const {
    const auto& bandwidth = hardware_.levels[step_.core].bandwidth;
    return bandwidth ? static_cast<double>(cost_.compulsory_bytes) / ((*bandwidth).*kind)() : 0;
  }
  // The time is at least so much.
  void reach(const char* what, double seconds) { add(what, std::max(0.0, seconds - time_)); }
  void add(const char* what, double seconds) {
    time_ += seconds;
    launch_.losses.push_back({what, seconds});
  }
  double step_at(const StepClocks& clocks) const {
    const auto here = std::min(launch_.blocks_per_core, (launch_.blocks + launch_.cores - 1) / launch_.cores);
    return step_seconds(chosen_.overlap, clocks,
                        model_ == Model::ideal ? teams_on_core(chosen_, team_, model_) : here * team_.teams);
  }
  // Blocks of one length are done when the core with most of them is. Where masks make their lengths differ they fill
  // each other's gaps, but for about half a block at the end.
  double idle(double busy) const {
    const auto blocks = static_cast<double>(launch_.blocks), cores = static_cast<double>(launch_.cores);
    const double mean = blocks / cores;
    const double most = cost_.masks.empty() ? std::ceil(mean) : std::max(std::ceil(std::min(mean, 1.0)), mean + 0.5);
    return busy * (most / mean - 1);
  }
  // Of one round of blocks, where no other block of the core is at work meanwhile. Blocks begin and end at different
  // times, so that each has its share of the cache's bandwidth.
  double ends() const {
    const auto& level = hardware_.levels[step_.core];
    const auto* tensor = hardware_.find(Unit::tensor);
    double seconds = 0, bytes = step_.streamed.empty() ? 0 : static_cast<double>(step_.bytes(step_.streamed.front()));
    for (const auto id : step_.tiles) bytes += static_cast<double>(step_.bytes(id));
    for (const auto id : step_.outputs) bytes += static_cast<double>(step_.bytes(id));
    const auto* cache = model_ == Model::machine ? cache_of(step_, hardware_) : nullptr;
    if (cache || level.bandwidth)
      seconds += bytes * static_cast<double>(launch_.cores) / (cache ? *cache->bandwidth : *level.bandwidth).reached();
    if (level.latency_clocks && tensor->clock_hz) seconds += 2 * level.latency_clocks->value / tensor->clock_hz->value;
    const auto rounds = (launch_.blocks + launch_.cores - 1) / launch_.cores;
    return seconds * static_cast<double>((rounds + launch_.blocks_per_core - 1) / launch_.blocks_per_core) /
           static_cast<double>(launch_.blocks_per_core);
  }

  const BlockStep& step_;
  const Team& team_;
  const Pipelining& chosen_;
  const KernelCost& cost_;
  const Hardware& hardware_;
  Model model_;
  Launch launch_;
  double time_ = 0;
};

}  // namespace

std::optional<Launch> launch_of(const BlockStep& step, const Team& team, const Pipelining& chosen,
                                const StepClocks& now, const StepClocks& ideal, const KernelCost& cost,
                                const Hardware& hardware, Model model) {
  return Reckoning(step, team, chosen, cost, hardware, model).run(now, ideal);
}

}  // namespace napkin
