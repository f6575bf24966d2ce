// The looped pseudocode as a drawing: a column for each step, a row for each variable, and frames around loops.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "diagram/match.hpp"
#include "loops/work.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double least_column = 34, inset = 5, row_height = 20, frame_height = 22;

// A step that moves or computes.
struct Column {
  std::string words;
  std::optional<BufferId> writes{};
  std::vector<BufferId> reads{};
  std::string amount{};  // what the step moves or computes
  double bytes = 0, operations = 0;
};
struct Frame {
  std::string words;
  std::size_t begin = 0, end = 0;  // columns
  std::size_t depth = 0;
};

class Columns {
 public:
  Columns(const LoopNest& nest, const Hardware& hardware) : nest_(nest), hardware_(hardware) {
    for (std::uint32_t i = 0; i < nest.scratch.wires.size(); ++i) pieces_.push_back(nest.scratch.size({i}).value_or(1));
    for (const auto& group : nest.groups) {
      frames.push_back({words("group", group), 0, 0, frames.size()});
      take_piece(group);
    }
    depth_ = frames.size();
    visit(nest.body);
    for (std::size_t i = 0; i < nest.groups.size(); ++i) frames[i].end = columns.size();
  }

  std::vector<Column> columns;
  std::vector<Frame> frames;
  std::map<BufferId, std::vector<std::size_t>> around;  // frames of the loops that surround a buffer
  std::size_t depth() const {
    std::size_t most = 0;
    for (const auto& frame : frames) most = std::max(most, frame.depth + 1);
    return most;
  }

 private:
  std::string words(const char* kind, const Split& split) const {
    return fmt::format("{} {} {} at {}", kind, elided(nest_.scratch.at(split.wire).name, 160), split.size,
                       hardware_.levels.at(split.level).name);
  }
  const std::string& name(BufferId id) const { return nest_.at(id).name; }
  const std::string& array(BufferId id) const { return nest_.scratch.at(nest_.at(id).array).name; }
  double bytes(BufferId id) const {
    double all = row(nest_.at(id).type).bytes;
    for (const auto extent : nest_.at(id).extent) all *= static_cast<double>(extent);
    return all;
  }

  // A load from the array itself may read packed numbers that share bytes.
  double loaded(const Load& load) const {
    return bytes(load.to) / (load.from ? 1 : row(nest_.scratch.at(nest_.at(load.to).array).stored()).share);
  }

  void visit(const LoopBody& block) {
    for (const auto id : block.buffers) around[id] = loops_;
    for (const auto& step : block.steps)
      match(
          step.node,
          [&](const Load& load) {
            add({fmt::format("load {} from {}", name(load.to), load.from ? name(*load.from) : array(load.to)), load.to,
                 load.from ? std::vector{*load.from} : std::vector<BufferId>{}, held(loaded(load)), loaded(load)});
          },
          [&](const MaskTest& ask) {
            add({fmt::format("skip unless {} lets something through", name(ask.tile)), {}, {ask.tile}});
          },
          [&](const Compute& compute) { add(computed(compute)); },
          [&](const Save& save) {
            add({fmt::format("save {} from {}", save.to ? name(*save.to) : array(save.from), name(save.from)),
                 save.to,
                 {save.from},
                 held(bytes(save.from)),
                 bytes(save.from)});
          },
          [&](const For& loop) {
            const auto frame = frames.size();
            frames.push_back({words("stream", loop.split), columns.size(), 0, depth_});
            ++depth_;
            loops_.push_back(frame);
            const auto whole = pieces_;
            take_piece(loop.split);
            visit(loop.body);
            pieces_ = whole;
            loops_.pop_back();
            --depth_;
            frames[frame].end = columns.size();
          });
  }

  Column computed(const Compute& compute) const {
    Column made{to_text(nest_.scratch, compute.column), compute.to};
    for (const auto& [expr, buffer] : compute.reads)
      if (std::ranges::find(made.reads, buffer) == made.reads.end()) made.reads.push_back(buffer);
    if (compute.carried) made.reads.push_back(*compute.carried);
    const double positions = cells(nest_.scratch.at(compute.column.output).wires);
    const double folded = positions * cells(compute.column.over);
    std::map<Unit, double> all;
    for (const auto& work : work_of(nest_.scratch, compute.column, hardware_))
      all[work.unit] += work.operations * (work.folded ? folded : positions);
    for (const auto& [unit, count] : all) {
      made.operations += count;
      made.amount += fmt::format("{}{} on {}", made.amount.empty() ? "" : ", ", counted(count), napkin::name(unit));
    }
    return made;
  }
  void take_piece(const Split& split) {
    auto& piece = pieces_.at(split.wire.index);
    piece = std::min(piece, split.size);
  }
  double cells(const std::vector<WireId>& wires) const {
    double all = 1;
    for (const auto wire : wires) all *= static_cast<double>(pieces_.at(wire.index));
    return all;
  }
  void add(Column column) { columns.push_back(std::move(column)); }

