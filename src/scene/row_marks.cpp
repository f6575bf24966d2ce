// Each function has four strips: wires bend towards it; the function; wires bend away from it; and its result is named.
#include "scene/row_marks.hpp"

#include <algorithm>
#include <cmath>

#include "scene/bends.hpp"
#include "scene/shapes.hpp"

namespace napkin::scene {
namespace {

class RowDrawer {
 public:
  RowDrawer(const Inks& inks, const Row& row, Said& said, double least_work)
      : inks_(inks),
        row_(row),
        said_(said),
        least_work_(least_work),
        names_(inks, said, drawn_.marks),
        pens_(inks, drawn_.marks) {}

  DrawnRow run() {
    start();
    for (std::size_t s = 0; s < row_.steps.size(); ++s) draw_step(s);
    finish();
    drawn_.width = x_;
    return std::move(drawn_);
  }

 private:
  const Value& value(const Lane& lane) const { return inks_.circuit.values[lane.value]; }

  // The level of the arrays in a column before the first function.
  std::optional<std::size_t> entering(const Lane& lane) const {
    if (inks_.levels == nullptr) return std::nullopt;
    return is_loaded(lane.value) ? 0 : inks_.levels->home[lane.value];
  }

  static bool first_of_value(const Lanes& column, std::size_t i) {
    return i == 0 || column[i].value != column[i - 1].value;
  }

  void separate(const Lanes& column, double from, double to) {
    for (std::size_t i = 1; i < column.size(); ++i) {
      if (!first_of_value(column, i)) continue;
      const auto y = column[i].y - name_rise - row_height;
      const Line dashes{{{from, y}, {to, y}}};
      const Mark mark{MarkKind::separator, dashes};
      drawn_.marks.push_back(mark);
    }
  }

  double name_value(const Lane& first, double x, std::optional<std::size_t> level) {
    const auto next = row_.steps.empty() ? 0 : row_.steps.back().function + 1;
    const bool came = std::ranges::any_of(row_.start, [&](const Lane& lane) { return lane.value == first.value; });
    const bool alone = !value(first).array && (came || names_.next_reader(first.value, next));
    return alone ? names_.part(first, x, level) : names_.array(first, x, level);
  }

  // Names the wires of some lanes at x_ and moves x_ past the names; all other wires continue.
  template <class Named, class Level>
  void name_lanes(const Lanes& column, std::size_t next, Named named, Level level) {
    const auto from = x_;
    double width = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      const auto& lane = column[i];
      if (!named(lane)) continue;
      if (first_of_value(column, i)) width = std::max(width, name_value(lane, from + cell, level(lane)) - from - cell);
      if (pens_.down(lane)) {
        pens_.level(lane, from + cell - 2);
        pens_.lift(lane);
      }
      const auto end = names_.wire(lane, from + cell, next, level(lane));
      pens_.put(lane, {end + 2, lane.y});
      pens_.move_to(lane, level(lane));
      width = std::max(width, end - from - cell);
    }
    x_ = from + width + 3 * cell;
    for (const auto& lane : column)
      if (pens_.down(lane)) pens_.level(lane, x_);
    separate(column, from + cell, x_);
  }

  // ---- strips

  void start() {
    const auto first = row_.steps.empty() ? 0 : row_.steps.front().function;
    name_lanes(
        row_.start, first, [](const Lane&) { return true; }, [&](const Lane& lane) { return entering(lane); });
    if (!inks_.levels) return;
    x_ = std::max(x_, least_start);
    for (const auto& lane : row_.start) pens_.level(lane, x_);
    load();
  }

  // ---- what is loaded and saved

  bool is_loaded(std::size_t value) const { return inks_.levels->loaded[value] && !said_.loaded.contains(value); }
  bool is_saved(std::size_t value) const { return inks_.levels->saved[value] && !said_.saved.contains(value); }

  // Draws the strip in which lanes change to another level.
  template <class Moves, class Level>
  DrawnRow::Strip cross(const Lanes& column, const std::string& word, Moves moves, Level level) {
    DrawnRow::Strip strip{x_, x_ + transfer_width, {}};
    double top = 0, bottom = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (!moves(column[i])) continue;
      if (strip.arrays.empty()) top = column[i].y;
      if (first_of_value(column, i)) strip.arrays.push_back(value(column[i]).name);
      bottom = column[i].y;
    }
    if (strip.arrays.empty()) return {};
    drawn_.marks.push_back({MarkKind::region, Area{strip.from, top - region_head, transfer_width,
                                                   bottom - top + region_head + region_foot}});
    drawn_.marks.push_back(
        {MarkKind::note,
         Words{{strip.from + transfer_width / 2, top - name_rise}, Anchor::middle, word, text_width(word)}});
    x_ = strip.to;
    for (const auto& lane : column) {
      if (moves(lane)) pens_.level(lane, x_ - transfer_width / 2), pens_.move_to(lane, level(lane));
      pens_.level(lane, x_);
    }
    return strip;
  }

