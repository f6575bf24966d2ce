// Builds the products of a cost model from a loop nest, in one walk over its text that executes no iteration.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "cost/columns.hpp"
#include "cost/model.hpp"
#include "cost/places.hpp"
#include "cost/reach.hpp"
#include "diagram/checked.hpp"
#include "diagram/match.hpp"
#include "loops/pieces.hpp"
#include "loops/turns.hpp"
#include "loops/work.hpp"

namespace napkin {

// Fills a CostModel from the nest of its shape.
class CostModelBuilder {
 public:
  CostModelBuilder(CostModel& model, const Kernel& shape, const LoopNest& nest, const Hardware& hardware)
      : model_(model),
        shape_(shape),
        nest_(nest),
        diagram_(nest.scratch),
        hardware_(hardware),
        leaf_(hardware.levels.size() - 1),
        places_(model, shape.partition, nest) {}

  void run() {
    for (std::uint32_t w = 0; w < diagram_.wires.size(); ++w) {
      model_.wire_sizes_.push_back(diagram_.size(WireId{w}).value_or(1));
      model_.sized_.push_back(shape_.derivation->scratch.size(WireId{w}).has_value());
    }
    walk(nest_.body);
    find_rooms();
    hold();
    group();
    model_.settle(nest_);
  }

 private:
  using Product = CostModel::Product;

