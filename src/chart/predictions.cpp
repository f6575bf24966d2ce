// Predicted over published times: a strip for each group of kernels, with short kernels on the left and long ones on
// the right.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double names_width = 270, plot_width = 560, between_ticks = 30, apart = 14;
// Points of later series are smaller, so that the few kernels in sight remain visible under the many held-out ones.
constexpr std::size_t in_sight = 1, held_out = 2;

double ratio(const Predicted& one) { return one.predicted_s / one.published_s; }
std::string times(double ratio) { return fmt::format("{:g}", ratio); }

std::vector<std::string> groups(std::span<const Predicted> all) {
  std::vector<std::string> made;
  for (const auto& one : all)
    if (std::ranges::find(made, one.group) == made.end()) made.push_back(one.group);
  return made;
}

void draw(Sheet& sheet, const Predicted& one, const Scale& across, const Scale& up) {
  const auto about =
      fmt::format("{}: published {}, predicted {}", one.group, lasting(one.published_s), lasting(one.predicted_s));
  sheet.add(MarkKind::point, Line{{{across.at(one.published_s), up.at(ratio(one))}}},
            {one.held_out ? held_out : in_sight, "", about});
}

void draw(Sheet& sheet, std::span<const Predicted> all, const std::string& group, const Scale& across, Scale up) {
  const double height = between_ticks * static_cast<double>(up.ticks().size() - 1);
  up.begin = sheet.y + height, up.end = sheet.y;
  for (const auto tick : up.ticks()) {
    sheet.add(MarkKind::grid, Line{{{across.begin, up.at(tick)}, {across.end, up.at(tick)}}});
    sheet.write(MarkKind::tick, {across.begin - 8, up.at(tick)}, Anchor::end, times(tick));
  }
  sheet.add(MarkKind::limit, Line{{{across.begin, up.at(1)}, {across.end, up.at(1)}}}, {{}, "", "as published"});
  sheet.write(MarkKind::label, {margin, up.at(1)}, Anchor::start, group, names_width - 40);
  for (const auto& one : all)
    if (one.group == group) draw(sheet, one, across, up);
  sheet.y += height + apart;
}

void legend(Sheet& sheet) {
  for (const auto& [series, words] :
       {std::pair(in_sight, "seen when rules and constants were chosen"), std::pair(held_out, "held out")}) {
    sheet.add(MarkKind::point, Line{{{margin + 6, sheet.y}}}, {series, "", ""});
    sheet.write(MarkKind::label, {margin + 18, sheet.y}, Anchor::start, words);
    sheet.y += line_height;
  }
}

}  // namespace

Chart predictions(std::span<const Predicted> all) {
  Data data{{"group", "published_s", "predicted_s", "held_out"}, {}};
  double shortest = 1e300, longest = 0, least = 0.5, most = 2;
  for (const auto& one : all) {
    data.rows.push_back({one.group, one.published_s, one.predicted_s, std::string(one.held_out ? "yes" : "no")});
    shortest = std::min(shortest, one.published_s), longest = std::max(longest, one.published_s);
    least = std::min(least, ratio(one)), most = std::max(most, ratio(one));
  }
  Sheet sheet("predicted over published time", 900);
  sheet.note(
      "A point is a kernel at one size. On the heavy line the prediction is the published time; at 2 it is twice "
      "that.");
  sheet.y += line_height;
  const auto across = decades(shortest, longest, margin + names_width, margin + names_width + plot_width);
  const double top = sheet.y;
  for (const auto& group : groups(all)) draw(sheet, all, group, across, doublings(least, most, 0, 0));
  sheet.axis_below(across, top, sheet.y, lasting, "published time");
  sheet.y += 56;
  legend(sheet);
  return sheet.end("predictions", std::move(data));
}

}  // namespace napkin::chart
