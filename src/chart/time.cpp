// The time that every memory and unit works in a kernel, and the losses of the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace chart {
namespace {

constexpr double bars_width = 600, bar_height = 12, row_height = 36;

struct Bar {
  std::string what;
  double begin = 0, end = 0;  // seconds
  std::optional<double> ideal{};
  std::string without{};                // the effect that the ideal time ignores: "without L2"
  std::optional<std::size_t> series{};  // none: the kernel as a whole
};
struct Panel {
  std::string words;
  std::vector<Bar> bars;
};

std::optional<double> pick(Model model, std::optional<double> ideal, std::optional<double> machine) {
  return model == Model::ideal ? ideal : machine;
}

// The effect that can make a part faster than all of its bytes at datasheet rates.
std::string left_out(const Charted& charted, std::size_t level) {
  if (level != charted.hardware.core.value_or(1)) return " if warps share no reads";
  if (charted.hardware.caches.empty()) return " if blocks share no reads";
  auto name = charted.hardware.caches.back().name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return " without " + name;
}

std::vector<Bar> of_parts(const ChartedKernel& one, const Charted& charted) {
  std::vector<Bar> bars;
  const auto add = [&](const std::string& what, std::optional<double> ideal, std::optional<double> machine,
                       const std::string& without, std::optional<std::size_t> series) {
    const auto seconds = pick(charted.model, ideal, machine);
    if (seconds) bars.push_back({what, 0, *seconds, ideal, ideal > *seconds ? without : "", series});
  };
  std::string longest;  // the effect that the ideal time of the kernel ignores
  const auto& levels = charted.hardware.levels;
  for (const auto& level : one.cost.levels) {
    add(fmt::format("{} to {}", levels.at(level.level - 1).name, levels.at(level.level).name), level.ideal_time_s,
        level.time_s, left_out(charted, level.level), level_series(charted.hardware, level.level));
    if (level.ideal_time_s == one.cost.ideal_time_s) longest = left_out(charted, level.level);
  }
  for (const auto& unit : one.cost.units)
    add(std::string(name(unit.unit)), unit.ideal_time_s, unit.time_s, "", unit_series(unit.unit));
  add("the kernel", one.cost.ideal_time_s, one.cost.time_s, longest, std::nullopt);
  return bars;
}

// The launch at its best, then each loss from the end of the one before, then the launch as configured.
std::vector<Bar> of_losses(const Launch& launch) {
  std::vector<Bar> bars;
  double now = 0;
  for (const auto& line : lines(launch)) {
    bars.push_back(
        {line.what, now, now + line.seconds, {}, {}, bars.empty() ? std::nullopt : std::optional(series_of_losses)});
    now += line.seconds;
  }
  bars.push_back({"the launch as configured", 0, launch.time_s, {}, {}, {}});
  return bars;
}

std::vector<Panel> panels(const Charted& charted) {
  std::vector<Panel> all;
  for (const auto& one : charted.kernels) {
    auto bars = of_parts(one, charted);
    const auto name = kernel_name(one);
    if (!bars.empty()) all.push_back({fmt::format("kernel {}", name), std::move(bars)});
    if (one.configuration && one.configuration->launch)
      all.push_back({fmt::format("kernel {}: what the time of the launch adds up to", name),
                     of_losses(*one.configuration->launch)});
  }
  return all;
}

void draw(Sheet& sheet, const Panel& panel, double longest) {
  sheet.head(panel.words);
  const auto scale = from_zero(longest, margin, margin + bars_width);
  const double top = sheet.y, bottom = top + row_height * static_cast<double>(panel.bars.size());
  sheet.axis_below(scale, top, bottom, lasting, "time");
  for (const auto& bar : panel.bars) {
    const double y = sheet.y + row_height - bar_height / 2 - 4;
    const double from = scale.at(std::min(bar.begin, bar.end)), to = scale.at(std::max(bar.begin, bar.end));
    const auto words = (bar.end < bar.begin ? "-" : "") + lasting(std::abs(bar.end - bar.begin));
    const Of of{bar.series, "", fmt::format("{}: {}", bar.what, words)};
    const auto ideal = bar.ideal ? fmt::format("{} at datasheet rates{}", lasting(*bar.ideal), bar.without) : "";
    sheet.write(MarkKind::label, {margin + 4, y - 16}, Anchor::start,
                fmt::format("{}: {}{}", bar.what, words, ideal.empty() ? "" : "; " + ideal), bars_width - 8);
    sheet.add(MarkKind::bar, Area{from, y - bar_height / 2, to - from, bar_height}, of);
    if (bar.ideal && *bar.ideal > 0) {
      const double x = scale.at(*bar.ideal);
      sheet.add(MarkKind::limit, Line{{{x, y - 9}, {x, y + 9}}}, {{}, "", ideal});
    }
    sheet.y += row_height;
  }
  sheet.y = bottom + 52;
}

double longest_of(const std::vector<Panel>& all) {
  double longest = 0;
  for (const auto& panel : all)
    for (const auto& bar : panel.bars) longest = std::max({longest, bar.begin, bar.end, bar.ideal.value_or(0)});
  return longest;
}

}  // namespace
}  // namespace chart

double most_seconds(const Charted& charted) { return chart::longest_of(chart::panels(charted)); }

namespace chart {

std::optional<Chart> time(const Charted& charted) {
  const auto all = panels(charted);
  if (all.empty()) return std::nullopt;
  const double longest = std::max(longest_of(all), charted.least_seconds);
  Data data{{"panel", "what", "begin_s", "end_s", "ideal_s"}, {}};
  for (const auto& panel : all)
    for (const auto& bar : panel.bars)
      data.rows.push_back(
          {panel.words, bar.what, bar.begin, bar.end, bar.ideal ? Cell(*bar.ideal) : Cell(std::string())});
  Sheet sheet("time of " + charted.title);
  for (const auto& panel : all) draw(sheet, panel, longest);
  return sheet.end("time", std::move(data));
}

}  // namespace chart
}  // namespace napkin
