// Turns costs into rows of words.
#include "report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

const std::string& level_name(const Analysis& analysis, std::size_t level) {
  return analysis.hardware.levels[level].name;
}

std::string plural(std::int64_t count, const std::string& unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

// For example "32 blocks" or "8 warps in each, 256 in all"; with a configuration "2 tiles in each, .., by 8 warps".
std::string groups_text(const Analysis& analysis, const LevelCost& cost, const Configuration* configured) {
  const auto& unit = analysis.hardware.levels[cost.level].unit;
  if (cost.together > 1) return fmt::format("{} together hold each", plural(cost.together, unit));
  if (cost.groups == cost.groups_per_parent) return plural(cost.groups, unit);
  if (configured)
    return fmt::format("{} in each, {} in all, by {}", plural(cost.groups_per_parent, "tile"), cost.groups,
                       plural(configured->warpgroups * configured->warpgroup_warps, "warp"));
  return fmt::format("{} in each, {} in all", plural(cost.groups_per_parent, unit), cost.groups);
}

std::string splits_text(const Kernel& kernel, std::size_t level) {
  std::vector<std::string> words;
  for (const auto& split : kernel.partition.splits) {
    if (split.level != level) continue;
    words.push_back(fmt::format("{} {} {}", split.kind == SplitKind::group ? "group" : "stream",
                                wire_name(*kernel.derivation, split.wire), split.size));
  }
  return words.empty() ? "whole" : join(words);
}

// The memory of a level, in the unit of its capacity.
struct Memory {
  double exact, ideal;
  std::string (*words)(double);
};
Memory memory_of(const Hardware& hardware, const LevelCost& cost) {
  if (hardware.levels[cost.level].in_values) {
    return {static_cast<double>(cost.memory_values), static_cast<double>(cost.ideal_memory_values), counted};
  }
  return {static_cast<double>(cost.memory_bytes), static_cast<double>(cost.ideal_memory_bytes), held};
}

bool counts_values(const Analysis& analysis) {
  const auto& levels = analysis.hardware.levels;
  return std::any_of(levels.begin(), levels.end(), [](const Level& level) { return level.in_values; });
}

// For example "f16", or "f8e4m3 → f16" for a tile that is widened there.
std::string format_text(const HeldArray& array) {
  const auto here = std::string(row(array.type).name);
  return array.type == array.stored ? here : fmt::format("{} → {}", row(array.stored).name, here);
}

std::string times_text(const ArrayCost& array) {
  const auto* how = array.saved ? "written" : "read";
  return array.times == 1 ? fmt::format("{} once", how) : fmt::format("{} {} times", how, ratio(array.times));
}

}  // namespace

Table partition_table(const Analysis& analysis, std::size_t kernel, const Candidate& candidate,
                      const Configuration* configured) {
  Table table{{{""}, {"", false, true}, {""}, {""}}, {}};
  for (const auto& cost : candidate.cost.levels) {
    const auto completed = analysis.by_hand ? analysis.completed_levels.at(kernel) : std::vector<std::size_t>{};
    const bool searched = std::find(completed.begin(), completed.end(), cost.level) != completed.end();
    table.rows.push_back({level_name(analysis, cost.level), splits_text(candidate.kernel, cost.level),
                          groups_text(analysis, cost, configured), searched ? "by the search" : ""});
  }
  return table;
}

Table level_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{"level"},
               {"from"},
               {"moved", true},
               {"values", true},
               {counts_values(analysis) ? "values held" : "memory", true},
               {"ideal", true},
               {"capacity", true},
               {"used"},
               {"at peak", true},
               {"time", true}},
              {}};
  for (const auto& level : cost.levels) {
    const auto memory = memory_of(analysis.hardware, level);
    const double used = analysis.goal.model == Model::ideal ? memory.ideal : memory.exact;
    const double room = level.capacity.value_or(0);
    table.rows.push_back({level_name(analysis, level.level), level_name(analysis, level.level - 1),
                          moved(static_cast<double>(level.transfer_bytes)),
                          counted(static_cast<double>(level.transfer_values)), memory.words(memory.exact),
                          memory.words(memory.ideal), level.capacity ? memory.words(room) : "-",
                          level.capacity ? bar(used, room) + " " + share(used, room) : "-", lasting(level.ideal_time_s),
                          lasting(level.time_s)});
  }
  return table;
}

std::string level_words(const Analysis& analysis, const KernelCost& cost, const Configuration* configured) {
  if (!configured || analysis.goal.model == Model::ideal) return "";
  const auto core = *analysis.hardware.core;
  const auto& chosen = configured->pipelinings[configured->chosen];
  auto text = fmt::format("{}: the memory counts one copy of each tile; the launch takes {}, for {}",
                          level_name(analysis, core), held(static_cast<double>(chosen.shared_bytes)),
                          plural(chosen.stages, "stage"));
  if (!analysis.hardware.caches.empty())
    text += fmt::format(". What it moves comes through {}, which `at peak` leaves out",
                        analysis.hardware.caches.front().name);
  if (core < cost.levels.size())
    text += fmt::format(
        ". {}: the table counts what each warp reads by itself; instructions read for several warps at once",
        level_name(analysis, core + 1));
  return text;
}

