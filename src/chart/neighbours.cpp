// The speed of a kernel with another tile size, relative to the chosen tile.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"

namespace napkin::chart {
namespace {

constexpr double bars_width = 600, bar_height = 12, row_height = 36;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string words(const Neighbour& one, double fast) {
  if (!one.runs) return "does not run";
  return fmt::format("{}, bound by {}", percent(fast), name(one.bound));
}

// The speed of the launch if its time is known, else that of one iteration per operation.
double speed(const Configuration& made, const Neighbour& one) {
  return made.launch && one.time_s ? made.launch->time_s / *one.time_s : one.times_as_fast;
}

void draw(Sheet& sheet, const Configuration& made, const Neighbour& one, const Scale& scale) {
  const double fast = speed(made, one), y = sheet.y + row_height - bar_height / 2 - 4,
               end = one.runs ? scale.at(fast) : scale.begin;
  const auto piece = fmt::format("{} {}", elided(one.axis, 120), one.size);
  sheet.write(MarkKind::label, {scale.begin + 4, y - 16}, Anchor::start, piece + ": " + words(one, fast),
              bars_width - 8);
  if (one.runs)
    sheet.add(MarkKind::bar, Area{scale.begin, y - bar_height / 2, end - scale.begin, bar_height},
              {fast < 1 ? series_of_losses : series_of_results, "", piece + ": " + words(one, fast)});
  const double tick = scale.at(one.times_as_fast);
  if (one.runs)
    sheet.add(MarkKind::limit, Line{{{tick, y - 10}, {tick, y + 10}}},
              {{}, "", "per operation " + percent(one.times_as_fast)});
  sheet.y += row_height;
}

void draw(Sheet& sheet, const ChartedKernel& one, double fastest) {
  const auto& all = one.configuration->neighbours;
  sheet.head(fmt::format("kernel {}: speed relative to the chosen tile (tick: of an iteration, per operation)",
                         kernel_name(one)));
  const auto scale = from_zero(fastest, margin, margin + bars_width);
  const double top = sheet.y, bottom = top + row_height * static_cast<double>(all.size());
  sheet.axis_below(scale, top, bottom, percent, "of the speed with the chosen tile");
  for (const auto& neighbour : all) draw(sheet, *one.configuration, neighbour, scale);
  sheet.add(MarkKind::limit, Line{{{scale.at(1), top}, {scale.at(1), bottom}}}, {{}, "", "the chosen tile"});
  sheet.y = bottom + 52;
}

}  // namespace

std::optional<Chart> neighbours(const Charted& charted) {
  Data data{{"kernel", "axis", "size", "runs", "times_as_fast", "times_as_fast_an_operation", "bound"}, {}};
  double fastest = 1;
  for (const auto& one : charted.kernels)
    for (const auto& next : one.configuration ? one.configuration->neighbours : std::vector<Neighbour>()) {
      const double fast = speed(*one.configuration, next);
      if (next.runs) fastest = std::max({fastest, next.times_as_fast, fast});
      data.rows.push_back({kernel_name(one), next.axis, static_cast<double>(next.size),
                           std::string(next.runs ? "yes" : "no"), fast, next.times_as_fast,
                           std::string(name(next.bound))});
    }
  if (data.rows.empty()) return std::nullopt;
  Sheet sheet("other tile sizes of " + charted.title);
  for (const auto& one : charted.kernels)
    if (one.configuration && !one.configuration->neighbours.empty()) draw(sheet, one, fastest);
  return sheet.end("neighbours", std::move(data));
}

}  // namespace napkin::chart
