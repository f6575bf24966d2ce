// Operations for each byte against operations a second, under the slopes of memories and the roofs of units.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double plot_width = 620, plot_height = 360;

struct Slope {
  std::string from;  // the level above, or the cache, that the bytes come from
  std::string into;
  double rate;  // bytes a second
  std::size_t series;
};
struct Roof {
  std::string name;
  double rate;  // operations a second
};
// A kernel at one level.
struct Place {
  std::string level;
  std::size_t series;
  double bytes, intensity;
};
struct Placed {
  std::string kernel, unit;
  double operations, time, rate;  // of the unit on which the kernel takes longest ideally
  std::vector<Place> places;
  double speed() const { return operations / time; }
};

std::vector<Slope> slopes(const Hardware& hardware) {
  std::vector<Slope> all;
  for (std::size_t i = 1; i < hardware.levels.size(); ++i)
    if (hardware.levels[i].bandwidth)
      all.push_back({hardware.levels[i - 1].name, hardware.levels[i].name, hardware.levels[i].bandwidth->peak(),
                     level_series(hardware, i)});
  for (std::size_t i = 0; i < hardware.caches.size(); ++i)
    if (hardware.caches[i].bandwidth)
      all.push_back({hardware.caches[i].name, "", hardware.caches[i].bandwidth->peak(), 4 + i});
  return all;
}

std::optional<Placed> place(const ChartedKernel& one, const Charted& charted) {
  const auto& cost = one.cost;
  const auto time = charted.model == Model::ideal ? cost.ideal_time_s : cost.time_s;
  const UnitCost* leading = nullptr;
  for (const auto& unit : cost.units)
    if (unit.ideal_time_s && unit.operations > 0 && (!leading || *unit.ideal_time_s > *leading->ideal_time_s))
      leading = &unit;
  if (!leading || !time || *time <= 0 || *leading->ideal_time_s <= 0) return std::nullopt;
  Placed made{kernel_name(one),
              std::string(name(leading->unit)),
              leading->operations,
              *time,
              leading->operations / *leading->ideal_time_s,
              {}};
  for (const auto& level : cost.levels)
    if (charted.hardware.levels.at(level.level).bandwidth && level.transfer_bytes > 0) {
      const auto bytes = static_cast<double>(level.transfer_bytes);
      made.places.push_back({charted.hardware.levels[level.level].name, level_series(charted.hardware, level.level),
                             bytes, made.operations / bytes});
    }
  return made;
}

std::vector<Roof> roofs(const std::vector<Placed>& all) {
  std::vector<Roof> made;
  for (const auto& one : all)
    if (std::ranges::none_of(
            made, [&](const Roof& r) { return r.name == one.unit && std::abs(r.rate / one.rate - 1) < 1e-6; }))
      made.push_back({one.unit, one.rate});
  std::ranges::sort(made, std::greater<>(), &Roof::rate);
  return made;
}

class Roofline {
 public:
  Roofline(Sheet& sheet, const Charted& charted, std::vector<Placed> placed)
      : sheet_(sheet), placed_(std::move(placed)), slopes_(slopes(charted.hardware)), roofs_(roofs(placed_)) {
    double left = 1e300, right = 0, low = 1e300;
    for (const auto& one : placed_) {
      low = std::min(low, one.speed());
      for (const auto& at : one.places) left = std::min(left, at.intensity), right = std::max(right, at.intensity);
      for (const auto& slope : slopes_)
        left = std::min(left, one.rate / slope.rate), right = std::max(right, one.rate / slope.rate);
    }
    const double x0 = margin + 80, y0 = sheet.y + 60;
    x_ = decades(left / 2, right * 2, x0, x0 + plot_width);
    y_ = decades(low / 2, roofs_.front().rate, y0 + plot_height, y0);
  }

  void draw() {
    sheet_.axis_below(
        x_, y_.end, y_.begin, [](double n) { return counted(n); }, "operations for each byte");
    sheet_.axis_beside(
        y_, x_.begin, x_.end, [](double n) { return rate(n, "FLOP/s"); }, "operations a second (FLOP/s)");
    for (const auto& slope : slopes_) draw(slope);
    for (const auto& roof : roofs_) draw(roof);
    for (const auto& one : placed_) draw(one);
    sheet_.y = y_.begin + 52;
    legend();
  }

