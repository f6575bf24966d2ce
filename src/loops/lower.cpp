// Lowers a kernel to its loop nest: groups, the loops of the program, and around every column the loads and saves that
// it needs.
//
// Everything follows from one idea: a place is a body of the program, the whole program or the body of a loop. At each
// level, a tile of an input is loaded in the innermost body whose loop moves it. A computed array lives in the
// innermost body that contains all its uses.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "derive/masks.hpp"
#include "diagram/checked.hpp"
#include "diagram/match.hpp"
#include "loops/extents.hpp"
#include "loops/formats.hpp"
#include "loops/pieces.hpp"
#include "napkin/loops.hpp"

namespace napkin {
namespace {

using BodyId = std::size_t;
constexpr BodyId whole = 0;

// One body of the program: all of it, or a loop's.
struct Body {
  const std::vector<Step>* steps = nullptr;
  BodyId parent = whole;
  std::size_t depth = 0;
  Split split;  // of a loop
};

struct Placed {
  const Column* column;
  BodyId body;
};

class Lowering {
 public:
  Lowering(const Kernel& kernel, const Hardware& hardware)
      : diagram_(kernel.program.scratch),
        program_(kernel.program),
        file_arrays_(kernel.derivation->file_arrays),
        hardware_(hardware) {
    nest_.scratch = kernel.program.scratch;
    nest_.inputs = kernel.program.inputs;
    nest_.outputs = kernel.program.outputs;
    std::copy_if(kernel.partition.splits.begin(), kernel.partition.splits.end(), std::back_inserter(nest_.groups),
                 [](const Split& s) { return s.kind == SplitKind::group; });
    std::copy_if(kernel.partition.splits.begin(), kernel.partition.splits.end(), std::back_inserter(streams_),
                 [](const Split& s) { return s.kind == SplitKind::stream; });
    std::stable_sort(nest_.groups.begin(), nest_.groups.end(),
                     [](const Split& a, const Split& b) { return a.level < b.level; });
  }

  LoopNest run() {
    bodies_.push_back({&program_.steps, whole, 0, {}});
    find_bodies(whole);
    find_saves();
    make_computed();
    nest_.body = block(whole, {});
    set_extents(nest_);
    set_formats(nest_, hardware_);
    return std::move(nest_);
  }

 private:
  std::size_t leaf() const { return hardware_.levels.size() - 1; }

  // Bodies and columns

  void find_bodies(BodyId body) {
    for (const auto& step : *bodies_[body].steps) {
      if (const auto* column = std::get_if<Column>(&step)) {
        columns_.push_back({column, body});
        continue;
      }
      const auto& loop = std::get<Loop>(step);
      bodies_.push_back({&loop.body, body, bodies_[body].depth + 1, streams_.at(loop.label)});
      body_of_[&loop] = bodies_.size() - 1;
      find_bodies(bodies_.size() - 1);
    }
  }

  BodyId common(BodyId a, BodyId b) const {
    while (a != b)
      (bodies_[a].depth > bodies_[b].depth ? a : b) = bodies_[bodies_[a].depth > bodies_[b].depth ? a : b].parent;
    return a;
  }

  BufferId make_buffer(Buffer buffer, BodyId body) {
    buffer.type = diagram_.at(buffer.array).type;
    const auto stem = buffer.name;
    for (int n = 2; !names_.insert(buffer.name).second; ++n) buffer.name = fmt::format("{}_{}", stem, n);
    const BufferId id{static_cast<std::uint32_t>(nest_.buffers.size())};
    nest_.buffers.push_back(std::move(buffer));
    buffers_in_[body].push_back(id);
    return id;
  }

  // Computed arrays and their saves

  bool is_input(ArrayId array) const {
    return std::find(nest_.inputs.begin(), nest_.inputs.end(), array) != nest_.inputs.end();
  }

  // An output is saved in the innermost body around its last column that no loop over a wire without a dimension in the
  // output encloses.
  void find_saves() {
    std::map<ArrayId, Placed> last;
    for (const auto& placed : columns_) last.insert_or_assign(placed.column->output, placed);
    for (const auto output : nest_.outputs) {
      const auto& wires = diagram_.at(output).wires;
      auto save = last.at(output).body;
      for (auto body = save; body != whole; body = bodies_[body].parent)
        if (std::find(wires.begin(), wires.end(), bodies_[body].split.wire) == wires.end()) save = bodies_[body].parent;
      saves_[save].emplace_back(output, last.at(output).column);
      touch(output, save);
    }
  }
  void touch(ArrayId array, BodyId body) {
    if (const auto [at, fresh] = scope_.try_emplace(array, body); !fresh) at->second = common(at->second, body);
  }

