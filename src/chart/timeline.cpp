// One step of one team: a row for each unit, what it does one after another, and where it waits.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double names_width = 80, bars_width = 820, bar_height = 18, lane = 15;
using Event = Pipelining::Event;

std::string words(Overlap overlap) {
  constexpr const char* all[] = {"one after another", "copies beside", "within a team", "two teams in turn",
                                 "three teams in turn"};
  return all[static_cast<std::size_t>(overlap)];
}

// Words above a bar, in the first lane where they do not meet those before them.
struct Lanes {
  std::vector<double> ends;
  std::size_t place(double from, double to) {
    std::size_t i = 0;
    while (i < ends.size() && ends[i] > from) ++i;
    if (i == ends.size()) ends.push_back(0);
    ends[i] = to + 8;
    return i;
  }
};

class Timeline {
 public:
  Timeline(Sheet& sheet, const ChartedKernel& one) : sheet_(sheet), configuration_(*one.configuration) {
    for (const auto& event : pipelining().timeline) longest_ = std::max(longest_, event.end_s);
    scale_ = from_zero(longest_, margin + names_width, margin + names_width + bars_width);
    scale_.high = longest_, scale_.end = margin + names_width + bars_width;
    sheet_.head(fmt::format("kernel {}: {} for one team; {}{}", kernel_name(one), lasting(longest_),
                            words(pipelining().overlap),
                            pipelining().runs ? ", a step takes " + lasting(pipelining().step_s) : ""));
  }

  void draw(const std::string& kernel, Data& data) {
    const double top = sheet_.y;
    for (const auto on : {Resource::copy, Resource::shared, Resource::tensor, Resource::fma, Resource::sfu}) draw(on);
    const double bottom = sheet_.y + 4;
    sheet_.axis_below(scale_, top, bottom, lasting, "time");
    for (const auto at : waits()) sheet_.add(MarkKind::barrier, Line{{{scale_.at(at), top}, {scale_.at(at), bottom}}});
    sheet_.y = bottom + 52;
    for (const auto& event : pipelining().timeline)
      data.rows.push_back(
          {kernel, words(pipelining().overlap), event.column, std::string(name(event.on)), event.begin_s, event.end_s});
  }

 private:
  const Pipelining& pipelining() const { return configuration_.pipelinings[configuration_.chosen]; }

  void draw(Resource on) {
    std::vector<Event> events;
    for (const auto& event : pipelining().timeline)
      if (event.on == on) events.push_back(event);
    if (events.empty()) return;
    std::ranges::stable_sort(events, {}, &Event::begin_s);
    Lanes lanes;
    std::vector<std::size_t> places;
    for (const auto& event : events) {
      const double x = scale_.at(event.begin_s);
      places.push_back(lanes.place(x, x + 3 + text_width(label(event))));
    }
    const double bar = sheet_.y + lane * static_cast<double>(lanes.ends.size()) + 4;
    sheet_.write(MarkKind::label, {margin, bar + bar_height / 2}, Anchor::start, std::string(name(on)));
    double now = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& event = events[i];
      idle(now, event.begin_s, bar);
      const double x = scale_.at(event.begin_s), to = scale_.at(event.end_s);
      const Of of{series_(event.column), event.column, label(event)};
      sheet_.add(MarkKind::bar, Area{x, bar, to - x, bar_height}, of);
      sheet_.write(MarkKind::label, {x + 3, bar - 8 - lane * static_cast<double>(places[i])}, Anchor::start,
                   label(event), bars_width, {{}, event.column});
      now = std::max(now, event.end_s);
    }
    idle(now, longest_, bar);
    sheet_.y = bar + bar_height + 6;
  }

  void idle(double from, double to, double y) {
    if (scale_.at(to) - scale_.at(from) > 1)
      sheet_.hatch({scale_.at(from), y, scale_.at(to) - scale_.at(from), bar_height});
  }

  std::string label(const Event& event) const {
    const auto clocks = std::ranges::find_if(configuration_.clocks, [&](const ColumnClocks& one) {
      return one.column == event.column && one.on == event.on;
    });
    const auto count = clocks == configuration_.clocks.end() ? "" : fmt::format(", {} clocks", counted(clocks->clocks));
    return fmt::format("{} {}{}", elided(event.column, 160), lasting(event.end_s - event.begin_s), count);
  }

  // One unit begins where another ends.
  std::set<double> waits() const {
    std::set<double> all;
    for (const auto& first : pipelining().timeline)
      for (const auto& next : pipelining().timeline)
        if (first.on != next.on && next.begin_s == first.end_s) all.insert(next.begin_s);
    return all;
  }

  Sheet& sheet_;
  const Configuration& configuration_;
  Series series_;
  Scale scale_;
  double longest_ = 0;
};

}  // namespace

std::optional<Chart> timeline(const Charted& charted) {
  Data data{{"kernel", "overlap", "column", "unit", "begin_s", "end_s"}, {}};
  Sheet sheet("one step of " + charted.title);
  for (const auto& one : charted.kernels) {
    const auto& made = one.configuration;
    if (made && made->chosen < made->pipelinings.size() && !made->pipelinings[made->chosen].timeline.empty())
      Timeline(sheet, one).draw(kernel_name(one), data);
  }
  if (data.rows.empty()) return std::nullopt;
  sheet.note("Dotted: what begins there waits for what ends there. Hatched: the unit has nothing to do for this team.");
  return sheet.end("timeline", std::move(data));
}

}  // namespace napkin::chart
