// Makes the row of a comparison from an analysis: its metrics, and the parts of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/analysis.hpp"
#include "report/gate/gate.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"
#include "text/fingerprint.hpp"

namespace napkin {
namespace {

// Adds a metric over kernels; if it is unknown for one kernel, the sum is unknown.
void add(Metrics& metrics, const std::string& name, std::optional<double> value) {
  const auto at =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  if (at == metrics.end()) {
    metrics.emplace_back(name, value);
  } else {
    at->second = at->second && value ? std::optional(*at->second + *value) : std::nullopt;
  }
}

Metrics& parts_of(ComparedRow& row, const std::string& metric) {
  const auto at =
      std::find_if(row.parts.begin(), row.parts.end(), [&](const auto& part) { return part.first == metric; });
  return at == row.parts.end() ? row.parts.emplace_back(metric, Metrics()).second : at->second;
}

// Adds the bytes that cross between the level and the one above, and the arrays that they belong to.
void add_crossing(ComparedRow& row, const Hardware& hardware, const KernelCost& cost) {
  for (const auto& level : cost.levels) {
    const auto metric = hardware.levels[level.level - 1].name + ".transfer_bytes";
    add(row.metrics, metric, static_cast<double>(level.transfer_bytes));
    for (const auto& array : level.arrays)
      add(parts_of(row, metric), array.array, static_cast<double>(array.transfer_bytes));
  }
}

// Kernels run one after another, so the memory is that of the kernel that holds most.
void add_memory(ComparedRow& row, const Hardware& hardware, const KernelCost& cost) {
  for (const auto& level : cost.levels) {
    const auto metric = hardware.levels[level.level].name + ".memory_bytes";
    const auto bytes = static_cast<double>(level.memory_bytes);
    const auto before = find(row.metrics, metric);
    if (before && bytes <= *before) continue;
    add(row.metrics, metric, before ? bytes - *before : bytes);
    auto& parts = parts_of(row, metric);
    parts.clear();
    for (const auto& held : level.held) add(parts, held.array, static_cast<double>(held.bytes));
  }
}

// The parts of the launch time if the configuration was timed; otherwise what bounds the kernel.
void add_time(ComparedRow& row, const KernelCost& cost, const std::optional<Configuration>& configuration) {
  add(row.metrics, "time", cost.time_s);
  if (!cost.time_s) return;
  const auto* launch = configuration && configuration->launch ? &*configuration->launch : nullptr;
  auto& parts = parts_of(row, "time");
  if (launch == nullptr || std::abs(launch->time_s - *cost.time_s) > 0.01 * *cost.time_s)
    return add(parts, report::bound_text(cost.bound_by, cost.bound_from), cost.time_s);
  for (const auto& line : lines(*launch)) add(parts, line.what, line.seconds);
}

// The time if every part runs at its peak and all run at once: that of the slowest part.
void add_ideal_time(ComparedRow& row, const Hardware& hardware, const KernelCost& cost) {
  add(row.metrics, "ideal_time", cost.ideal_time_s);
  std::pair<std::string, double> slowest;
  for (const auto& level : cost.levels) {
    const auto name = report::bound_text(hardware.levels[level.level].name, hardware.levels[level.level - 1].name);
    if (level.ideal_time_s.value_or(0) > slowest.second) slowest = {name, *level.ideal_time_s};
  }
  for (const auto& unit : cost.units)
    if (unit.ideal_time_s.value_or(0) > slowest.second) slowest = {std::string(name(unit.unit)), *unit.ideal_time_s};
  if (cost.ideal_time_s && !slowest.first.empty()) add(parts_of(row, "ideal_time"), slowest.first, cost.ideal_time_s);
}

void add_energy(ComparedRow& row, const Hardware& hardware, const KernelCost& cost) {
  add(row.metrics, "energy", cost.energy_j);
  if (!cost.energy_j) return;
  const double idle = hardware.idle_watts && cost.time_s ? hardware.idle_watts->value * *cost.time_s : 0;
  add(parts_of(row, "energy"), "idle power during the launch", idle);
  add(parts_of(row, "energy"), "transfers and operations", *cost.energy_j - idle);
}

std::string launch_words(const Launch& launch) {
  const auto plural = [](std::int64_t count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  return fmt::format("{} on {}, {} at once on each: {}, the last {} full", plural(launch.blocks, "block"),
                     plural(launch.cores, "core"), launch.blocks_per_core, plural(launch.waves, "wave"),
                     report::share(launch.last_wave_busy, 1));
}

void add_kernel_row(ComparedRow& row, const Hardware& hardware, const KernelCost& cost,
                    const std::optional<Configuration>& configuration) {
  add_time(row, cost, configuration);
  add_ideal_time(row, hardware, cost);
  add_energy(row, hardware, cost);
  add_crossing(row, hardware, cost);
  add_memory(row, hardware, cost);
  for (const auto& overrun : cost.overruns) {
    if (row.fits) row.why_not = report::overrun_text(hardware, overrun);
    row.fits = false;
  }
}

}  // namespace

std::optional<double> find(const Metrics& metrics, const std::string& name) {
  const auto at =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  return at == metrics.end() ? std::nullopt : at->second;
}

ComparedRow compared_row(const Analysis& analysis, std::string partition) {
  ComparedRow row;
  row.partition = std::move(partition);
  row.target = analysis.hardware.name;
  const auto kernels = chosen(analysis);
  row.kernels = kernels.size();
  double longest = -1;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto& cost = kernels[k].cost;
    const auto& configuration = report::configuration_of(analysis, k);
    add_kernel_row(row, analysis.hardware, cost, configuration);
    if (cost.time_s.value_or(0) <= longest) continue;
    longest = cost.time_s.value_or(0);
    row.bound = cost.bound_by.empty() ? "" : report::bound_text(cost.bound_by, cost.bound_from);
    row.launch = configuration && configuration->launch ? launch_words(*configuration->launch) : "";
  }
  return row;
}

Basis basis_of(const Analysis& analysis, std::string text, std::string metric) {
  constexpr std::pair<Objective, const char*> objectives[] = {
      {Objective::time, "time"}, {Objective::transfers, "transfers"}, {Objective::energy, "energy"}};
  const auto& diagram = analysis.written;
  Basis basis;
  basis.diagram = diagram.name;
  for (const auto& axis : diagram.axes) basis.sizes.emplace_back(axis.name, axis.size.value_or(0));
  const auto types = [&](const std::vector<ArrayId>& arrays, auto& all) {
    for (const auto id : arrays) all.emplace_back(diagram.at(id).name, row(diagram.at(id).stored()).name);
  };
  types(diagram.inputs, basis.inputs);
  types(diagram.outputs, basis.outputs);
  basis.text = fingerprint(std::string_view(text));
  basis.target = analysis.hardware.name;
  basis.numbers = fingerprint(analysis.hardware);
  basis.model = analysis.goal.model == Model::ideal ? "ideal" : "machine";
  for (const auto& [objective, name] : objectives)
    if (analysis.goal.objective == objective) basis.objective = name;
  basis.metric = std::move(metric);
  return basis;
}

}  // namespace napkin