  // ---- the walk ----
  void walk(const LoopBody& block) {
    for (const auto id : block.buffers) home_[id] = loops_;
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { transfer(load.to, false, !load.from); },
          [&](const MaskTest& asked) { ask(asked); }, [&](const Save& save) { transfer(save.from, true, false); },
          [&](const Compute& compute) { sweep(compute), operate(compute); }, [&](const For& loop) { walk(loop); });
  }
  void walk(const For& loop) {
    const auto around = asks_;
    loops_.push_back(loop.split);
    if (!loop.needs.empty()) needs_.push_back({loop.needs, loop.split.level, loops_});
    count_steps(loop.split);
    const auto at = model_.masks_.size();
    if (passes_over(loop)) model_.masks_.push_back({loop.split, loop.needs, {}, {}, {}});
    walk(loop.body);
    if (passes_over(loop)) mask(loop, model_.masks_[at]);
    if (!loop.needs.empty()) needs_.pop_back();
    loops_.pop_back();
    asks_ = around;
  }
  static bool passes_over(const For& loop) {
    const auto& steps = loop.body.steps;
    return !loop.needs.empty() || std::any_of(steps.begin(), steps.end(), [](const LoopStatement& step) {
      return std::holds_alternative<MaskTest>(step.node);
    });
  }
  // Marks carried state over which an inner loop runs. It is not a streamed tile: the whole of it stays.
  void sweep(const Compute& compute) {
    depth_[&compute] = loops_.size();
    std::vector<BufferId> used = {compute.to};
    for (const auto& [access, buffer] : compute.reads) used.push_back(buffer);
    for (const auto id : used) {
      const auto& wires = diagram_.at(nest_.at(id).array).wires;
      for (auto loop = home_.at(id).size(); loop < loops_.size(); ++loop)
        if (std::find(wires.begin(), wires.end(), loops_[loop].wire) != wires.end()) swept_.insert(id);
    }
  }
  // Data that is loaded from the array itself crosses in the type in which the array is stored.
  void transfer(BufferId id, bool saved, bool from_array) {
    const auto& buffer = nest_.at(id);
    const auto& array = diagram_.at(buffer.array);
    const auto& type = row(from_array ? array.stored() : array.type);
    CostModel::Transfer all{buffer.level, buffer.array, saved, type.type, type.bytes, type.share, {}};
    places_.reach(all.values, buffer.at, buffer.array, buffer.level, loops_, true);
    places_.repeat(all.values, Places::wires_in(buffer.at), buffer.level, loops_);
    leave_out(all.values, buffer.level, Region::Part::run, {});
    share_out(all.values);
    find_rows(all, buffer);
    places_.repeat(all.loads, {}, buffer.level, loops_);
    const auto& inputs = diagram_.inputs;
    all.from_file = std::find(inputs.begin(), inputs.end(), buffer.array) != inputs.end();
    all.array_values = bytes_of(diagram_, buffer.array) / type.bytes * row(array.stored()).share;
    model_.transfers_.push_back(std::move(all));
  }
  // Finds the dimensions that are contiguous in memory. It is unknown which pieces masks skip, so that wires with masks
  // do not count. Saves lie in deeper loops, too.
  void find_rows(CostModel::Transfer& transfer, const Buffer& buffer) {
    const auto& whole = transfer.values.whole;
    for (auto i = buffer.at.size(); i > 0; --i) {
      if (!Places::is_plain(buffer.at, i - 1)) return;
      const auto wire = buffer.at[i - 1].terms[0].first;
      if (std::find(whole.begin(), whole.end(), wire) == whole.end()) return;
      auto level = buffer.level;
      for (const auto& loop : loops_)
        if (loop.wire == wire) level = std::max(level, loop.level);
      transfer.rows.push_back(places_.cut_at(wire, level, loops_));
    }
    transfer.rows_alone = true;
  }
  void count_steps(const Split& split) {
    if (split.level == leaf_) return;
    Product all;
    places_.repeat(all, {}, split.level, loops_);
    leave_out(all, split.level, Region::Part::run, {});
    share_out(all);
    model_.steps_.push_back(std::move(all));
  }
  void hold() {
    const auto all = held(nest_);
    const auto kept = outliving(all);
    model_.ideal_.resize(leaf_ + 1);
    for (std::uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      const auto& buffer = nest_.buffers[i];
      const auto& array = diagram_.at(buffer.array);
      CostModel::Holding held{buffer.array, array.name, row(buffer.type).bytes, {}, buffer.type, array.stored()};
      places_.reach(held.values, buffer.at, buffer.array, buffer.level, home_[BufferId{i}], false);
      holding_[BufferId{i}] = model_.holdings_.size();
      const bool counts = is_one_of(nest_.inputs, buffer.array) || is_one_of(nest_.outputs, buffer.array) ||
                          swept_.contains(BufferId{i}) || kept.contains(BufferId{i});
      if (counts) model_.ideal_[buffer.level].push_back(model_.holdings_.size());
      model_.holdings_.push_back(std::move(held));
    }
    for (const auto& held : all)
      for (std::size_t level = 1; level <= leaf_; ++level)
        if (auto column = at_level(held, level); !column.held.empty()) model_.columns_.push_back(std::move(column));
    keep_largest(model_.columns_);
    model_.instants_.resize(leaf_ + 1);
    if (leaf_ > 1 && std::any_of(hardware_.levels.begin() + 2, hardware_.levels.end(),
                                 [](const Level& level) { return !level.shared; }))
      find_instants(all);
  }
  static bool is_one_of(const std::vector<ArrayId>& arrays, ArrayId array) {
    return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
  }
  // What outlives a piece of a loop counts in any model. A buffer that becomes an output, or is no larger than one,
  // does not count in addition to the output's tile.
  std::set<BufferId> outliving(const std::vector<Held>& all) const {
    std::set<BufferId> kept;
    for (const auto& held : all)
      for (const auto id : held.buffers)
        if (home_.at(id).size() < depth_.at(held.compute) && !is_within_output(nest_.at(id).array)) kept.insert(id);
    return kept;
  }
  bool is_within_output(ArrayId array) const {
    return std::ranges::any_of(nest_.outputs, [&](ArrayId output) {
      const auto& there = diagram_.at(output).wires;
      return std::ranges::all_of(diagram_.at(array).wires,
                                 [&](WireId wire) { return std::ranges::find(there, wire) != there.end(); });
    });
  }
  std::vector<std::size_t> of_level(const std::vector<BufferId>& buffers, std::size_t level) const {
    std::vector<std::size_t> all;
    for (const auto id : buffers)
      if (nest_.at(id).level == level) all.push_back(holding_.at(id));
    return all;
  }
  CostModel::Column at_level(const Held& held, std::size_t level) const {
    CostModel::Column column{level, of_level(held.buffers, level), {}, {}};
    if (held.overwrites && nest_.at(held.overwrites->first).level == level)
      column.shared.emplace_back(holding_.at(held.overwrites->first), holding_.at(held.overwrites->second));
    return column;
  }
  // Instants are single columns and, for every level below whose groups take turns, everything that lives in one turn:
  // the last group still needs it when the first is done with it.
  void find_instants(const std::vector<Held>& all) {
    const auto taken = turns(nest_);
    for (std::size_t level = 1; level <= leaf_; ++level) model_.instants_[level] = instants(all, taken, level);
  }
  using Turns = std::vector<std::vector<Turn>>;  // by column
  std::vector<CostModel::Instant> instants(const std::vector<Held>& all, const Turns& taken, std::size_t level) const {
    std::vector<CostModel::Instant> made;
    for (std::size_t i = 0; i < all.size(); ++i) made.push_back({at_level(all[i], level), 0, waiting(taken[i], level)});
    for (auto below = level + 1; below <= leaf_; ++below) {
      if (hardware_.levels[below].shared) continue;
      std::map<std::size_t, CostModel::Instant> of_turn;
      for (std::size_t i = 0; i < all.size(); ++i) {
        auto& turn = of_turn[taken[i][below - 2].number];
        auto here = of_level(all[i].buffers, level);
        here.insert(here.end(), turn.at_work.held.begin(), turn.at_work.held.end());
        std::ranges::sort(here);
        here.erase(std::unique(here.begin(), here.end()), here.end());
        turn = {{level, std::move(here), {}, {}}, below, waiting(taken[i], level)};
      }
      for (auto& [number, turn] : of_turn) made.push_back(std::move(turn));
    }
    keep_largest(made);
    return made;
  }
  std::vector<CostModel::Waiting> waiting(const std::vector<Turn>& turns, std::size_t level) const {
    std::vector<CostModel::Waiting> all;
    for (const auto& turn : turns) {
      CostModel::Waiting made{turn.level, of_level(turn.before, level), of_level(turn.after, level)};
      if (turn.level <= level && !(made.before.empty() && made.after.empty())) all.push_back(std::move(made));
    }
    return all;
  }
  void group() {
    for (std::size_t level = 1; level <= leaf_; ++level) {
      std::set<WireId> wires;
      for (const auto& g : nest_.groups)
        if (g.level <= level) wires.insert(g.wire);
      for (const auto wire : wires)
        model_.groupings_.push_back({level, places_.cut(wire, places_.splits(wire, level, {})),
                                     places_.cut(wire, places_.splits(wire, level - 1, {}))});
    }
  }

