// Prints the tables of a configuration.
#include "report/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

std::string plural(std::int64_t count, const char* unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

// The unit that divides the rows of a block: warpgroups for wgmma, else groups of warps.
std::string workers(const Configuration& made) {
  return made.instruction.starts_with("wgmma") ? "warpgroup" : "group of " + plural(made.warpgroup_warps, "warp");
}
std::string counted_workers(std::int64_t count, const Configuration& made) {
  if (made.instruction.starts_with("wgmma")) return plural(count, "warpgroup");
  return made.warpgroup_warps == 1
             ? plural(count, "warp")
             : fmt::format("{} of {}", plural(count, "group"), plural(made.warpgroup_warps, "warp"));
}

std::string shape_text(const Variable& variable) {
  const auto copies = variable.copies > 1 ? fmt::format(", {} stages", variable.copies) : "";
  return fmt::format("{} {}[{}] {}{}", variable.name, row(variable.type).name, fmt::join(variable.shape, ", "),
                     held(static_cast<double>(variable.bytes)), copies);
}

Table summary(const Configuration& made) {
  std::vector<std::string> subloops;
  for (const auto& [axis, size] : made.subloops) subloops.push_back(fmt::format("{} by {}", axis, size));
  Rows rows{{"rows", fmt::format("{}, each with {} rows of {}, by {}", counted_workers(made.warpgroups, made),
                                 made.warpgroup_rows, made.row_axis, made.instruction)}};
  if (!subloops.empty()) rows.push_back({"instruction", join(subloops)});
  if (made.kept && made.kept->chosen)
    rows.push_back({"in registers", fmt::format("{}: {} per thread, and {} for the launch", join(made.kept->tiles),
                                                made.kept->registers_per_thread, lasting(*made.kept->launch_s))});
  std::string title = "multiples";
  for (const auto& divisor : made.divisors) {
    std::vector<std::string> reasons;
    for (const auto& [size, why] : divisor.reasons) reasons.push_back(fmt::format("{}: {}", size, why));
    rows.push_back(
        {std::exchange(title, ""), fmt::format("{} by {} ({})", divisor.axis, divisor.size, join(reasons, "; "))});
  }
  for (const bool by_warpgroup : {false, true}) {
    std::vector<std::string> here;
    for (const auto& variable : made.variables)
      if (variable.by_warpgroup == by_warpgroup) here.push_back(shape_text(variable));
    if (here.empty()) continue;
    const auto bytes = by_warpgroup ? made.shared_warpgroup_bytes : made.shared_block_bytes;
    rows.push_back({by_warpgroup ? "shared, per " + workers(made) : "shared, per block",
                    fmt::format("{}: {}", held(static_cast<double>(bytes)), join(here))});
  }
  const auto launched = made.pipelinings[made.chosen].shared_bytes;
  rows.push_back(
      {"shared, as launched", launched < made.shared_block_bytes + made.warpgroups * made.shared_warpgroup_bytes
                                  ? held(static_cast<double>(launched)) + ": results are stored from registers"
                                  : held(static_cast<double>(launched))});
  return {{{""}, {"", false, true}}, std::move(rows)};
}

Table column_table(const Configuration& made) {
  Table table{{{"operation", false, true}, {"on"}, {"registers per " + workers(made), true}, {"alive", false, true}},
              {}};
  for (const auto& column : made.columns) {
    std::vector<std::string> alive;
    for (const auto& variable : column.variables) alive.push_back(variable.name);
    table.rows.push_back({column.value, std::string(name(column.on)),
                          held(static_cast<double>(column.warpgroup_register_bytes)), join(alive)});
  }
  return table;
}

Table clock_table(const Configuration& made) {
  Table table{{{"operation"}, {"on"}, {"amount", true}, {"clocks", true}, {"per row", true}, {"time", true}}, {}};
  const auto rows = static_cast<double>(made.rows);
  for (const auto& one : made.clocks)
    table.rows.push_back({one.column, std::string(name(one.on)), counted(one.operations), counted(one.clocks),
                          ratio(one.clocks / rows), lasting(one.seconds)});
  for (const auto& one : made.resources)
    table.rows.push_back({"together", std::string(name(one.on)),
                          one.on == made.bound ? "the bound" : fmt::format("{:.0f} % slack", 100 * one.slack),
                          counted(one.clocks), ratio(one.clocks / rows), lasting(one.seconds)});
  return table;
}

Table pipelining_table(const Configuration& made) {
  Table table{{{""},
               {"overlap"},
               {"iteration", true},
               {"matrix units", true},
               {"registers", true},
               {"shared", true},
               {"fit by bytes", true},
               {"as allocated", false, true}},
              {}};
  for (std::size_t i = 0; i < made.pipelinings.size(); ++i) {
    const auto& one = made.pipelinings[i];
    const auto& occupancy = one.occupancy;
    const auto allocated = occupancy.blocks == 0 ? "none: limited by " + occupancy.limited_by
                                                 : fmt::format("{}, {}", plural(occupancy.blocks, "block"),
                                                               plural(occupancy.warps, "warp"));
    table.rows.push_back({i == made.chosen && one.runs ? "*" : "", std::string(words(one.overlap)),
                          one.runs ? lasting(one.step_s) : "-", one.runs ? share(one.utilization, 1) : "-",
                          std::to_string(occupancy.registers_per_thread), held(static_cast<double>(one.shared_bytes)),
                          counted_workers(occupancy.warpgroups, made), allocated});
  }
  return table;
}

bool by_warpgroups(const Pipelining& pipelining) {
  return std::ranges::any_of(pipelining.timeline, [](const auto& event) { return event.warpgroup > 0; });
}

Table timeline_table(const Pipelining& pipelining) {
  Table table{{{"operation"}, {"on"}, {"from", true}, {"to", true}}, {}};
  const bool warpgroups = by_warpgroups(pipelining);
  if (warpgroups) table.columns.insert(table.columns.begin(), {"warpgroup"});
  for (const auto& event : pipelining.timeline) {
    table.rows.push_back({event.column, std::string(name(event.on)), lasting(event.begin_s), lasting(event.end_s)});
    if (!warpgroups) continue;
    auto& row = table.rows.back();
    row.insert(row.begin(), event.on == Resource::copy ? "all" : std::to_string(event.warpgroup + 1));
  }
  return table;
}

std::string bandwidth_text(const BandwidthCheck& check, const std::string& axis) {
  auto text =
      fmt::format("with {} rows of {} on a core, an iteration computes for {} and loads for {}: at most {}", check.rows,
                  axis, lasting(check.step_s), lasting(check.transfer_s), rate(check.operations_per_s, "FLOP/s"));
  if (check.least_rows) text += fmt::format("; computing is the bound from {} rows on", ratio(*check.least_rows));
  return text;
}

Table neighbour_table(const Configuration& made) {
  const auto percent = [](double faster) { return fmt::format("{:+.0f} %", 100 * (faster - 1)); };
  Table table{{{"tile"}, {"launch", true}, {"per operation", true}, {"bound by"}, {"overlap"}}, {}};
  for (const auto& one : made.neighbours)
    table.rows.push_back({fmt::format("{} {}", piece_words(made.neighbours, one), one.size),
                          one.runs && one.time_s && made.launch ? percent(made.launch->time_s / *one.time_s) : "",
                          one.runs ? percent(one.times_as_fast) : "does not run",
                          one.runs ? std::string(name(one.bound)) : "",
                          one.runs ? std::string(words(one.overlap)) : ""});
  return table;
}

Table cluster_table(const Configuration& made) {
  Table table{{{""}, {"blocks"}, {"loads of an iteration", true}, {"against alone", true}}, {}};
  for (const auto& one : made.clusters)
    table.rows.push_back(
        {one.chosen ? "*" : "", one.axis.empty() ? "alone" : fmt::format("{} along {}", one.blocks, one.axis),
         lasting(one.copy_s), fmt::format("{:+.1f} %", 100 * (one.copy_s / made.clusters[0].copy_s - 1))});
  return table;
}

// Lists the written order, and the best one if it is better: groups in another order, or blocks visited in bands.
Table raster_table(const Configuration& made) {
  Table table{{{"order, last axis fastest"}, {"DRAM per iteration", true}, {"saved", true}}, {}};
  if (made.rasters.empty()) return table;
  const auto& written = made.rasters.front();
  const auto best = std::ranges::min_element(made.rasters, {}, &Raster::step_bytes);
  table.rows.push_back({written.order + ", as written", moved(written.step_bytes), ""});
  if (best->step_bytes < written.step_bytes * (1 - 1e-9))
    table.rows.push_back({best->order + ", best", moved(best->step_bytes),
                          share(written.step_bytes - best->step_bytes, written.step_bytes)});
  return table;
}

void add(Document& document, const char* title, Table table) {
  if (table.rows.empty()) return;
  document.blocks.push_back(Heading{3, title, ""});
  document.blocks.push_back(std::move(table));
}

}  // namespace

