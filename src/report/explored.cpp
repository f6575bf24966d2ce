// Sections of a report on the explored surroundings: trades within twice the least time, a curve over doubled
// capacities, the time with other tiles, and other machines.
#include "report/explored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

constexpr double times_as_long = 2;  // the limit relative to the fastest; slower trades are omitted

void add(Document& made, const std::string& title, Table table, const std::string& words) {
  if (table.rows.empty()) return;
  made.blocks.push_back(Heading{3, title, ""});
  made.blocks.push_back(std::move(table));
  if (!words.empty()) made.blocks.push_back(Paragraph{words});
}

std::string partition_text(const Kernel& kernel, const Hardware& hardware) {
  const auto text = to_text(kernel.partition, kernel.derivation->scratch, hardware);
  return text.empty() ? "everything whole" : text;
}

std::string amount(double number, bool in_values, bool of_memory) {
  return in_values ? counted(number) : of_memory ? held(number) : moved(number);
}

Table front_table(const Front& front, const Hardware& hardware) {
  const auto& name = hardware.levels[front.level].name;
  const bool in_values = hardware.levels[front.level].in_values;
  Table table{{{"time", true}, {"moved to " + name, true}, {"in " + name, true}, {"partition", false, true}}, {}};
  double least = 0;
  for (const auto& one : front.candidates) {
    const auto& level = one.cost.levels[front.level - 1];
    if (least == 0) least = one.cost.time_s.value_or(0);
    if (one.cost.time_s && *one.cost.time_s > least * times_as_long) break;
    const auto bytes = [&](std::int64_t in_bytes, std::int64_t values) {
      return static_cast<double>(in_values ? values : in_bytes);
    };
    table.rows.push_back({lasting(one.cost.time_s),
                          amount(bytes(level.transfer_bytes, level.transfer_values), in_values, false),
                          amount(bytes(level.memory_bytes, level.memory_values), in_values, true),
                          partition_text(one.kernel, hardware)});
  }
  return table;
}

std::string front_words(const Front& front, std::size_t shown) {
  auto text = fmt::format(
      "no partition is more than {:.0f} % better than one of these {} in time, transfers and memory at once",
      100 * front.tolerance, front.candidates.size());
  if (front.candidates.size() > shown)
    text += fmt::format("; the table shows the {} that take at most twice the least time", shown);
  return text + (front.complete ? "" : "; this is not proven, because the search gave up");
}

Table rooms_table(const Curve& curve) {
  const auto& level = curve.level();
  Table table{{{"capacity", true}, {"moved", true}, {"at least", true}, {"times", true}, {"partition", false, true}},
              {}};
  double next = 0;
  for (const auto& point : curve.points) {
    const bool here = point.room == curve.room_here, last = &point == &curve.points.back();
    if (point.room < next && !here && !last) continue;
    if (!here) next = point.room * 1.99;
    table.rows.push_back({amount(point.room, level.in_values, true) + (here ? " *" : ""),
                          amount(point.moved, level.in_values, false) + (point.proven ? "" : " ?"),
                          amount(point.bound.moved, level.in_values, false), ratio(point.moved / point.bound.moved),
                          partition_text(point.kernel, curve.hardware)});
  }
  return table;
}

std::string rooms_words(const Curve& curve) {
  std::vector<std::string> reasons;
  for (const auto& point : curve.points)
    if (std::ranges::find(reasons, point.bound.why) == reasons.end()) reasons.push_back(point.bound.why);
  auto text =
      fmt::format("one {} alone, with {}; * marks the capacity of this machine; at least: {}", curve.level().name,
                  curve.whole_tiles ? "tiles that instructions fill, because of the masks" : "tiles of any size",
                  fmt::join(reasons, ", or "));
  const bool unproven = std::ranges::any_of(curve.points, [](const CurvePoint& point) { return !point.proven; });
  return unproven ? text + "; ? marks the best found, not proven" : text;
}

std::string side_words(const Terrain::Side& side, std::size_t index) {
  return fmt::format("{} {}{}", side.axis, side.sizes[index], index == side.chosen ? " *" : "");
}

Table pieces_table(const Terrain& terrain) {
  Table table{{{terrain.up ? "" : "time"}}, {}};
  for (std::size_t i = 0; i < terrain.across.sizes.size(); ++i)
    table.columns.push_back({side_words(terrain.across, i), true});
  for (std::size_t row = 0; row < terrain.time_s.size(); ++row) {
    std::vector<std::string> cells{terrain.up ? side_words(*terrain.up, row) : ""};
    for (const auto& time : terrain.time_s[row]) cells.push_back(lasting(time));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string gain(std::optional<double> now, std::optional<double> then) {
  if (!now || !then) return "-";
  const double percent = 100 * (*now / *then - 1);
  return percent < 0.05 ? "-" : fmt::format("{:+.1f} %", percent);
}

}  // namespace

void add_explored(Document& made, const Explored::OfKernel& explored, const Hardware& hardware) {
  auto trades = front_table(explored.front, hardware);
  const auto shown = trades.rows.size();
  add(made, "Trades between time, transfers and memory", std::move(trades), front_words(explored.front, shown));
  if (!explored.rooms.points.empty())
    add(made, "Transfers by capacity", rooms_table(explored.rooms), rooms_words(explored.rooms));
  if (explored.pieces)
    add(made, "The time with other tile sizes", pieces_table(*explored.pieces),
        "* marks the chosen size; - means that it does not fit or cannot run");
}

void add_sensitivity(Document& made, const Sensitivity& sensitivity) {
  const bool all_proven = std::ranges::all_of(sensitivity.improvements, &Improvement::proven);
  Table table{{{"twice the"}, {"time", true}, {"faster", true}, {"same tiles", true}, {"bound by"}}, {}};
  for (const auto& one : sensitivity.improvements)
    table.rows.push_back({one.what, lasting(one.time_s) + (one.proven ? "" : " ?"),
                          gain(sensitivity.time_s, one.time_s), gain(sensitivity.time_s, one.time_kept_s),
                          bound_text(one.bound_by, one.bound_from)});
  add(made, "What a larger or faster machine would gain", std::move(table),
      fmt::format("each kernel is tiled anew for that machine, with the same fusion{}",
                  all_proven ? "" : "; ? marks the best found, not proven"));
}

}  // namespace napkin::report
