// One iteration of a warpgroup, or of warpgroups in ping-pong: a row for each unit of each, with what it does over time
// and where it waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

// "1320 clocks", "32.5 clocks".
std::string clocks_words(double clocks) {
  const auto rounded = clocks < 100 ? std::round(10 * clocks) / 10 : std::round(clocks);
  return fmt::format("{} clock{}", rounded, rounded == 1 ? "" : "s");
}

constexpr double names_width = 80, bars_width = 820, bar_height = 18, lane = 15;
using Event = Pipelining::Event;

// Words above the bars, each in the first lane where it does not meet earlier words.
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

// The chosen configuration; none if nothing runs.
const Pipelining* chosen(const ChartedKernel& one) {
  const auto& made = one.configuration;
  if (!made || made->chosen >= made->pipelinings.size() || made->pipelinings[made->chosen].timeline.empty())
    return nullptr;
  return &made->pipelinings[made->chosen];
}

double longest(const Pipelining& pipelining) {
  double all = 0;
  for (const auto& event : pipelining.timeline) all = std::max(all, event.end_s);
  return all;
}

std::string_view workers(const Configuration& made) {
  return made.instruction.starts_with("wgmma") ? "warpgroup" : "warps";
}

class Timeline {
 public:
  // The scale ends at `seconds` or later.
  Timeline(Sheet& sheet, const ChartedKernel& one, const ArrayColours& series, double seconds)
      : sheet_(sheet), configuration_(*one.configuration), series_(series), longest_(longest(pipelining())) {
    for (const auto& event : pipelining().timeline) warpgroups_ = std::max(warpgroups_, event.warpgroup + 1);
    seconds = std::max(seconds, longest_);
    scale_ = from_zero(seconds, margin + names_width, margin + names_width + bars_width);
    scale_.high = seconds, scale_.end = margin + names_width + bars_width;
    sheet_.head("kernel " + kernel_name(one));
    const auto drawn = lasting(longest_), takes = lasting(pipelining().step_s);
    sheet_.note(fmt::format("{}{}; {}", words(pipelining().overlap), warpgroups_ > 1 ? ", in the steady state" : "",
                            !pipelining().runs ? "the picture shows " + drawn
                            : drawn == takes
                                ? "an iteration takes " + takes
                                : fmt::format("the picture shows {}, an iteration takes {}", drawn, takes)));
  }

  void draw(const std::string& kernel, Data& data) {
    const double top = sheet_.y;
    draw(Resource::copy, 0);
    for (std::int64_t warpgroup = 0; warpgroup < warpgroups_; ++warpgroup) draw_warpgroup(warpgroup);
    const double bottom = sheet_.y + 4;
    sheet_.axis_below(scale_, top, bottom, lasting, "time");
    sheet_.y = bottom + 52;
    for (const auto& event : pipelining().timeline)
      data.rows.push_back({kernel, std::string(words(pipelining().overlap)), warpgroup_name(event), event.column,
                           std::string(name(event.on)), event.begin_s, event.end_s});
  }

 private:
  const Pipelining& pipelining() const { return configuration_.pipelinings[configuration_.chosen]; }

  std::string warpgroup_name(const Event& event) const {
    return event.on == Resource::copy ? "all" : std::to_string(event.warpgroup + 1);
  }

  void draw_warpgroup(std::int64_t warpgroup) {
    if (warpgroups_ > 1) {
      sheet_.y += lane;
      sheet_.write(MarkKind::note, {margin, sheet_.y}, Anchor::start,
                   fmt::format("{} {}", workers(configuration_), warpgroup + 1));
      sheet_.y += lane / 2;
    }
    const double top = sheet_.y;
    for (const auto on : {Resource::shared, Resource::tensor, Resource::fma, Resource::sfu}) draw(on, warpgroup);
    for (const auto at : waits(warpgroup))
      sheet_.add(MarkKind::barrier, Line{{{scale_.at(at), top}, {scale_.at(at), sheet_.y}}});
  }

