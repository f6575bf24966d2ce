// What twice as much of everything on the machine would gain.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double names_width = 240, bars_width = 480, bar_height = 14, row_height = 24;

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
  sheet.head("how much faster the plan is where there is twice as much, split anew for it");
  double most = 0.1;
  for (const auto& one : all) most = std::max({most, gain(now, one.time_s), gain(now, one.time_kept_s)});
  const auto scale = from_zero(most, margin + names_width, margin + names_width + bars_width);
  const double top = sheet.y, bottom = top + row_height * static_cast<double>(all.size());
  sheet.axis_below(scale, top, bottom, percent, "faster");
  for (const auto& one : all) {
    const auto seconds = [](std::optional<double> time) { return time ? Cell(*time) : Cell(std::string()); };
    data.rows.push_back({one.what, seconds(one.time_s), seconds(one.time_kept_s), one.bound_by,
                         std::string(one.proven ? "yes" : "no")});
    const double y = sheet.y + row_height / 2, anew = std::max(0.0, gain(now, one.time_s));
    const double kept = std::max(0.0, gain(now, one.time_kept_s));
    sheet.write(MarkKind::label, {scale.begin - 8, y}, Anchor::end, one.what, names_width - 8);
    const auto words = (anew < 5e-4 ? "no faster" : percent(anew)) + (one.proven ? "" : " ?");
    sheet.add(MarkKind::bar, Area{scale.begin, y - bar_height / 2, scale.at(anew) - scale.begin, bar_height},
              {0, "", fmt::format("twice the {}: {}", one.what, words)});
    if (kept >= 5e-4)
      sheet.add(MarkKind::limit, Line{{{scale.at(kept), y - 10}, {scale.at(kept), y + 10}}},
                {{}, "", "as split now: " + percent(kept)});
    sheet.write(
        MarkKind::label, {scale.at(std::max(anew, kept)) + 8, y}, Anchor::start,
        fmt::format("{}{}", words, one.bound_by.empty() || anew < 5e-4 ? "" : ", then bound by " + one.bound_by));
    sheet.y += row_height;
  }
  sheet.y = bottom + 52;
  sheet.note("a tick: with the pieces of this machine");
  if (!std::ranges::all_of(all, &Improvement::proven)) sheet.note("?: the best found, not proven");
  return sheet.end("machine", std::move(data));
}

}  // namespace napkin::chart
