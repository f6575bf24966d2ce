// Turns the groups of a kernel into blocks and threads. The theory's group rule is applied once more, to the piece of
// the innermost group: each thread computes its own elements of every output by itself, and recomputes the columns that
// lack the divided wire.
//
// Wires that all columns have are divided first, because that recomputes nothing. Streams below the blocks, which stage
// tiles in registers, are removed. The remaining streams get shorter pieces, so that a thread's temporaries stay small.
// Sizes here are those of whole pieces, so that the emitted code holds for any size.
#include "device/threads/threads.hpp"

#include <algorithm>
#include <array>

#include "derive/columns.hpp"
#include "diagram/contains.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

constexpr int most_threads = 1024, wanted_threads = 256, busy_threads = 64;
constexpr std::int64_t most_own_bytes = 2048;  // of a thread's arrays
constexpr std::int64_t longest_stream = 8;     // pieces of a stream in one thread
constexpr double shared_without_limit = 99 * 1024, most_shared = 227 * 1024;

// One wire that may be split over threads.
struct Share {
  WireId wire;
  std::int64_t piece;  // of the innermost group
  bool recomputes;     // some column lacks the wire
  bool streamed;       // threads divide each piece of a stream among them
  std::int64_t parts = 1;

  std::int64_t size() const { return pieces_of(piece, parts); }
  // The next finer split, doubling the parts.
  std::int64_t next() const { return std::min(piece, parts * 2); }
};

class Threading {
 public:
  Threading(const Kernel& kernel, const Hardware& hardware) : kernel_(kernel) {
    result_.hardware = hardware;
    Level level;
    level.name = level.unit = "thread";
    result_.hardware.levels.push_back(level);
    result_.block_level = block_level(hardware);
    leave_to_threads();
    columns_ = columns_in(kernel_.program.steps);
    allow_whole_pieces(kernel_);
  }

  ThreadedKernel run() {
    find_shares();
    share_out();
    result_.nest = lower(refined(), result_.hardware);
    while (own_bytes() > most_own_bytes && split_further()) result_.nest = lower(refined(), result_.hardware);
    result_.spread = spread();
    std::int64_t used = groups_below();
    for (const auto& share : shares_) used *= pieces_of(share.piece, share.size());
    result_.threads = static_cast<int>(round_up(std::max<std::int64_t>(used, busy_threads), 32));
    stage_tiles();
    return std::move(result_);
  }

 private:
  static std::size_t block_level(const Hardware& hardware) {
    for (std::size_t level = 1; level < hardware.levels.size(); ++level)
      if (hardware.levels[level].unit == "block") return level;
    return 1;
  }
  std::size_t thread_level() const { return result_.hardware.levels.size() - 1; }

  // Pieces

  std::int64_t leaf_piece(WireId wire) const {
    auto piece = *kernel_.program.scratch.size(wire);
    for (const auto& split : kernel_.partition.splits)
      if (split.wire == wire) piece = std::min(piece, split.size);
    return piece;
  }
  // Groups inside one block.
  std::int64_t groups_below() const {
    std::int64_t groups = 1;
    auto around = whole_lengths(kernel_.program.scratch);
    for (const auto& split : kernel_.partition.splits) {
      if (split.kind == SplitKind::group && split.level > result_.block_level)
        groups *= pieces_of(around[split.wire.index], split.size);
      shorten(around, split);
    }
    return groups;
  }
  // Removes the streams below the blocks, and the groups there if they are more than the threads of a block.
  void leave_to_threads() {
    const auto below = [&](const Split& s) { return s.level > result_.block_level; };
    const bool crowded = groups_below() > most_threads;
    std::erase_if(kernel_.partition.splits,
                  [&](const Split& s) { return below(s) && (crowded || s.kind == SplitKind::stream); });
    if (auto program = streamed(kernel_.partition)) kernel_.program = std::move(*program);
  }
  std::optional<Program> streamed(const Partition& partition) const {
    auto result = napkin::stream(*kernel_.derivation, streamed_wires(partition));
    if (auto* program = std::get_if<Program>(&result)) return std::move(*program);
    return {};
  }