  void load() {
    const auto loaded = [&](const Lane& lane) { return is_loaded(lane.value); };
    drawn_.load = cross(row_.start, "load", loaded, [&](const Lane& lane) { return inks_.home(lane); });
    name_pieces(loaded);
    for (const auto& lane : row_.start) said_.loaded.insert(lane.value);
  }

  void save(const Lanes& last) {
    drawn_.save = cross(
        last, "save", [&](const Lane& lane) { return is_saved(lane.value); },
        [](const Lane&) { return std::optional<std::size_t>(0); });
    for (const auto& lane : last)
      if (inks_.levels->saved[lane.value]) said_.saved.insert(lane.value);
  }

  // Labels each loaded wire with the size of its piece.
  template <class Loaded>
  void name_pieces(Loaded loaded) {
    double width = 0;
    for (const auto& lane : row_.start) {
      const auto first = row_.steps.empty() ? 0 : row_.steps.front().function;
      const auto piece = loaded(lane) ? names_.piece(lane, first, *inks_.home(lane)) : "";
      if (piece.empty()) continue;
      pens_.level(lane, x_ + cell - 2);
      pens_.lift(lane);
      pens_.put(lane, {names_.size(lane, x_ + cell, piece, inks_.home(lane)) + 2, lane.y});
      width = std::max(width, text_width(piece) + 2 * cell);
    }
    x_ += width;
    for (const auto& lane : row_.start) pens_.level(lane, x_);
  }

