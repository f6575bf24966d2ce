// The gain from doubling each resource of the machine.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double bars_width = 600, bar_height = 12, row_height = 36;

double gain(double now, std::optional<double> then) { return then ? now / *then - 1 : 0; }
std::string percent(double gain) {
  return gain < 0.0995 ? fmt::format("{:.2g} %", 100 * gain) : fmt::format("{:.0f} %", 100 * gain);
}

}  // namespace

std::optional<Chart> machine(const Charted& charted) {
  if (!charted.sensitivity || !charted.sensitivity->time_s) return std::nullopt;
  const double now = *charted.sensitivity->time_s;
  const auto& all = charted.sensitivity->improvements;
  if (all.empty()) return std::nullopt;
  Data data{{"twice_the", "time_s", "time_as_split_now_s", "bound_by", "proven"}, {}};
  Sheet sheet("larger and faster machines for " + charted.title);
  sheet.head("how much faster the plan is with twice as much of it, tiled anew");
  double most = 0.1;
  for (const auto& one : all) most = std::max({most, gain(now, one.time_s), gain(now, one.time_kept_s)});
  const auto scale = from_zero(most, margin, margin + bars_width);
  const double top = sheet.y, bottom = top + row_height * static_cast<double>(all.size());
  sheet.axis_below(scale, top, bottom, percent, "faster");
  for (const auto& one : all) {
    const auto seconds = [](std::optional<double> time) { return time ? Cell(*time) : Cell(std::string()); };
    data.rows.push_back({one.what, seconds(one.time_s), seconds(one.time_kept_s), one.bound_by,
                         std::string(one.proven ? "yes" : "no")});
    const double y = sheet.y + row_height - bar_height / 2 - 4, anew = std::max(0.0, gain(now, one.time_s));
    const double kept = std::max(0.0, gain(now, one.time_kept_s));
    const auto words = (anew < 5e-4 ? "no faster" : percent(anew)) + (one.proven ? "" : " ?");
    sheet.add(MarkKind::bar, Area{scale.begin, y - bar_height / 2, scale.at(anew) - scale.begin, bar_height},
              {series_of_results, "", fmt::format("twice the {}: {}", one.what, words)});
    if (kept >= 5e-4)
      sheet.add(MarkKind::limit, Line{{{scale.at(kept), y - 10}, {scale.at(kept), y + 10}}},
                {{}, "", "with the same tiles: " + percent(kept)});
    sheet.write(MarkKind::label, {scale.begin + 4, y - 16}, Anchor::start,
                fmt::format("{}: {}{}", one.what, words,
                            one.bound_by.empty() || anew < 5e-4 ? "" : ", then bound by " + one.bound_by),
                bars_width - 8);
    sheet.y += row_height;
  }
  sheet.y = bottom + 52;
  sheet.note("A tick is the gain with the same tiles.");
  if (!std::ranges::all_of(all, &Improvement::proven)) sheet.note("? marks the best found, which is not proven.");
  return sheet.end("machine", std::move(data));
}

}  // namespace napkin::chart
