// Runs a loop nest on numbers and counts what it moves. What memories hold is counted group by group elsewhere.
//
// Every group at the leaf is a frame with its own intervals and buffers. Frames under one group of an outer level share
// the buffers of that level. Blocks run one after another. The frames of one block execute the nest together, step by
// step, so that what a level does once for all of them is done, and counted, once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "loops/arithmetic.hpp"
#include "loops/pieces.hpp"
#include "loops/residents.hpp"
#include "loops/tile.hpp"

namespace napkin {
namespace {

struct Frame {
  std::vector<Intervals> pieces;             // by level: what the loops down to it leave
  std::vector<std::size_t> parent;           // by level: number of the group that this frame is under
  std::vector<std::shared_ptr<Tile>> tiles;  // by BufferId
};
using Frames = std::vector<Frame*>;

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, const Hardware& hardware, Values& values, Arithmetic arithmetic, bool all_asked)
      : nest_(nest),
        hardware_(hardware),
        levels_(hardware.levels.size()),
        values_(values),
        arithmetic_(arithmetic),
        all_asked_(all_asked) {
    count_.levels.resize(levels_ - 1);
    count_.sector_bytes.resize(levels_ - 1);
    count_.operations.resize(3);
    for (std::uint32_t id = 0; id < nest.scratch.arrays.size(); ++id) arrays_.emplace_back(box_of({id}));
  }

  Count run() {
    if (values_.arrays.size() < nest_.scratch.arrays.size()) values_.arrays.resize(nest_.scratch.arrays.size());
    for (const auto input : nest_.inputs) arrays_[input.index].values = values_.arrays.at(input.index);
    Frame all{std::vector<Intervals>(levels_, whole()), std::vector<std::size_t>(levels_), {}};
    all.tiles.resize(nest_.buffers.size());
    run_blocks(all, 0);
    for (const auto output : nest_.outputs) values_.arrays[output.index] = arrays_[output.index].values;
    const auto most = residents(nest_, hardware_);
    for (std::size_t i = 0; i < most.size(); ++i)
      count_.levels[i].memory_values = most[i].values, count_.levels[i].memory_bytes = most[i].bytes;
    return count_;
  }

 private:
  // Groups

  Intervals whole() const {
    Intervals all;
    for (std::uint32_t w = 0; w < nest_.scratch.wires.size(); ++w)
      all.push_back({0, nest_.scratch.size(WireId{w}).value_or(0)});
    return all;
  }
  std::vector<Interval> box_of(ArrayId array) const {
    std::vector<Interval> box;
    for (const auto wire : nest_.scratch.at(array).wires) box.push_back({0, nest_.scratch.size(wire).value_or(0)});
    return box;
  }

  // Runs the groups of the first level one after another, and the groups inside together.
  void run_blocks(const Frame& frame, std::size_t group) {
    if (group < nest_.groups.size() && nest_.groups[group].level == 1) {
      for (auto& child : split(frame, nest_.groups[group])) run_blocks(child, group + 1);
      return;
    }
    std::vector<Frame> frames = {frame};
    for (; group < nest_.groups.size(); ++group) {
      std::vector<Frame> finer;
      for (const auto& coarse : frames)
        for (auto& child : split(coarse, nest_.groups[group])) finer.push_back(std::move(child));
      frames = std::move(finer);
    }
    Frames together;
    for (auto& each : frames) together.push_back(&each);
    run(nest_.body, std::move(together));
  }
  std::vector<Frame> split(const Frame& frame, const Split& group) {
    std::vector<Frame> children;
    for (std::int64_t n = 0; has_piece(frame, group, n); ++n) {
      children.push_back(frame);
      enter(children.back(), group, n);
      ++groups_;
      for (auto level = group.level; level < levels_; ++level) children.back().parent[level] = groups_;
    }
    return children;
  }

  static bool has_piece(const Frame& frame, const Split& split, std::int64_t n) {
    const auto& around = frame.pieces[split.level][split.wire.index];
    return around.begin + n * split.size < around.end;
  }
  void enter(Frame& frame, const Split& split, std::int64_t n) const {
    const auto around = frame.pieces[split.level][split.wire.index];
    const auto begin = around.begin + n * split.size;
    for (auto level = split.level; level < levels_; ++level)
      frame.pieces[level][split.wire.index] = {begin, std::min(begin + split.size, around.end)};
  }