  // Shares

  std::ptrdiff_t streams(WireId wire) const { return std::ranges::count(streamed_wires(kernel_.partition), wire); }
  // True if every output has the wire, no column folds it, and all columns read it at their own position. If the wire
  // is streamed, there is one stream of it, which encloses all columns that have the wire.
  bool may_share(WireId wire) const {
    const auto& diagram = kernel_.program.scratch;
    const auto kept = [&](ArrayId output) { return contains(diagram.at(output).wires, wire); };
    if (!std::ranges::all_of(kernel_.program.outputs, kept)) return false;
    if (streams(wire) > 1 || (streams(wire) == 1 && !is_inside(kernel_.program.steps, wire))) return false;
    return std::ranges::none_of(columns_,
                                [&](const Column* c) { return contains(c->over, wire) || reads_elsewhere(*c, wire); });
  }
  // True if loops over the wire enclose every column that has it.
  bool is_inside(const std::vector<Step>& steps, WireId wire) const {
    return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
      if (const auto* loop = std::get_if<Loop>(&step)) return loop->wire == wire || is_inside(loop->body, wire);
      return !has_wire(std::get<Column>(step), wire);
    });
  }
  bool reads_elsewhere(const Column& column, WireId wire) const {
    const auto& diagram = kernel_.program.scratch;
    const auto elsewhere = [&](ExprId id) {
      const auto& read = access(diagram, id);
      if (has_input(read.array)) return false;
      const auto& wires = diagram.at(read.array).wires;
      for (std::size_t i = 0; i < wires.size(); ++i)
        if (wires[i] == wire && plain_wire(read.at[i]) != wire) return true;
      return false;
    };
    auto reads = accesses(diagram, column.value);
    if (column.repair)
      for (const auto id : accesses(diagram, *column.repair)) reads.push_back(id);
    return std::ranges::any_of(reads, elsewhere);
  }
  bool has_input(ArrayId array) const { return contains(kernel_.program.inputs, array); }
  bool has_wire(const Column& column, WireId wire) const {
    return contains(kernel_.program.scratch.at(column.output).wires, wire);
  }

  void find_shares() {
    for (const auto wire : kernel_.program.scratch.at(kernel_.program.outputs.front()).wires)
      if (may_share(wire)) {
        const bool recomputes = std::ranges::any_of(columns_, [&](const Column* c) { return !has_wire(*c, wire); });
        shares_.push_back({wire, leaf_piece(wire), recomputes, streams(wire) > 0});
      }
  }

  // Returns the wire with the longest remaining piece, the innermost of equals; null if dividing it needs too many
  // threads.
  Share* longest(bool recomputing, std::int64_t limit) {
    Share* best = nullptr;
    for (auto& share : shares_)
      if (share.recomputes == recomputing && share.size() > 1 && (!best || share.size() >= best->size())) best = &share;
    return best && threads() / best->parts * best->next() <= limit ? best : nullptr;
  }
  std::int64_t threads() const {
    auto threads = groups_below();
    for (const auto& share : shares_) threads *= share.parts;
    return threads;
  }
  bool split_one(bool recomputing, std::int64_t limit) {
    auto* share = longest(recomputing, limit);
    if (share) share->parts = share->next();
    return share;
  }
  void share_out() {
    while (split_one(false, wanted_threads)) {
    }
    while (threads() < busy_threads && split_one(true, wanted_threads)) {
    }
  }
  bool split_further() { return split_one(false, most_threads) || split_one(true, most_threads); }

  // The refined kernel

  std::vector<Split> added() const {
    std::vector<Split> splits;
    for (const auto& share : shares_)
      if (share.parts > 1 && !share.streamed)
        splits.push_back({SplitKind::group, share.wire, share.size(), thread_level()});
    splits.insert(splits.end(), finer_.begin(), finer_.end());
    return splits;
  }
  std::vector<Spread> spread() const {
    std::vector<Spread> all;
    for (const auto& share : shares_)
      if (share.streamed) all.push_back({share.wire, share.piece, share.size(), pieces_of(share.piece, share.size())});
    return all;
  }
  Kernel refined() {
    finer_ = finer_streams();
    auto kernel = with(added());
    if (auto program = streamed(kernel.partition)) {
      program->scratch.axes = kernel_.program.scratch.axes;
      kernel.program = std::move(*program);
      return kernel;
    }
    finer_.clear();
    return with(added());
  }
  Kernel with(const std::vector<Split>& more) const {
    auto kernel = kernel_;
    kernel.partition.splits.insert(kernel.partition.splits.end(), more.begin(), more.end());
    return kernel;
  }
  // Returns shorter pieces for the streams whose piece is long and held by a temporary.
  std::vector<Split> finer_streams() const {
    std::vector<Split> finer;
    for (const auto& split : kernel_.partition.splits) {
      const bool known = std::ranges::count(finer, split.wire, &Split::wire) > 0;
      const bool held = std::ranges::any_of(columns_, [&](const Column* c) { return has_wire(*c, split.wire); });
      const bool shared = std::ranges::count(shares_, split.wire, &Share::wire) > 0;
      if (split.kind == SplitKind::stream && !known && !shared && held && leaf_piece(split.wire) > longest_stream &&
          is_innermost(kernel_.program.steps, split.wire))
        finer.push_back({SplitKind::stream, split.wire, longest_stream, thread_level()});
    }
    return finer;
  }
  // True if no other stream lies inside a stream of the wire, so that the same columns absorb a shorter piece.
  static bool is_innermost(const std::vector<Step>& steps, WireId wire, bool inside = false) {
    return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
      const auto* loop = std::get_if<Loop>(&step);
      if (!loop) return true;
      return (loop->wire == wire || !inside) && is_innermost(loop->body, wire, inside || loop->wire == wire);
    });
  }

  // Memory

  std::int64_t own_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& buffer : result_.nest.buffers) {
      if (buffer.level != thread_level() || has_input(buffer.array)) continue;
      std::int64_t size = 4;
      const auto& wires = result_.nest.scratch.at(buffer.array).wires;
      for (std::size_t k = 0; k < wires.size(); ++k) size *= own_extent(wires[k], buffer.extent[k]);
      bytes += size;
    }
    return bytes;
  }

  // Returns how much of a piece of this length belongs to one thread.
  std::int64_t own_extent(WireId wire, std::int64_t extent) const {
    for (const auto& each : spread())
      if (each.wire == wire) return pieces_of(extent, each.step) * each.share;
    return extent;
  }

  // Stages the smallest tiles first, as long as they fit.
  void stage_tiles() {
    const auto& level = result_.hardware.levels[result_.block_level];
    const auto known =
        level.in_values || result_.hardware.cuda_architecture.empty() ? shared_without_limit : level.room();
    const auto room = static_cast<std::int64_t>(std::min(known, most_shared));
    std::vector<BufferId> tiles;
    for (std::uint32_t id = 0; id < result_.nest.buffers.size(); ++id)
      if (result_.nest.buffers[id].level == result_.block_level && has_input(result_.nest.buffers[id].array))
        tiles.push_back({id});
    const auto size = [&](BufferId id) { return shared_size(result_.nest.at(id)); };
    std::ranges::stable_sort(tiles, {}, size);
    for (const auto id : tiles) {
      const auto bytes = size(id);
      if (result_.shared_bytes + bytes > room) break;
      result_.shared_bytes += bytes;
      result_.staged.insert(id);
    }
  }

  Kernel kernel_;
  ThreadedKernel result_;
  std::vector<const Column*> columns_;
  std::vector<Share> shares_;
  std::vector<Split> finer_;
};

}  // namespace

std::int64_t shared_size(const Buffer& buffer) { return round_up(buffer.values() * row(buffer.type).bytes, 16); }

ThreadedKernel thread(const Kernel& kernel, const Hardware& hardware) { return Threading(kernel, hardware).run(); }

}  // namespace napkin