  void find_rooms() {
    for (const auto& level : hardware_.levels) model_.own_rooms_.push_back(level.room());
    model_.rooms_ = model_.own_rooms_;
    const auto& level = hardware_.levels[leaf_];
    const auto streams = [&](const Split& s) { return s.level == leaf_ && s.kind == SplitKind::stream; };
    if (contracts_ || std::ranges::any_of(shape_.partition.splits, streams)) return;
    if (level.shared && level.max_groups && level.capacity)
      model_.rooms_[leaf_] = std::min(level.capacity->value, level.room() * static_cast<double>(*level.max_groups));
  }

  // ---- operations ----
  void operate(const Compute& compute) {
    const auto& column = compute.column;
    contracts_ = contracts_ || contracts(diagram_, column);
    std::set<WireId> wires(diagram_.at(column.output).wires.begin(), diagram_.at(column.output).wires.end());
    const std::set<WireId> kept = wires;
    wires.insert(column.over.begin(), column.over.end());
    const auto add_all = [&](const std::vector<ColumnWork>& list, Region::Part part) {
      for (const auto& work : list)
        add({work.unit, work.type, work.parts}, work.operations,
            positions(work.folded ? wires : kept, part, compute.masks));
    };
    auto masked = work(column);
    if (compute.masks.empty()) return add_all(masked, Region::Part::run);
    auto free = column;
    free.value = compute.unmasked;
    auto open = work(free);
    // A mask inside a product keeps the product from matrix units, even where it lets everything through.
    if (factors_of(diagram_, free) && !factors_of(diagram_, column)) open = on_lanes(std::move(open));
    add_all(take_common(masked, open), Region::Part::run);
    add_all(masked, Region::Part::masked);
    add_all(open, Region::Part::open);
  }
  std::vector<ColumnWork> work(const Column& column) const {
    auto all = work_of(diagram_, column, hardware_);
    return multiplies_ ? all : on_lanes(std::move(all));
  }
  Product positions(const std::set<WireId>& wires, Region::Part part, const std::vector<Condition>& masks) {
    Product all;
    all.whole.assign(wires.begin(), wires.end());
    places_.repeat(all, wires, leaf_, loops_);
    leave_out(all, leaf_, part, masks);
    share_out(all);
    return all;
  }
  void add(Work work, double each, const Product& positions) {
    auto at = std::find(model_.work_.begin(), model_.work_.end(), work);
    if (at == model_.work_.end()) at = model_.work_.insert(at, work);
    const bool masked =
        positions.region && model_.regions_[*positions.region].part == Region::Part::masked && work.unit == Unit::fma;
    model_.operations_.push_back({static_cast<std::size_t>(at - model_.work_.begin()), each, positions, masked});
  }

