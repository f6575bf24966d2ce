// The least transfers for every capacity of a memory, above the lower bound for any program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double plot_width = 560, plot_height = 320, legend_width = 600;

class Rooms {
 public:
  Rooms(Sheet& sheet, const Curve& curve) : sheet_(sheet), curve_(curve) {
    double low = 1e300, high = 0;
    for (const auto& point : curve.points)
      low = std::min({low, point.moved, point.bound.moved}), high = std::max(high, point.moved);
    const double left = margin + 80, top = sheet.y + 52;
    const auto& last = curve.points.back();
    ends_ = last.moved <= last.bound.moved * (1 + 1e-9);
    const auto here = ends_ && std::isfinite(curve.room_here) ? curve.room_here : 0;
    across_ = doublings(curve.points.front().room, std::max(last.room, here), left, left + plot_width);
    up_ = decades(low, high, top + plot_height, top);
  }

  void draw() {
    const auto& level = curve_.level();
    const bool in_values = level.in_values;
    sheet_.axis_below(
        across_, up_.end, up_.begin, [&](double n) { return in_values ? counted(n) : held(n); },
        fmt::format("capacity of {}{}", level.name, in_values ? ", values" : ""));
    sheet_.axis_beside(
        up_, across_.begin, across_.end, [&](double n) { return in_values ? counted(n) : moved(n); },
        fmt::format("moved between {} and {}", curve_.hardware.levels[0].name, level.name));
    line(MarkKind::limit, [](const CurvePoint& point) { return point.bound.moved; });
    line(MarkKind::curve, [](const CurvePoint& point) { return point.moved; });
    for (const auto& point : curve_.points) dot(point);
    here();
    sheet_.y = up_.begin + 52;
    legend();
  }

 private:
  template <class Height>
  void line(MarkKind kind, const Height& height) {
    Line line;
    for (const auto& point : curve_.points) line.points.push_back({across_.at(point.room), up_.at(height(point))});
    if (ends_) line.points.push_back({across_.end, line.points.back().y});
    if (line.points.size() > 1)
      sheet_.add(kind, std::move(line), {kind == MarkKind::curve ? std::optional(series_of_results) : std::nullopt});
  }
  void dot(const CurvePoint& point) {
    const auto& level = curve_.level();
    const auto about =
        fmt::format("{}: {} moved, at least {}; {}", level.in_values ? counted(point.room) : held(point.room),
                    level.in_values ? counted(point.moved) : moved(point.moved),
                    level.in_values ? counted(point.bound.moved) : moved(point.bound.moved),
                    to_text(point.kernel.partition, point.kernel.derivation->scratch, curve_.hardware));
    sheet_.add(MarkKind::point, Line{{{across_.at(point.room), up_.at(point.moved)}}},
               {point.proven ? series_of_results : series_of_losses, "", about});
  }
  void here() {
    if (curve_.room_here < across_.low || curve_.room_here > across_.high) return;
    const double x = across_.at(curve_.room_here);
    sheet_.add(MarkKind::barrier, Line{{{x, up_.begin}, {x, up_.end}}});
    sheet_.write_near(MarkKind::label, {x, up_.end - 10}, Anchor::middle, "this machine", -15);
  }
  void legend() {
    const auto entry = [&](MarkKind kind, std::optional<std::size_t> series, const std::string& words) {
      sheet_.add(kind, Line{{{margin, sheet_.y}, {margin + 32, sheet_.y}}}, {series});
      const auto lines = sheet_.write_lines(MarkKind::label, {margin + 42, sheet_.y}, words, legend_width);
      sheet_.y += line_height * static_cast<double>(lines);
    };
    const bool all_proven = std::ranges::all_of(curve_.points, &CurvePoint::proven);
    entry(MarkKind::curve, series_of_results,
          all_proven ? "the least that any partition moves, proven"
                     : "the least that any partition moves; in another colour, the best found and not proven");
    std::vector<std::string> reasons;
    for (const auto& point : curve_.points)
      if (std::ranges::find(reasons, point.bound.why) == reasons.end()) reasons.push_back(point.bound.why);
    entry(MarkKind::limit, std::nullopt,
          fmt::format("what every program moves at least: {}", fmt::join(reasons, ", then ")));
  }

  Sheet& sheet_;
  const Curve& curve_;
  Scale across_, up_;
  bool ends_ = false;  // whether the curve reaches the bound, so that more capacity saves nothing
};

}  // namespace

std::optional<Chart> rooms(const Charted& charted) {
  Data data{{"kernel", "room", "moved", "at_least", "why", "proven", "partition"}, {}};
  Sheet sheet("transfers by capacity of " + charted.title, 690);
  std::vector<std::string> missing;
  for (const auto& one : charted.kernels) {
    if (!one.explored) continue;
    if (one.explored->rooms.points.empty()) {
      missing.push_back(kernel_name(one));
      continue;
    }
    const auto& curve = one.explored->rooms;
    for (const auto& point : curve.points)
      data.rows.push_back({kernel_name(one), point.room, point.moved, point.bound.moved, point.bound.why,
                           std::string(point.proven ? "yes" : "no"),
                           to_text(point.kernel.partition, point.kernel.derivation->scratch, curve.hardware)});
    sheet.head(fmt::format("kernel {}, in one {} alone, {}", kernel_name(one), curve.level().name,
                           curve.whole_tiles ? "with tiles that instructions fill" : "with tiles of any size"));
    Rooms(sheet, curve).draw();
  }
  if (data.rows.empty()) return std::nullopt;
  for (const auto& name : missing)
    sheet.note(fmt::format("kernel {} has no curve: nothing fits, or counting its masks would take minutes", name));
  return sheet.end("rooms", std::move(data));
}

}  // namespace napkin::chart
