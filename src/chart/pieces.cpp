// The time around the chosen tile: one cell for each other tile.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double names_width = 150, cell_width = 78, cell_height = 26;

// Steps of the shade, as multiples of the least time.
constexpr double steps[] = {1.02, 1.05, 1.1, 1.2, 1.5, 2, 3};
std::size_t shade(double times) {
  return static_cast<std::size_t>(std::ranges::upper_bound(steps, times) - std::begin(steps));
}

double least(const Terrain& terrain) {
  double all = 1e300;
  for (const auto& row : terrain.time_s)
    for (const auto& time : row) all = std::min(all, time.value_or(all));
  return all;
}

// The label of one size. If both sides split one axis, it also tells group and stream apart.
std::string side(const Terrain& terrain, const Terrain::Side& one, std::size_t index, double room) {
  const bool both = terrain.up && terrain.up->axis == terrain.across.axis;
  const auto kind = !both ? "" : one.kind == SplitKind::group ? "g_" : "s_";
  return fmt::format("{}{} {}", kind, elided(one.axis, room - 40), one.sizes[index]);
}

void draw_cell(Sheet& sheet, const Area& area, std::optional<double> time, double best, const std::string& about) {
  const Point middle{area.x + area.width / 2, area.y + area.height / 2};
  if (!time) {
    sheet.hatch(area);
    return;
  }
  sheet.add(MarkKind::cell, area, {shade(*time / best), "", about + ": " + lasting(*time)});
  sheet.write(MarkKind::label, middle, Anchor::middle, fmt::format("{:.2f}", *time / best));
}

void draw(Sheet& sheet, const Terrain& terrain) {
  const double left = margin + names_width, top = sheet.y + 20, best = least(terrain);
  for (std::size_t i = 0; i < terrain.across.sizes.size(); ++i)
    sheet.write(MarkKind::tick, {left + cell_width * (static_cast<double>(i) + 0.5), sheet.y + 8}, Anchor::middle,
                side(terrain, terrain.across, i, cell_width));
  for (std::size_t row = 0; row < terrain.time_s.size(); ++row) {
    const double y = top + cell_height * static_cast<double>(row);
    if (terrain.up)
      sheet.write(MarkKind::tick, {left - 8, y + cell_height / 2}, Anchor::end,
                  side(terrain, *terrain.up, row, names_width));
    for (std::size_t column = 0; column < terrain.across.sizes.size(); ++column) {
      const Area area{left + cell_width * static_cast<double>(column), y, cell_width - 2, cell_height - 2};
      auto about = side(terrain, terrain.across, column, 1e9);
      if (terrain.up) about += ", " + side(terrain, *terrain.up, row, 1e9);
      draw_cell(sheet, area, terrain.time_s[row][column], best, about);
      const bool chosen = column == terrain.across.chosen && (!terrain.up || row == terrain.up->chosen);
      if (chosen) sheet.add(MarkKind::limit, area, {{}, "", "chosen"});
    }
  }
  sheet.y = top + cell_height * static_cast<double>(terrain.time_s.size()) + 16;
}

}  // namespace

std::optional<Chart> pieces(const Charted& charted) {
  Data data{{"kernel", "across", "across_size", "up", "up_size", "time_s"}, {}};
  Sheet sheet("time by tile sizes of " + charted.title);
  for (const auto& one : charted.kernels) {
    if (!one.explored || !one.explored->pieces || least(*one.explored->pieces) > 1e299) continue;
    const auto& terrain = *one.explored->pieces;
    for (std::size_t row = 0; row < terrain.time_s.size(); ++row)
      for (std::size_t column = 0; column < terrain.across.sizes.size(); ++column) {
        const auto& time = terrain.time_s[row][column];
        data.rows.push_back({kernel_name(one), terrain.across.axis, static_cast<double>(terrain.across.sizes[column]),
                             terrain.up ? terrain.up->axis : std::string(),
                             terrain.up ? Cell(static_cast<double>(terrain.up->sizes[row])) : Cell(std::string()),
                             time ? Cell(*time) : Cell(std::string())});
      }
    sheet.head(
        fmt::format("kernel {}: time divided by the least in this map, {}", kernel_name(one), lasting(least(terrain))));
    draw(sheet, terrain);
    sheet.note("The frame marks the chosen tile. A hatched tile does not fit or cannot run.");
  }
  if (data.rows.empty()) return std::nullopt;
  return sheet.end("pieces", std::move(data));
}

}  // namespace napkin::chart