  const LoopNest& nest_;
  const Hardware& hardware_;
  std::size_t depth_ = 0;
  std::vector<std::size_t> loops_;
  std::vector<std::int64_t> pieces_;  // pieces of every wire inside the current loops
};

// The columns from the first to the last that writes or reads a variable. If a loop does either with a variable held
// outside of it, the variable lives throughout the loop.
struct Life {
  std::size_t begin = 0, end = 0;
  bool used = false;
};

class Drawing {
 public:
  Drawing(Sheet& sheet, const LoopNest& nest, const Hardware& hardware)
      : sheet_(sheet), nest_(nest), hardware_(hardware), code_(nest, hardware) {
    names_width_ = 60;
    for (const auto& buffer : nest.buffers) names_width_ = std::max(names_width_, text_width(name(buffer)) + 16);
    names_width_ = std::min(names_width_, 360.0);
    for (std::uint32_t i = 0; i < nest.buffers.size(); ++i) order_.push_back({i});
    std::ranges::stable_sort(order_, {}, [&](BufferId id) { return std::pair(nest.at(id).level, life(id).begin); });
    set_edges();
  }

  void draw(const std::string& kernel, Data& data) {
    const double top = sheet_.y, table = top + frame_height * static_cast<double>(code_.depth()) + 20;
    const double bottom = table + row_height * static_cast<double>(order_.size());
    for (std::size_t i = 0; i < code_.columns.size(); ++i)
      sheet_.write(MarkKind::label, {middle(i), table - 10}, Anchor::middle, std::to_string(i + 1));
    sheet_.y = table;
    for (const auto id : order_) draw(id);
    for (const auto& frame : code_.frames) draw(frame, top, bottom);
    sheet_.y = bottom + inset * static_cast<double>(code_.depth() + 1) + 18;
    for (std::size_t i = 0; i < code_.columns.size(); ++i) {
      const auto& column = code_.columns[i];
      const auto words =
          fmt::format("{}. {}{}", i + 1, elided(column.words, 1600), column.amount.empty() ? "" : "; " + column.amount);
      const auto lines = sheet_.write_lines(MarkKind::label, {margin, sheet_.y}, words, 880, {{}, written(column)});
      sheet_.y += line_height * static_cast<double>(lines);
      data.rows.push_back(
          {kernel, loops(i), static_cast<double>(i + 1), column.words, column.bytes, column.operations});
    }
    sheet_.y += 12;
  }

 private:
  std::string name(const Buffer& buffer) const {
    return fmt::format("{} {}[{}], {}", elided(buffer.name, 150), row(buffer.type).name, fmt::join(buffer.extent, ", "),
                       hardware_.levels.at(buffer.level).name);
  }
  const std::string& array(BufferId id) const { return nest_.scratch.at(nest_.at(id).array).name; }
  std::string written(const Column& column) const { return column.writes ? array(*column.writes) : std::string(); }
  double left(std::size_t column) const { return begins_.at(column); }
  double middle(std::size_t column) const { return (begins_.at(column) + ends_.at(column)) / 2; }
  // How far a frame extends beyond its columns.
  double beyond(const Frame& frame) const { return inset * static_cast<double>(code_.depth() - frame.depth) - 2; }

  // Columns are as wide as the words of the surrounding frames need.
  void set_edges() {
    std::vector<double> widths(code_.columns.size(), least_column);
    for (auto frame = code_.frames.rbegin(); frame != code_.frames.rend(); ++frame) {
      if (frame->begin == frame->end) continue;
      double has = 2 * beyond(*frame);
      for (auto i = frame->begin; i < frame->end; ++i) has += widths[i];
      widths[frame->end - 1] += std::max(0.0, text_width(frame->words) + 12 - has);
    }
    begins_ = {margin + names_width_ + inset * static_cast<double>(code_.depth() + 1)};
    for (std::size_t i = 0; i < widths.size(); ++i) {
      double apart = 0;  // frames end and begin between these columns
      for (const auto& frame : code_.frames)
        if (frame.end == i + 1 || frame.begin == i + 1) apart = std::max(apart, 2 * beyond(frame) + 2);
      ends_.push_back(begins_.back() + widths[i]);
      begins_.push_back(ends_.back() + apart);
    }
  }