  // Before a function, wires change to the deeper level that the function reads from.
  void reach_down(const Step& step) {
    if (inks_.levels == nullptr) return;
    const auto& levels = *inks_.levels;
    const bool fragments = levels.fragments[step.function];
    const auto from = x_;
    std::optional<double> top, bottom;
    for (std::size_t i = step.begin; i < step.end; ++i) {
      const auto& lane = step.in[i];
      if (levels.read[lane.value] != levels.home[lane.value])
        top = std::min(top.value_or(lane.y), lane.y), bottom = std::max(bottom.value_or(lane.y), lane.y);
      if (fragments || levels.read[lane.value] != levels.home[lane.value]) x_ = from + 2 * cell;
    }
    if (top)
      drawn_.marks.push_back(
          {MarkKind::region, Area{from, *top - region_foot, 2 * cell, *bottom - *top + 2 * region_foot}});
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const auto& lane = step.in[i];
      if (step.reads(i) && x_ != from) {
        pens_.level(lane, from + cell);
        pens_.move_to(lane, fragments ? levels.fragment_level : levels.read[lane.value]);
      }
      pens_.level(lane, x_);
    }
  }

  void bend_in(const Lanes& before, const Step& step) {
    const bool copies = std::any_of(step.in.begin(), step.in.end(), [](const Lane& lane) { return lane.copy; });
    std::vector<Bend> bends;
    for (const auto& lane : step.in) bends.push_back({same_in(before, lane).y, lane.y});
    const auto width = spread(bends);
    const auto begin = x_ + (copies ? cell : 0), end = begin + width;
    leave(before, step.in);
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const auto& lane = step.in[i];
      if (lane.copy) {
        pens_.put(lane, {x_, bends[i].from});
        drawn_.marks.push_back(pens_.marked(MarkKind::dot, lane, {{{x_, bends[i].from}}}));
      }
      pens_.bend(lane, begin + bends[i].begin, begin + bends[i].end, lane.y);
      pens_.level(lane, end + cell);
    }
    x_ = end + cell;
  }

  static const Lane& same_in(const Lanes& lanes, const Lane& lane) {
    return *std::find_if(lanes.begin(), lanes.end(), [&](const Lane& other) { return other.same(lane); });
  }

  // An array that only later rows read ends at its name.
  void leave(const Lanes& before, const Lanes& in) {
    for (const auto& lane : before) {
      if (std::any_of(in.begin(), in.end(), [&](const Lane& other) { return other.same(lane); })) continue;
      if (names_.next_reader(lane.value, 0)) point_onward(lane, x_ - 5);
      pens_.lift(lane);
    }
  }

  void point_onward(const Lane& lane, double x) {
    Line arrow{{{x, lane.y - 4}, {x + 5, lane.y}, {x, lane.y + 4}}};
    drawn_.marks.push_back(pens_.marked(MarkKind::onward, lane, std::move(arrow)));
  }

  void draw_step(std::size_t s) {
    const auto& step = row_.steps[s];
    bend_in(row_.before(s), step);
    reach_down(step);
    const auto body = shape(inks_, step, x_);
    pass(step, body);
    x_ = body.end;
    for (const auto& mark : body.marks) drawn_.marks.push_back(mark);
    bend_out(step, body);
    name_lanes(
        step.out, step.function + 1, [&](const Lane& lane) { return lane.value == step.makes; },
        [&](const Lane& lane) { return inks_.home(lane); });
    drawn_.ends.push_back(x_);
  }

  // Wires pass beside the function, or through it if it lets them.
  void pass(const Step& step, const Body& body) {
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      if (!step.reads(i) || body.passes[i - step.begin])
        pens_.level(step.in[i], body.end);
      else
        pens_.lift(step.in[i]);
    }
  }

  // A wire on its way from or past a function to the name of its value.
  struct Turn {
    const Lane *in = nullptr, *out = nullptr;  // without `in`, the lane is already drawn as `out`
    bool joins = false;  // the first of several operands continues as the result; the others join it
  };
  std::vector<Turn> turns(const Step& step, const Body& body) const {
    std::vector<Turn> all;
    for (const auto& out : step.out) {
      Turn main{nullptr, &out};
      bool found = pens_.down(out);
      for (std::size_t i = step.begin; i < step.end; ++i) {
        if (!step.continues(i, out) || !body.passes[i - step.begin]) continue;
        if (found)
          all.push_back({&step.in[i], &out, true});
        else
          main.in = &step.in[i];
        found = true;
      }
      if (found) all.push_back(main);
    }
    return all;
  }

  void bend_out(const Step& step, const Body& body) {
    for (const auto& [lane, from] : body.starts) pens_.put(lane, from);
    const auto all = turns(step, body);
    std::vector<Bend> bends;
    for (const auto& turn : all) bends.push_back({pens_.height(turn.in ? *turn.in : *turn.out), turn.out->y});
    const auto width = spread(bends);
    const auto begin = x_ + cell, end = begin + width;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [in, out, joins] = all[i];
      if (in && !joins) pens_.rename(*in, *out);
      pens_.bend(joins ? *in : *out, begin + bends[i].begin, begin + bends[i].end, out->y);
      pens_.level(joins ? *in : *out, end);
      if (!joins) continue;
      drawn_.marks.push_back(pens_.marked(MarkKind::dot, *out, {{{end, out->y}}}));
      pens_.lift(*in);
    }
    for (const auto& lane : step.in)
      if (pens_.down(lane) && !std::any_of(step.out.begin(), step.out.end(),
                                           [&](const Lane& o) { return o.same(lane) && o.copy == lane.copy; }))
        pens_.lift(lane);
    x_ = end;
  }

  void finish() {
    const auto& last = row_.last();
    const auto next = row_.steps.empty() ? 0 : row_.steps.back().function + 1;
    const auto made = row_.steps.empty() ? SIZE_MAX : row_.steps.back().makes;
    double width = cell;
    for (std::size_t i = 0; i < last.size(); ++i)
      if (first_of_value(last, i) && last[i].value != made)
        width = std::max(width, names_.array(last[i], x_ + cell, inks_.home(last[i])) - x_ - cell);
    x_ = std::max(x_ + width + cell, std::max(drawn_.load.to, least_start) + least_work_);
    for (const auto& lane : last) pens_.level(lane, x_);
    if (inks_.levels) save(last);
    for (const auto& lane : last) {
      pens_.level(lane, x_);
      if (names_.next_reader(lane.value, next)) point_onward(lane, x_ - 5);
    }
    x_ += cell;
    pens_.lift_all();
  }

  static constexpr double transfer_width = 10 * cell, least_start = 48;
  const Inks& inks_;
  const Row& row_;
  Said& said_;
  double least_work_;
  DrawnRow drawn_;
  Names names_;
  Pens pens_;
  double x_ = 0;
};

}  // namespace

DrawnRow draw(const Inks& inks, const Row& row, Said& said, double least_work) {
  return RowDrawer(inks, row, said, least_work).run();
}

}  // namespace napkin::scene
