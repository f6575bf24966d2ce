// How long every memory and unit works in a kernel, and what the launch loses beside that.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace chart {
namespace {

constexpr double bars_width = 640, bar_height = 12, row_height = 36;

struct Bar {
  std::string what;
  double begin = 0, end = 0;  // seconds
  std::optional<double> ideal{};
  std::optional<std::size_t> series{};  // none: of the kernel as a whole
};
struct Panel {
  std::string words;
  std::vector<Bar> bars;
};

std::optional<double> pick(Model model, std::optional<double> ideal, std::optional<double> machine) {
  return model == Model::ideal ? ideal : machine;
}

std::vector<Bar> of_parts(const ChartedKernel& one, const Charted& charted) {
  std::vector<Bar> bars;
  const auto add = [&](const std::string& what, std::optional<double> ideal, std::optional<double> machine,
                       std::optional<std::size_t> series) {
    if (const auto seconds = pick(charted.model, ideal, machine)) bars.push_back({what, 0, *seconds, ideal, series});
  };
  const auto& levels = charted.hardware.levels;
  for (const auto& level : one.cost.levels)
    add(fmt::format("{} to {}", levels.at(level.level - 1).name, levels.at(level.level).name), level.ideal_time_s,
        level.time_s, level_series(charted.hardware, level.level));
  for (const auto& unit : one.cost.units)
    add(std::string(name(unit.unit)), unit.ideal_time_s, unit.time_s,
        unit.unit == Unit::tensor ? 0 : 3 + static_cast<std::size_t>(unit.unit));
  add("the kernel", one.cost.ideal_time_s, one.cost.time_s, std::nullopt);
  return bars;
}

// From everything at its best to the launch, each loss where the one before ends.
std::vector<Bar> of_losses(const Launch& launch) {
  std::vector<Bar> bars;
  double now = 0;
  for (const auto& line : lines(launch)) {
    bars.push_back(
        {line.what, now, now + line.seconds, {}, bars.empty() ? std::nullopt : std::optional<std::size_t>(3)});
    now += line.seconds;
  }
  bars.push_back({"the launch in this configuration", 0, launch.time_s, {}, {}});
  return bars;
}

std::vector<Panel> panels(const Charted& charted) {
  std::vector<Panel> all;
  for (const auto& one : charted.kernels) {
    auto bars = of_parts(one, charted);
    const auto name = kernel_name(one);
    if (!bars.empty()) all.push_back({fmt::format("kernel {}", name), std::move(bars)});
    if (one.configuration && one.configuration->launch)
      all.push_back({fmt::format("kernel {}: from everything at its best to the launch", name),
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
    sheet.write(MarkKind::label, {margin + 4, y - 16}, Anchor::start, bar.what);
    const auto words = lasting(std::abs(bar.end - bar.begin));
    const Of of{bar.series, "", fmt::format("{}: {}", bar.what, words)};
    sheet.add(MarkKind::bar, Area{from, y - bar_height / 2, to - from, bar_height}, of);
    double after = to;
    if (bar.ideal && *bar.ideal > 0) {
      const double x = scale.at(*bar.ideal);
      sheet.add(MarkKind::limit, Line{{{x, y - 9}, {x, y + 9}}}, {{}, "", "ideally " + lasting(*bar.ideal)});
      after = std::max(after, x);
    }
    sheet.write(MarkKind::label, {after + 6, y}, Anchor::start,
                (bar.end < bar.begin ? "-" : "") + words + (bar.ideal ? ", ideally " + lasting(*bar.ideal) : ""));
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