  std::string loops(std::size_t column) const {
    std::string all;
    for (const auto& frame : code_.frames)
      if (frame.begin <= column && column < frame.end) all += (all.empty() ? "" : "; ") + frame.words;
    return all;
  }

  void read_at(double x, double y, const std::string& of) {
    sheet_.add(MarkKind::limit, Line{{{x, y - 7}, {x, y + 7}}}, {{}, of});
  }
  static bool reads(const Column& column, BufferId id) {
    return std::ranges::find(column.reads, id) != column.reads.end();
  }
  bool held_inside(BufferId id, std::size_t frame) const {
    const auto found = code_.around.find(id);
    return found != code_.around.end() && std::ranges::find(found->second, frame) != found->second.end();
  }

  Life life(BufferId id) const {
    Life made;
    const auto use = [&](std::size_t begin, std::size_t end) {
      made = made.used ? Life{std::min(made.begin, begin), std::max(made.end, end), true} : Life{begin, end, true};
    };
    for (std::size_t i = 0; i < code_.columns.size(); ++i) {
      const auto& column = code_.columns[i];
      if (column.writes != id && !reads(column, id)) continue;
      use(i, i + 1);
      for (std::size_t f = nest_.groups.size(); f < code_.frames.size(); ++f)
        if (code_.frames[f].begin <= i && i < code_.frames[f].end && !held_inside(id, f))
          use(code_.frames[f].begin, code_.frames[f].end);
    }
    return made;
  }

  void draw(BufferId id) {
    const auto& buffer = nest_.at(id);
    const double y = sheet_.y + row_height / 2;
    const Of of{level_series(hardware_, buffer.level), array(id), name(buffer)};
    sheet_.write(MarkKind::label, {margin, y}, Anchor::start, name(buffer), names_width_ - 12, {{}, array(id)});
    if (const auto held = life(id); held.used)
      sheet_.add(MarkKind::again, Area{left(held.begin) + 3, y - 6, ends_.at(held.end - 1) - left(held.begin) - 6, 12},
                 of);
    for (std::size_t i = 0; i < code_.columns.size(); ++i) {
      const auto& column = code_.columns[i];
      if (reads(column, id)) read_at(middle(i) - (column.writes == id ? 6 : 0), y, array(id));
      if (column.writes == id)
        sheet_.add(MarkKind::point, Line{{{middle(i) + (reads(column, id) ? 6 : 0), y}}},
                   {level_series(hardware_, buffer.level), array(id)});
    }
    sheet_.y += row_height;
  }

  void draw(const Frame& frame, double top, double bottom) {
    if (frame.begin == frame.end) return;
    const double x0 = left(frame.begin) - beyond(frame), x1 = ends_.at(frame.end - 1) + beyond(frame);
    const double y = top + frame_height * static_cast<double>(frame.depth);
    sheet_.add(MarkKind::frame, Area{x0, y, x1 - x0, bottom - y + beyond(frame)}, {{}, "", frame.words});
    sheet_.write(MarkKind::label, {x0 + 5, y + 11}, Anchor::start, frame.words, x1 - x0 - 10);
  }

  Sheet& sheet_;
  const LoopNest& nest_;
  const Hardware& hardware_;
  Columns code_;
  std::vector<BufferId> order_;
  double names_width_ = 0;
  std::vector<double> begins_, ends_;  // of columns
};

}  // namespace

std::optional<Chart> loops(const Charted& charted) {
  Data data{{"kernel", "loops", "step", "what", "bytes", "operations"}, {}};
  Sheet sheet("loops of " + charted.title, 900);
  for (const auto& one : charted.kernels) {
    const auto nest = lower(one.kernel, charted.hardware);
    sheet.head("kernel " + kernel_name(one));
    Drawing(sheet, nest, charted.hardware).draw(kernel_name(one), data);
  }
  if (data.rows.empty()) return std::nullopt;
  sheet.note("A variable is held along its bar, written at a dot and read at a stroke.");
  sheet.note(
      "A frame repeats its content for every tile: tiles of a group in parallel, tiles of a stream one after another.");
  sheet.note("The number after a line is what it moves each time, or what it computes and on which unit.");
  return sheet.end("loops", std::move(data));
}

}  // namespace napkin::chart