Table held_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{""}, {"", false, true}}, {}};
  for (const auto& level : cost.levels) {
    std::vector<std::string> words;
    const bool in_values = analysis.hardware.levels[level.level].in_values;
    for (const auto& array : level.held) {
      const auto size = in_values ? counted(static_cast<double>(array.values)) : held(static_cast<double>(array.bytes));
      words.push_back(in_values ? array.array + " " + size
                                : fmt::format("{} {} {}", array.array, format_text(array), size));
    }
    if (!words.empty()) table.rows.push_back({level_name(analysis, level.level), join(words)});
  }
  return table;
}

Table array_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{"between"}, {"array"}, {"format"}, {"moved", true}, {"values", true}, {""}}, {}};
  for (const auto& level : cost.levels) {
    auto between = level_name(analysis, level.level - 1) + ", " + level_name(analysis, level.level);
    for (const auto& array : level.arrays) {
      table.rows.push_back({std::exchange(between, ""), array.array, std::string(row(array.type).name),
                            moved(static_cast<double>(array.transfer_bytes)),
                            counted(static_cast<double>(array.transfer_values)), times_text(array)});
    }
  }
  return table;
}

Table sector_table(const Analysis& analysis, const KernelCost& cost) {
  constexpr double worth_saying = 1.01;
  Table table{{{""}, {"", false, true}}, {}};
  for (const auto& level : cost.levels) {
    const auto wanted = static_cast<double>(level.transfer_bytes);
    const auto whole = static_cast<double>(level.sector_bytes.value_or(0));
    if (whole <= wanted * worth_saying) continue;
    const auto& sector = *analysis.hardware.levels[level.level].sector;
    table.rows.push_back(
        {level_name(analysis, level.level),
         fmt::format("{} move in whole sectors of {}, {} times the bytes of the tiles, because tiles are narrow",
                     moved(whole), held(sector.value), ratio(whole / wanted))});
  }
  return table;
}

Table mask_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{""}, {""}, {"", false, true}}, {}};
  for (const auto& mask : cost.masks) {
    const auto part = share(static_cast<double>(mask.run), static_cast<double>(mask.all));
    table.rows.push_back(
        {level_name(analysis, mask.level), "stream " + mask.axis,
         fmt::format("{} of {} tiles ({}) are loaded and computed{}: those with {} somewhere", mask.run, mask.all, part,
                     mask.expected ? ", the mean for random entries" : "", fmt::join(mask.conditions, " and "))});
  }
  return table;
}

Table unit_table(const KernelCost& cost) {
  Table table{{{"unit"}, {"operations", true}, {"at peak", true}, {"time", true}, {"of the time", true}}, {}};
  for (const auto& unit : cost.units) {
    const bool both = unit.time_s && cost.time_s;
    table.rows.push_back({std::string(name(unit.unit)), counted(unit.operations), lasting(unit.ideal_time_s),
                          lasting(unit.time_s), both ? share(*unit.time_s, *cost.time_s) : "-"});
  }
  return table;
}

Table ranking_table(const Analysis& analysis, const std::vector<Candidate>& best) {
  Table table{
      {{"#", true}, {"time", true}, {"moved", true}, {"memory", true}, {"bound by"}, {"partition", false, true}}, {}};
  for (std::size_t i = 0; i < best.size(); ++i) {
    const auto& [kernel, cost] = best[i];
    const auto* level = cost.levels.empty() ? nullptr : &cost.levels.front();
    const auto memory = level ? memory_of(analysis.hardware, *level) : Memory{0, 0, held};
    table.rows.push_back({std::to_string(i + 1), lasting(cost.time_s),
                          level ? moved(static_cast<double>(level->transfer_bytes)) : "-", memory.words(memory.exact),
                          bound_text(cost.bound_by, cost.bound_from),
                          napkin::to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware)});
  }
  return table;
}

std::string power_text(double watts, const Hardware& hardware) {
  const auto& limit = hardware.power_limit_watts;
  if (!limit || watts <= limit->value)
    return fmt::format("{:.0f} W on average{}", watts,
                       limit ? fmt::format(", below the limit of {:.0f} W", limit->value) : std::string());
  return fmt::format(
      "at most the limit of {0:.0f} W on average: the profile's energies add up to {1:.2f} times as much; only the "
      "sustained rates account for the lower clock",
      limit->value, watts / limit->value);
}

Table totals_table(const Analysis& analysis) {
  const auto all = totals(analysis);
  Table table{{{""}, {""}}, {{"operations", counted(all.operations)}}};
  for (const auto& [level, bytes] : all.transfer_bytes) {
    table.rows.push_back({"moved at " + level, moved(static_cast<double>(bytes))});
  }
  if (all.time_s) table.rows.push_back({"time", lasting(all.time_s)});
  if (all.ideal_time_s) table.rows.push_back({"at datasheet rates", lasting(all.ideal_time_s)});
  if (all.energy_j) table.rows.push_back({"energy", energy(*all.energy_j)});
  if (const auto watts = all.power_w()) table.rows.push_back({"power", power_text(*watts, analysis.hardware)});
  return table;
}

std::string shape_text(const Analysis& analysis, const Kernel& kernel) {
  std::vector<std::string> words;
  const auto& splits = kernel.partition.splits;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const bool group = splits[i].kind == SplitKind::group;
    const auto wire = wire_name(*kernel.derivation, splits[i].wire);
    const bool last = i + 1 == splits.size() || splits[i + 1].level != splits[i].level;
    words.push_back(fmt::format("{} {} {}_{}{}", group ? "group" : "stream", wire, group ? "g" : "s", wire,
                                last ? " at " + level_name(analysis, splits[i].level) : ""));
  }
  return words.empty() ? "everything whole" : join(words);
}

}  // namespace napkin::report