  // ---- masks ----
  struct Needs {
    std::vector<Condition> conditions;
    std::size_t level;
    std::vector<Split> loops;
  };
  static void add_wires(const std::vector<Condition>& conditions, std::set<WireId>& wires) {
    for (const auto& condition : conditions)
      for (const auto& term : condition.terms) wires.insert(term.first);
  }
  // Moves the part of a product that masks cut into a region: the wires of their conditions, and everything that shares
  // wires with those.
  void leave_out(Product& product, std::size_t level, Region::Part part, const std::vector<Condition>& masks) {
    std::set<WireId> wires;
    for (const auto& needs : needs_) add_wires(needs.conditions, wires);
    if (part != Region::Part::run) add_wires(masks, wires);
    if (wires.empty()) return;
    Region region;
    region.part = part;
    take_footprints(product, wires, region);
    for (const auto wire : wires) {
      const auto cut = places_.cut_at(wire, level, loops_);
      region.wires.push_back(wire);
      region.cuts.push_back(cut);
      region.measured.push_back(std::erase(product.whole, wire) > 0);
      std::erase(product.counts, cut);
    }
    for (const auto& needs : needs_) region.needs.push_back(test(needs, wires));
    if (part != Region::Part::run) region.open = test({masks, level, loops_}, wires);
    product.region = number(std::move(region));
  }
  void take_footprints(Product& product, std::set<WireId>& wires, Region& region) {
    std::erase_if(product.footprints, [&](std::size_t footprint) {
      const auto& cuts = model_.footprints_[footprint].cuts;
      const auto meets = [&](std::size_t cut) { return wires.contains(model_.cuts_[cut].wire); };
      if (std::none_of(cuts.begin(), cuts.end(), meets)) return false;
      for (const auto cut : cuts) wires.insert(model_.cuts_[cut].wire);
      region.footprints.push_back(footprint);
      return true;
    });
  }
  Region::Test test(const Needs& needs, const std::set<WireId>& wires) const {
    Region::Test made{needs.conditions, {}};
    for (const auto wire : wires) made.depths.push_back(places_.splits(wire, needs.level, needs.loops).size());
    return made;
  }
  std::size_t number(Region region) {
    auto& all = model_.regions_;
    const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), region) - all.begin());
    if (at == all.size()) all.push_back(std::move(region));
    return at;
  }
  // If a finer loop tests the same mask on smaller pieces, only that test counts. If the density is unknown, all pieces
  // are run.
  void ask(const MaskTest& ask) {
    const auto& tile = nest_.at(ask.tile);
    const auto& density = diagram_.at(tile.array).density;
    if (!density) return;
    CostModel::Share share{ask.wanted ? *density : 1 - *density, {}};
    places_.reach(share.entries, tile.at, tile.array, tile.level, loops_, false);
    asks_[{ask.access, ask.wanted}] = model_.shares_.size();
    model_.shares_.push_back(std::move(share));
  }
  void share_out(Product& product) const {
    for (const auto& [asked, share] : asks_) product.shares.push_back(share);
  }
  // Counts the pieces of one loop that are run.
  void mask(const For& loop, CostModel::Mask& mask) {
    std::set<WireId> wires;
    add_wires(loop.needs, wires);
    for (const auto& step : loop.body.steps)
      if (const auto* ask = std::get_if<MaskTest>(&step.node)) {
        const auto& tile = nest_.at(ask->tile);
        wires.merge(Places::wires_in(tile.at));
        mask.asks.push_back((ask->wanted ? "" : "not ") + to_text(diagram_, ask->access));
      }
    for (const auto wire : wires) mask.all.counts.push_back(places_.cut_at(wire, loop.split.level, loops_));
    mask.run = mask.all;
    leave_out(mask.run, loop.split.level, Region::Part::run, {});
    share_out(mask.run);
  }

  CostModel& model_;
  const Kernel& shape_;
  const LoopNest& nest_;
  const Diagram& diagram_;
  const Hardware& hardware_;
  std::size_t leaf_;
  Places places_;
  const bool multiplies_ = has_contraction(*shape_.derivation, hardware_);
  bool contracts_ = false;  // some column
  std::vector<Split> loops_;
  std::vector<Needs> needs_;             // of the loops around
  std::map<Asked, std::size_t> asks_{};  // of the tests before in their bodies, to their shares
  std::map<BufferId, std::vector<Split>> home_;
  std::set<BufferId> swept_;
  std::map<const Compute*, std::size_t> depth_;  // loops around it
  std::map<BufferId, std::size_t> holding_;
};

namespace {

// Shapes do not depend on sizes, so that any size may replace an unknown one.
std::optional<Kernel> sized(const Kernel& shape) {
  const auto& axes = shape.program.scratch.axes;
  if (std::ranges::all_of(axes, [](const Axis& axis) { return axis.size.has_value(); })) return std::nullopt;
  auto copy = shape;
  for (auto& axis : copy.program.scratch.axes) axis.size = axis.size.value_or(1);
  return copy;
}

}  // namespace

CostModel::CostModel(const Kernel& shape, const Hardware& hardware) : hardware_(&hardware) {
  const auto copy = sized(shape);
  const LoopNest nest = lower(copy ? *copy : shape, hardware);
  CostModelBuilder(*this, shape, nest, hardware).run();
}

}  // namespace napkin