void add_configuration(Document& document, const Configuration& made) {
  add(document, "Configuration of a block", summary(made));
  add(document, "Operations of one iteration", column_table(made));
  add(document, "Clocks of one iteration of a block", clock_table(made));
  add(document, "Overlap", pipelining_table(made));
  const auto& chosen = made.pipelinings[made.chosen];
  add(document, by_warpgroups(chosen) ? "One iteration in ping-pong" : "One iteration of one warpgroup",
      timeline_table(chosen));
  if (made.bandwidth) {
    document.blocks.push_back(Heading{3, "Bandwidth", ""});
    document.blocks.push_back(Paragraph{bandwidth_text(*made.bandwidth, made.row_axis)});
  }
  add(document, "Clusters that multicast their tiles", cluster_table(made));
  add(document, "Rasterization: the order of the blocks", raster_table(made));
  add(document, "Other tile sizes, and how much faster they are", neighbour_table(made));
}

void add_launch(Document& document, const Launch& launch) {
  const auto turns = launch.turns > 1 ? fmt::format(" in {} turns", launch.turns) : "";
  const auto where = fmt::format("{} on {}{}, {} at once on each: {}, the last {} full", plural(launch.blocks, "block"),
                                 plural(launch.cores, "core"), turns, launch.blocks_per_core,
                                 plural(launch.waves, "wave"), share(launch.last_wave_busy, 1));
  Table table{{{"", false, true}, {"time", true}, {"of the launch", true}}, {}};
  for (const auto& line : lines(launch))
    table.rows.push_back({line.what, lasting(line.seconds), share(line.seconds, launch.time_s)});
  table.rows.push_back({"the launch as configured", lasting(launch.time_s), "100 %"});
  document.blocks.push_back(Heading{3, "Where the time of the launch goes", ""});
  document.blocks.push_back(Paragraph{where});
  document.blocks.push_back(std::move(table));
}

}  // namespace napkin::report
