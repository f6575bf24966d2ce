// Operations per byte against operations per second, under the slopes of memories and the roofs of units.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "napkin/summary.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double plot_width = 560, plot_height = 360, words_width = 590;

struct Slope {
  std::string from, into;  // memories, or a cache
  double rate;             // bytes a second
  std::size_t series;
};
struct Roof {
  std::string name;
  double rate;  // operations a second
};
// A kernel's intensity with respect to one memory.
struct Place {
  std::string from, into;
  std::size_t series;
  double bytes, intensity;
};
struct Placed {
  std::string kernel, unit;
  double operations, time, rate;  // of the unit with the longest ideal time
  std::vector<Place> places;
  double speed() const { return operations / time; }
};

std::optional<std::size_t> cache_named(const Hardware& hardware, const std::string& name) {
  const auto at = std::ranges::find(hardware.caches, name, &Cache::name);
  return at == hardware.caches.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(at - hardware.caches.begin()));
}

// The colour of the memory or cache that bytes arrive in.
std::size_t series_into(const Hardware& hardware, const std::string& name) {
  return cache_named(hardware, name) ? series_of_cache : level_series(hardware, hardware.level(name).value());
}

// Bytes from a cache move at the cache's rate, bytes into it at the rate of the memory behind it.
std::optional<Slope> slope(const Hardware& hardware, const Crossing& crossing) {
  const auto series = series_into(hardware, crossing.to);
  const auto rate_of = [&](const std::optional<Rate>& rate) {
    return rate ? std::optional(Slope{crossing.from, crossing.to, rate->peak(), series}) : std::nullopt;
  };
  if (const auto cache = cache_named(hardware, crossing.from)) return rate_of(hardware.caches[*cache].bandwidth);
  return rate_of(hardware.levels.at(hardware.level(crossing.from).value() + 1).bandwidth);
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
  for (const auto& crossing : crossings(one.kernel, cost, charted.hardware, charted.model))
    if (crossing.bytes > 0 && slope(charted.hardware, crossing))
      made.places.push_back({crossing.from, crossing.to, series_into(charted.hardware, crossing.to), crossing.bytes,
                             made.operations / crossing.bytes});
  return made;
}