  void draw(Resource on, std::int64_t warpgroup) {
    std::vector<Event> events;
    for (const auto& event : pipelining().timeline)
      if (event.on == on && event.warpgroup == warpgroup) events.push_back(event);
    if (events.empty()) return;
    std::ranges::stable_sort(events, {}, &Event::begin_s);
    Lanes lanes;
    std::vector<std::size_t> places;
    for (const auto& event : events) {
      const double x = words_begin(event);
      places.push_back(lanes.place(x, x + text_width(label(event))));
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
      sheet_.write(MarkKind::label, {words_begin(event), bar - 8 - lane * static_cast<double>(places[i])},
                   Anchor::start, label(event), bars_width, {{}, event.column});
      now = std::max(now, event.end_s);
    }
    idle(now, longest_, bar);
    sheet_.y = bar + bar_height + 6;
  }

  void idle(double from, double to, double y) {
    if (scale_.at(to) - scale_.at(from) > 1)
      sheet_.hatch({scale_.at(from), y, scale_.at(to) - scale_.at(from), bar_height});
  }

  // At the beginning of the bar, unless the words would pass the end of the axis.
  double words_begin(const Event& event) const {
    return std::max(scale_.begin, std::min(scale_.at(event.begin_s) + 3, scale_.end - text_width(label(event))));
  }

  std::string label(const Event& event) const {
    const auto clocks = std::ranges::find_if(configuration_.clocks, [&](const ColumnClocks& one) {
      return one.column == event.column && one.on == event.on;
    });
    const auto seconds = event.end_s - event.begin_s;
    const auto count =
        clocks == configuration_.clocks.end() ? "" : ", " + clocks_words(clocks->clocks * seconds / clocks->seconds);
    return fmt::format("{} {}{}", elided(event.column, 160), lasting(seconds), count);
  }

  // The times at which a unit of the warpgroup starts because another unit finished, or because it is the warpgroup's
  // turn.
  std::set<double> waits(std::int64_t warpgroup) const {
    std::set<double> all;
    for (const auto& next : pipelining().timeline) {
      if (next.warpgroup != warpgroup || next.on == Resource::copy) continue;
      double before = 0;
      for (const auto& first : pipelining().timeline) {
        const bool copied = first.on == Resource::copy;
        if ((!copied && first.warpgroup != warpgroup) || first.end_s > next.begin_s) continue;
        if (!copied) before = std::max(before, first.end_s);
        if (first.on != next.on && first.end_s == next.begin_s) all.insert(next.begin_s);
      }
      if (warpgroups_ > 1 && next.begin_s > before) all.insert(next.begin_s);
    }
    return all;
  }

  Sheet& sheet_;
  const Configuration& configuration_;
  const ArrayColours& series_;
  Scale scale_;
  double longest_ = 0;
  std::int64_t warpgroups_ = 1;
};

}  // namespace

std::optional<Chart> timeline(const Charted& charted) {
  Data data{{"kernel", "overlap", "team", "column", "unit", "begin_s", "end_s"}, {}};
  Sheet sheet("one iteration of " + charted.title, names_width + bars_width);
  const ArrayColours series(charted);
  for (const auto& one : charted.kernels) {
    if (chosen(one)) Timeline(sheet, one, series, charted.least_step_seconds).draw(kernel_name(one), data);
  }
  if (data.rows.empty()) return std::nullopt;
  sheet.note("At a dotted line an operation waits for a result or for its turn. A unit is idle where it is hatched.");
  sheet.note("Copies load the tiles of a later iteration, unless nothing overlaps.");
  const auto any = [&](std::size_t column, std::string_view text) {
    return std::ranges::any_of(data.rows, [&](const auto& row) { return std::get<std::string>(row[column]) == text; });
  };
  if (any(1, words(Overlap::intra_warpgroup)))
    sheet.note("With intra-warpgroup overlap, products that wait for other operations belong to the iteration before.");
  if (any(2, "2")) sheet.note("An operation that is cut off at the right continues at the left.");
  return sheet.end("timeline", std::move(data));
}

}  // namespace napkin::chart

double napkin::most_step_seconds(const Charted& charted) {
  double most = 0;
  for (const auto& one : charted.kernels)
    if (const auto* pipelining = chart::chosen(one)) most = std::max(most, chart::longest(*pipelining));
  return most;
}