  // Steps

  void run(const LoopBody& block, Frames frames) {
    for (const auto id : block.buffers) allocate(id, frames);
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { run(load, frames); },
          [&](const MaskTest& ask) {
            if (!all_asked_) std::erase_if(frames, [&](Frame* frame) { return passes_over(ask, *frame); });
          },
          [&](const Compute& compute) {
            for (auto* frame : frames) run(compute, *frame);
          },
          [&](const Save& save) {
            count_sectors(save, frames);
            for (auto* frame : frames) run(save, *frame);
          },
          [&](const For& loop) { run(loop, frames); });
  }

  void run(const For& loop, const Frames& frames) {
    std::vector<std::vector<Intervals>> around;
    for (const auto* frame : frames) around.push_back(frame->pieces);
    for (std::int64_t n = 0;; ++n) {
      Frames busy;
      bool more = false;
      for (std::size_t i = 0; i < frames.size(); ++i) {
        frames[i]->pieces = around[i];
        if (!has_piece(*frames[i], loop.split, n)) continue;
        more = true;
        enter(*frames[i], loop.split, n);
        if (all_hold_somewhere(loop.needs, frames[i]->pieces[loop.split.level])) busy.push_back(frames[i]);
      }
      if (!more) return;
      if (!busy.empty()) run(loop.body, busy);
    }
  }

  static bool passes_over(const MaskTest& ask, const Frame& frame) {
    const auto& values = frame.tiles[ask.tile.index]->values;
    return std::none_of(values.begin(), values.end(), [&](double v) { return (v != 0) == ask.wanted; });
  }

  // Calls `act` for the first frame under each group of a level, which acts for the others.
  template <class Act>
  void once_per_group(std::size_t level, const Frames& frames, Act act) const {
    std::map<std::size_t, Frame*> first;
    for (auto* frame : frames)
      if (first.try_emplace(frame->parent[level], frame).second) act(*frame);
  }

  void allocate(BufferId id, const Frames& frames) {
    const auto& buffer = nest_.at(id);
    std::map<std::size_t, std::shared_ptr<Tile>> made;
    for (auto* frame : frames) {
      auto& tile = made[frame->parent[buffer.level]];
      if (!tile) tile = std::make_shared<Tile>(box(buffer, *frame));
      frame->tiles[id.index] = tile;
    }
  }
  std::vector<Interval> box(const Buffer& buffer, const Frame& frame) const {
    std::vector<Interval> box;
    const auto& wires = nest_.scratch.at(buffer.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      box.push_back(footprint(buffer.at[i], frame.pieces[buffer.level], nest_.scratch.size(wires[i]).value_or(0)));
      if (box.back().length() > buffer.extent[i]) throw std::logic_error("a piece is longer than its buffer");
    }
    return box;
  }

  // A buffer that is widened in registers crosses in the array's type, and in the stored type if it comes from the
  // array.
  Datatype crosses_as(const Buffer& buffer, bool from_array) const {
    const auto& array = nest_.scratch.at(buffer.array);
    return from_array ? array.stored() : array.type;
  }
  // `moved` is the number of values that the statement has moved so far.
  void copy(const std::vector<Interval>& box, const Tile& from, Tile& to, const Buffer& counted, Datatype type,
            std::int64_t& moved) {
    const auto before = moved;
    for_each(box, [&](const std::vector<std::int64_t>& at) {
      to.values[to.index(at)] = from.values[from.index(at)];
      ++moved;
    });
    auto& level = count_.levels[counted.level - 1];
    level.transfer_values += moved - before;
    level.transfer_bytes += bytes_of(type, moved) - bytes_of(type, before);
  }

  void run(const Load& load, const Frames& frames) {
    const auto& buffer = nest_.at(load.to);
    once_per_group(buffer.level, frames, [&](Frame& frame) {
      auto& to = *frame.tiles[load.to.index];
      std::vector<std::int64_t> places;
      const auto type = crosses_as(buffer, !load.from);
      add_places(to.box, buffer, places);
      count_sectors(std::move(places), buffer, type);
      copy(to.box, load.from ? *frame.tiles[load.from->index] : arrays_[buffer.array.index], to, buffer, type,
           moved_[&load]);
    });
  }

  // Counts sectors. Values at consecutive places of the array are moved together, in whole sectors.
  void count_sectors(std::vector<std::int64_t> places, const Buffer& counted, Datatype type) {
    const auto& sector = hardware_.levels[counted.level].sector;
    if (!sector) return;
    std::ranges::sort(places);
    const auto each = static_cast<std::int64_t>(sector->value), parts = each * row(type).share;
    const std::int64_t bytes = row(type).bytes;
    std::int64_t last = -1, end = -1;  // sector, and place behind the one before
    for (const auto place : places) {
      const auto first = place * bytes / parts, next = ((place + 1) * bytes - 1) / parts;
      count_.sector_bytes[counted.level - 1] += (next - (place == end ? last : first - 1)) * each;
      last = next, end = place + 1;
    }
  }
  void add_places(const std::vector<Interval>& box, const Buffer& buffer, std::vector<std::int64_t>& places) const {
    for_each(box, [&](const std::vector<std::int64_t>& at) {
      places.push_back(static_cast<std::int64_t>(arrays_[buffer.array.index].index(at)));
    });
  }
  // The groups below save their parts of a tile together.
  void count_sectors(const Save& save, const Frames& frames) {
    const auto& buffer = nest_.at(save.from);
    std::map<std::size_t, std::vector<std::int64_t>> places;
    for (const auto* frame : frames) add_places(saved(buffer, *frame), buffer, places[frame->parent[buffer.level]]);
    for (auto& [group, of_group] : places) count_sectors(std::move(of_group), buffer, crosses_as(buffer, false));
  }
  std::vector<Interval> saved(const Buffer& buffer, const Frame& frame) const {
    std::vector<Interval> box;
    for (const auto wire : nest_.scratch.at(buffer.array).wires) box.push_back(frame.pieces.back()[wire.index]);
    return box;
  }

  void run(const Save& save, Frame& frame) {
    const auto& buffer = nest_.at(save.from);
    copy(saved(buffer, frame), *frame.tiles[save.from.index],
         save.to ? *frame.tiles[save.to->index] : arrays_[buffer.array.index], buffer, crosses_as(buffer, false),
         moved_[&save]);
  }

  // Columns

  void run(const Compute& compute, Frame& frame) {
    const auto& column = compute.column;
    const auto& wires = nest_.scratch.at(column.output).wires;
    auto& to = *frame.tiles[compute.to.index];
    std::vector<double> results;
    std::vector<Interval> cells;
    for (const auto wire : wires) cells.push_back(frame.pieces.back()[wire.index]);
    positions_.assign(nest_.scratch.wires.size(), 0);
    in_f32_ = is_in_f32(compute);
    const bool free = !compute.masks.empty() && all_hold_everywhere(compute.masks, frame.pieces.back());
    const ExprId what = free ? compute.unmasked : column.value;
    // All results before the first store: the output may be an operand.
    for_each(cells, [&](const std::vector<std::int64_t>& at) {
      place(wires, at);
      results.push_back(result(compute, what, frame));
    });
    std::size_t next = 0;
    const auto type = nest_.at(compute.to).type;
    for_each(cells,
             [&](const std::vector<std::int64_t>& at) { to.values[to.index(at)] = stored(results[next++], type); });
  }

  double stored(double number, Datatype type) const {
    return arithmetic_ == Arithmetic::exact ? number : row(type).round(number);
  }
  // Returns the rounded result of one operation.
  double computed(double number) const { return in_f32_ ? static_cast<float>(number) : number; }
  bool is_in_f32(const Compute& compute) const {
    const auto is_wide = [&](BufferId id) {
      const auto type = nest_.at(id).type;
      return type == Datatype::f64 || type == Datatype::i32;
    };
    return arithmetic_ == Arithmetic::formats && !is_wide(compute.to) &&
           std::none_of(compute.reads.begin(), compute.reads.end(),
                        [&](const auto& read) { return is_wide(read.second); });
  }

  void place(const std::vector<WireId>& wires, const std::vector<std::int64_t>& at) {
    for (std::size_t i = 0; i < wires.size(); ++i) positions_[wires[i].index] = at[i];
  }

  double result(const Compute& compute, ExprId what, const Frame& frame) {
    const auto& column = compute.column;
    if (!column.fold) return value(what, compute, frame);
    double total = column.fold->identity;
    std::vector<Interval> over;
    for (const auto wire : column.over) over.push_back(frame.pieces.back()[wire.index]);
    for_each(over, [&](const std::vector<std::int64_t>& at) {
      place(column.over, at);
      total = combine(*column.fold, total, value(what, compute, frame));
      operate(*column.fold->combine);
    });
    return column.carried ? combine(*column.fold, carried(compute, frame), total) : total;
  }
  double combine(const Reduction& reduction, double a, double b) const {
    const double both[] = {a, b};
    return computed(reduction.combine->value(both));
  }
  double carried(const Compute& compute, const Frame& frame) {
    const auto& tile = *frame.tiles[compute.carried->index];
    std::vector<std::int64_t> at;
    for (const auto wire : nest_.scratch.at(*compute.column.carried).wires) at.push_back(positions_[wire.index]);
    const double old = tile.values[tile.index(at)];
    if (!compute.column.repair) return old;
    operate(*find_pointwise("*"));
    return computed(value(*compute.column.repair, compute, frame) * old);
  }
  void operate(const Pointwise& function) {
    count_.operations[static_cast<std::size_t>(function.unit)] += function.operations;
  }
  // A small power is computed by multiplications.
  void operate(const Apply& apply) {
    const int products = small_power(nest_.scratch, apply) - 1;
    if (products < 1) operate(*apply.function);
    for (int i = 0; i < products; ++i) operate(*find_pointwise("*"));
  }
  // Values that are the same everywhere are computed once and not counted.
  bool varies(ExprId id) {
    const auto [at, fresh] = varies_.try_emplace(id, false);
    if (fresh) at->second = !free_wires(nest_.scratch, id).empty() || !arrays_read(nest_.scratch, id).empty();
    return at->second;
  }

  double value(ExprId id, const Compute& compute, const Frame& frame) {
    return match(
        nest_.scratch.at(id).node, [](const Constant& c) { return c.value; },
        [&](const Position& p) { return static_cast<double>(positions_[p.wire.index]); },
        [&](const Size& s) { return static_cast<double>(nest_.scratch.at(s.axis).size.value()); },
        [&](const Access& a) { return read(id, a, compute, frame); },
        [&](const Apply& a) {
          std::vector<double> arguments;
          for (const auto argument : a.arguments) arguments.push_back(value(argument, compute, frame));
          if (varies(id)) operate(a);
          return computed(a.function->value(arguments.data()));
        },
        [&](const Cast& c) { return stored(value(c.value, compute, frame), c.type); },
        [](const Reduce&) -> double { throw std::logic_error("a column holds a reduction"); });
  }
  double read(ExprId id, const Access& access, const Compute& compute, const Frame& frame) const {
    const auto& tile = *frame.tiles[compute.read_from(id).index];
    std::vector<std::int64_t> at;
    for (const auto& index : access.at) at.push_back(evaluate(index, positions_));
    return tile.values[tile.index(at)];
  }

  const LoopNest& nest_;
  const Hardware& hardware_;
  std::size_t levels_;
  Values& values_;
  Arithmetic arithmetic_;
  bool all_asked_;
  bool in_f32_ = false;  // of the current column
  Count count_;
  std::map<ExprId, bool> varies_;
  std::vector<Tile> arrays_;
  std::map<const void*, std::int64_t> moved_;  // by load or save, values so far
  std::vector<std::int64_t> positions_;
  std::size_t groups_ = 0;
};

}  // namespace

Count interpret(const LoopNest& nest, const Hardware& hardware, Values& values, bool all_asked) {
  return Interpreter(nest, hardware, values, Arithmetic::stored, all_asked).run();
}
Count interpret(const LoopNest& nest, const Hardware& hardware, Values& values, Arithmetic arithmetic) {
  return Interpreter(nest, hardware, values, arithmetic, false).run();
}

}  // namespace napkin