  void make_computed() {
    std::vector<ArrayId> order;
    for (const auto& [column, body] : columns_) {
      if (std::find(order.begin(), order.end(), column->output) == order.end()) order.push_back(column->output);
      touch(column->output, body);
      if (column->carried) touch(*column->carried, body);
      for (const auto id : reads(*column))
        if (const auto array = access(diagram_, id).array; !is_input(array)) touch(array, body);
    }
    name_computed(order);
    for (const auto array : order) {
      Buffer buffer{.array = array, .level = leaf(), .name = nest_.scratch.at(array).name};
      for (const auto wire : diagram_.at(array).wires) buffer.at.push_back(along(wire));
      computed_[array] = make_buffer(std::move(buffer), scope_.at(array));
    }
  }

  // Every computed array gets a name of its own, and arrays of the file keep theirs: `S_sum` for what becomes `S`.
  void name_computed(const std::vector<ArrayId>& order) {
    std::set<std::string> taken;
    for (std::size_t id = 0; id < file_arrays_; ++id) taken.insert(diagram_.arrays[id].name);
    for (const auto id : order) {
      auto& name = nest_.scratch.at(id).name;
      if (id.index < file_arrays_ || taken.insert(name).second) continue;
      if (const auto* fold = fold_of(id)) name = fmt::format("{}_{}", name, fold->name);
      const auto stem = name;
      for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
    }
  }
  const Reduction* fold_of(ArrayId id) const {
    for (const auto& [column, body] : columns_)
      if (column->output == id && column->fold) return column->fold;
    return nullptr;
  }

  std::vector<ExprId> reads(const Column& column) const {
    auto all = accesses(diagram_, column.value);
    if (column.repair)
      for (const auto id : accesses(diagram_, *column.repair))
        if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
    return all;
  }

  // Tiles

  // Returns the innermost body around `body` whose loop, at `level` or above, moves the access.
  BodyId place(const Access& access, BodyId body, std::size_t level) const {
    for (; body != whole; body = bodies_[body].parent)
      if (bodies_[body].split.level <= level && moves(access.at, bodies_[body].split.wire)) return body;
    return whole;
  }
  struct TileKey {
    BodyId body;
    std::size_t level;
    ArrayId array;
    std::vector<Index> at;
    auto operator<=>(const TileKey&) const = default;
  };
  TileKey tile_key(const Access& access, BodyId body, std::size_t level) const {
    return {place(access, body, level), level, access.array, access.at};
  }

  // Adds the loads of one column that belong in `here` and do not exist yet.
  void load(const Column& column, BodyId body, BodyId here, std::vector<LoopStatement>& steps) {
    for (const auto id : reads(column))
      if (const auto& read = access(diagram_, id); is_input(read.array)) load(read, body, here, leaf(), steps);
  }
  // Adds the loads down to the level `last`.
  void load(const Access& read, BodyId body, BodyId here, std::size_t last, std::vector<LoopStatement>& steps) {
    for (std::size_t level = 1; level <= last; ++level) {
      const auto key = tile_key(read, body, level);
      if (key.body != here || tiles_.contains(key)) continue;
      const auto name = fmt::format("{}_{}", diagram_.at(read.array).name, hardware_.levels[level].name);
      tiles_[key] = make_buffer({.array = read.array, .level = level, .name = name, .at = read.at}, here);
      std::optional<BufferId> from;
      if (level > 1) from = tiles_.at(tile_key(read, body, level - 1));
      steps.push_back({Load{tiles_[key], from}});
    }
  }
  // The masks of a loop are loaded first, down to the loop's own level. Each is tested before anything else is loaded.
  void ask(const Loop& loop, BodyId here, std::vector<LoopStatement>& steps) {
    const auto level = bodies_[here].split.level;
    for (const auto& asked : loop.asks) {
      const auto& read = access(diagram_, asked.access);
      const auto reader = body_that_reads(asked.access, here);
      const auto key = tile_key(read, reader, level);
      if (key.body != here) continue;
      load(read, reader, here, level, steps);
      steps.push_back({MaskTest{tiles_.at(key), asked.access, asked.wanted}});
    }
  }
  BodyId body_that_reads(ExprId id, BodyId within) const {
    for (const auto& [column, body] : columns_) {
      if (common(body, within) != within) continue;
      const auto all = reads(*column);
      if (std::find(all.begin(), all.end(), id) != all.end()) return body;
    }
    throw std::logic_error("a loop asks for a mask that nothing in it reads");
  }
  void load(const Step& step, BodyId body, BodyId here, std::vector<LoopStatement>& steps) {
    if (const auto* column = std::get_if<Column>(&step)) return load(*column, body, here, steps);
    const auto& loop = std::get<Loop>(step);
    for (const auto& inner : loop.body) load(inner, body_of_.at(&loop), here, steps);
  }