 private:
  // Where the speed that a slope allows leaves the plot below, up to the highest roof.
  void draw(const Slope& slope) {
    const double top = roofs_.front().rate;
    const double from = std::max(x_.low, y_.low / slope.rate), to = std::min(x_.high, top / slope.rate);
    if (from >= to) return;
    const auto about = fmt::format("{}: {}", words(slope), rate(slope.rate, "B/s"));
    sheet_.add(MarkKind::limit, Line{{{x_.at(from), y_.at(from * slope.rate)}, {x_.at(to), y_.at(to * slope.rate)}}},
               {slope.series, "", about});
    sheet_.write_near(MarkKind::label, {x_.at(to), y_.at(to * slope.rate) - 12}, Anchor::middle, "from " + slope.from,
                      -15);
  }

  // From the steepest slope on.
  void draw(const Roof& roof) {
    double from = x_.high;
    for (const auto& slope : slopes_) from = std::min(from, roof.rate / slope.rate);
    if (slopes_.empty()) from = x_.low;
    const double y = y_.at(roof.rate);
    sheet_.add(MarkKind::limit, Line{{{x_.at(std::max(from, x_.low)), y}, {x_.end, y}}});
    sheet_.write_near(MarkKind::label, {x_.end + 8, y}, Anchor::start,
                      fmt::format("{} {}", roof.name, rate(roof.rate, "FLOP/s")), 15);
  }

  void draw(const Placed& one) {
    const double y = y_.at(one.speed());
    double left = 1e300, right = 0;
    for (const auto& at : one.places) left = std::min(left, at.intensity), right = std::max(right, at.intensity);
    if (one.places.empty()) return;
    sheet_.add(MarkKind::span, Line{{{x_.at(left), y}, {x_.at(right), y}}});
    for (const auto& at : one.places) {
      const auto about = fmt::format("{}, into {}: {:.3g} operations for each byte, {}", one.kernel, at.level,
                                     at.intensity, rate(one.speed(), "FLOP/s"));
      sheet_.add(MarkKind::point, Line{{{x_.at(at.intensity), y}}}, {at.series, "", about});
      if (placed_.size() == 1)
        sheet_.write_near(MarkKind::label, {x_.at(at.intensity), y + 14}, Anchor::middle, "into " + at.level, 15);
    }
    const auto share = 100 * one.speed() / one.rate;
    const auto words =
        fmt::format("{}: {}, {:.0f} % of {}", elided(one.kernel, 160), rate(one.speed(), "FLOP/s"), share, one.unit);
    sheet_.write_near(MarkKind::label, {x_.end + 8, y}, Anchor::start, words, 15, {{}, "", one.kernel});
  }

  static std::string words(const Slope& slope) {
    return slope.into.empty() ? fmt::format("from {}, a cache", slope.from)
                              : fmt::format("from {} into {}", slope.from, slope.into);
  }

  void legend() {
    for (const auto& slope : slopes_) {
      sheet_.add(MarkKind::limit, Line{{{margin, sheet_.y}, {margin + 32, sheet_.y}}}, {slope.series, "", ""});
      sheet_.add(MarkKind::point, Line{{{margin + 16, sheet_.y}}}, {slope.series, "", ""});
      sheet_.write(MarkKind::label, {margin + 42, sheet_.y}, Anchor::start,
                   fmt::format("{}: {} at most", words(slope), rate(slope.rate, "B/s")));
      sheet_.y += line_height;
    }
  }

  Sheet& sheet_;
  std::vector<Placed> placed_;
  std::vector<Slope> slopes_;
  std::vector<Roof> roofs_;
  Scale x_, y_;
};

}  // namespace

std::optional<Chart> roofline(const Charted& charted) {
  std::vector<Placed> all;
  for (const auto& one : charted.kernels)
    if (auto placed = place(one, charted); placed && !placed->places.empty()) all.push_back(std::move(*placed));
  if (all.empty()) return std::nullopt;
  Data data{{"kernel", "unit", "level", "operations", "transfer_bytes", "operations_per_byte", "operations_per_s",
             "unit_operations_per_s"},
            {}};
  for (const auto& one : all)
    for (const auto& at : one.places)
      data.rows.push_back(
          {one.kernel, one.unit, at.level, one.operations, at.bytes, at.intensity, one.speed(), one.rate});
  std::ranges::stable_sort(all, std::greater<>(), &Placed::speed);
  Sheet sheet("roofline of " + charted.title);
  Roofline(sheet, charted, std::move(all)).draw();
  return sheet.end("roofline", std::move(data));
}

}  // namespace napkin::chart