// One slope for each memory and cache that bytes come from, the outermost first.
std::vector<Slope> slopes(const Charted& charted) {
  std::vector<Slope> all;
  for (const auto& one : charted.kernels)
    for (const auto& crossing : crossings(one.kernel, one.cost, charted.hardware, charted.model)) {
      auto made = slope(charted.hardware, crossing);
      const auto same = [&](const Slope& other) { return other.from == made->from && other.into == made->into; };
      if (made && std::ranges::none_of(all, same)) all.push_back(std::move(*made));
    }
  return all;
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
      : sheet_(sheet), placed_(std::move(placed)), slopes_(slopes(charted)), roofs_(roofs(placed_)) {
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
        x_, y_.end, y_.begin, [](double n) { return counted(n); }, "operations per byte");
    sheet_.axis_beside(
        y_, x_.begin, x_.end, [](double n) { return rate(n, "FLOP/s"); }, "operations per second (FLOP/s)");
    for (const auto& slope : slopes_) draw(slope);
    for (const auto& roof : roofs_) draw(roof);
    for (std::size_t i = 0; i < placed_.size(); ++i) draw(placed_[i], i + 1);
    sheet_.y = y_.begin + 52;
    legend();
  }

 private:
  // Draws a slope from the lower edge of the plot up to the highest roof, with its name at the lower end.
  void draw(const Slope& slope) {
    const double top = roofs_.front().rate;
    const double from = std::max(x_.low, y_.low / slope.rate), to = std::min(x_.high, top / slope.rate);
    if (from >= to) return;
    const auto about = fmt::format("{}: {}", words(slope), rate(slope.rate, "B/s"));
    sheet_.add(MarkKind::limit, Line{{{x_.at(from), y_.at(from * slope.rate)}, {x_.at(to), y_.at(to * slope.rate)}}},
               {slope.series, "", about});
  }

  // Draws a roof from the steepest slope to the right.
  void draw(const Roof& roof) {
    double from = x_.high;
    for (const auto& slope : slopes_) from = std::min(from, roof.rate / slope.rate);
    if (slopes_.empty()) from = x_.low;
    const double y = y_.at(roof.rate);
    sheet_.add(MarkKind::limit, Line{{{x_.at(std::max(from, x_.low)), y}, {x_.end, y}}});
    sheet_.write_near(MarkKind::label, {x_.end, y - 10}, Anchor::end,
                      fmt::format("{} {}", roof.name, rate(roof.rate, "FLOP/s")), -15);
  }

  // If there are several kernels, each has a number next to its last dot; the legend below has its name.
  void draw(const Placed& one, std::size_t number) {
    const double y = y_.at(one.speed());
    double left = 1e300, right = 0;
    for (const auto& at : one.places) left = std::min(left, at.intensity), right = std::max(right, at.intensity);
    const auto words = std::to_string(number);
    const bool several = placed_.size() > 1;
    const double away = y < (y_.begin + y_.end) / 2 ? 1 : -1;  // away from the nearer end of the axis
    auto name = sheet_.free_place({x_.at(right) + 10, y}, Anchor::start, words, {10, 0});
    const bool beyond = name.x + text_width(words) > x_.end;
    if (beyond) name = sheet_.free_place({x_.at(left) - 24, y}, Anchor::start, words, {-10, 0});
    const double from = several && beyond ? name.x + text_width(words) : x_.at(left);
    sheet_.add(MarkKind::span, Line{{{from, y}, {several && !beyond ? name.x - 2 : x_.at(right), y}}});
    for (const auto& at : one.places) {
      const auto about =
          fmt::format("{}, from {} into {}: {:.3g} operations per byte, {}", one.kernel, memory_name(at.from),
                      memory_name(at.into), at.intensity, rate(one.speed(), "FLOP/s"));
      sheet_.add(MarkKind::point, Line{{{x_.at(at.intensity), y}}}, {at.series, "", about});
      if (!several)
        sheet_.write_near(MarkKind::label, {x_.at(at.intensity), y + 14 * away}, Anchor::middle, memory_name(at.from),
                          15 * away);
    }
    if (several) sheet_.write(MarkKind::label, name, Anchor::start, words, 40, {{}, "", one.kernel});
  }

  static std::string words(const Slope& slope) {
    return fmt::format("from {} into {}", memory_name(slope.from), memory_name(slope.into));
  }

  void legend() {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const auto& one = placed_[i];
      if (placed_.size() > 1)
        sheet_.write(MarkKind::label, {margin + 4, sheet_.y}, Anchor::start, std::to_string(i + 1));
      const auto lines =
          sheet_.write_lines(MarkKind::label, {margin + 42, sheet_.y},
                             fmt::format("{}: {}, {:.0f} % of {}", one.kernel, rate(one.speed(), "FLOP/s"),
                                         100 * one.speed() / one.rate, one.unit),
                             words_width);
      sheet_.y += line_height * static_cast<double>(lines);
    }
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
  Data data{{"kernel", "unit", "from", "level", "operations", "transfer_bytes", "operations_per_byte",
             "operations_per_s", "unit_operations_per_s"},
            {}};
  std::ranges::stable_sort(all, std::greater<>(), &Placed::speed);
  for (const auto& one : all)
    for (const auto& at : one.places)
      data.rows.push_back(
          {one.kernel, one.unit, at.from, at.into, one.operations, at.bytes, at.intensity, one.speed(), one.rate});
  Sheet sheet("roofline of " + charted.title);
  Roofline(sheet, charted, std::move(all)).draw();
  return sheet.end("roofline", std::move(data));
}

}  // namespace napkin::chart