  // Blocks

  LoopBody block(const Loop& loop) {
    const auto body = body_of_.at(&loop);
    LoopBody result;
    ask(loop, body, result.steps);
    return block(body, std::move(result));
  }
  LoopBody block(BodyId body, LoopBody result) {
    const auto& steps = *bodies_[body].steps;
    if (body != whole)
      for (const auto& step : steps) load(step, body, body, result.steps);
    for (const auto& step : steps) {
      if (body == whole) load(step, body, body, result.steps);
      match(
          step, [&](const Column& column) { result.steps.push_back({compute(column, body)}); },
          [&](const Loop& loop) {
            result.steps.push_back({For{streams_.at(loop.label), block(loop), loop.needs}});
          });
      for (const auto& [output, last] : saves_[body])
        if (contains(step, last)) save(output, body, result.steps);
    }
    result.buffers = buffers_in_[body];
    return result;
  }

  static bool contains(const Step& step, const Column* column) {
    if (const auto* own = std::get_if<Column>(&step)) return own == column;
    const auto& steps = std::get<Loop>(step).body;
    return std::any_of(steps.begin(), steps.end(), [&](const Step& inner) { return contains(inner, column); });
  }

  Compute compute(const Column& column, BodyId body) {
    Compute result{column, computed_.at(column.output), {}, {}, {}, column.value};
    if (auto free = unmasked(nest_.scratch, column.value))
      result.masks = std::move(free->conditions), result.unmasked = free->value;
    if (column.carried) result.carried = computed_.at(*column.carried);
    for (const auto id : reads(column)) {
      const auto& read = access(diagram_, id);
      const auto from = is_input(read.array) ? tiles_.at(tile_key(read, body, leaf())) : computed_.at(read.array);
      result.reads.emplace_back(id, from);
    }
    return result;
  }

  // Saves an output from the leaf through a buffer at every level between.
  void save(ArrayId output, BodyId body, std::vector<LoopStatement>& steps) {
    auto from = computed_.at(output);
    for (auto level = leaf() - 1; level > 0; --level) {
      auto home = body;
      while (home != whole && bodies_[home].split.level > level) home = bodies_[home].parent;
      const auto name = fmt::format("{}_{}", diagram_.at(output).name, hardware_.levels[level].name);
      const auto at = nest_.at(from).at;
      const auto stage = make_buffer({.array = output, .level = level, .name = name, .at = at}, home);
      steps.push_back({Save{from, stage}});
      from = stage;
    }
    steps.push_back({Save{from, std::nullopt}});
  }

  const Diagram& diagram_;
  const Program& program_;
  std::size_t file_arrays_;
  const Hardware& hardware_;
  LoopNest nest_;
  std::vector<Split> streams_;
  std::vector<Body> bodies_;
  std::map<const Loop*, BodyId> body_of_;
  std::vector<Placed> columns_;
  std::map<ArrayId, BodyId> scope_;
  std::map<BodyId, std::vector<std::pair<ArrayId, const Column*>>> saves_;
  std::map<ArrayId, BufferId> computed_;
  std::map<TileKey, BufferId> tiles_;
  std::map<BodyId, std::vector<BufferId>> buffers_in_;
  std::set<std::string> names_;
};

}  // namespace

LoopNest lower(const Kernel& kernel, const Hardware& hardware) { return Lowering(kernel, hardware).run(); }

}  // namespace napkin
