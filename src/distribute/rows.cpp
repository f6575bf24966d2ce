// A kernel without products becomes rows over warps: its partition is chosen for that, lowered, and every column and
// read is checked to be of one row at a time.
#include "distribute/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/match.hpp"
#include "distribute/distributing.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_registers = 255;
constexpr std::int64_t row_addresses = 40;  // of a lane: what a compiler needs beside values
// The same where several blocks share a core. Under the launch bounds that follow from it, neither softmax nor
// layernorm nor rmsnorm of f16 or f32 spills along 128 to 50000 positions; a test compiles the kernels with the least
// to spare.
constexpr std::int64_t least_beside = 31;
constexpr int most_blocks_together = 3;
constexpr double least_threads_per_sm = 1536;  // of every device from capability 8.0 on: CUDA's programming guide
constexpr std::int64_t spare_in_rows = 24;     // what it should have left where several blocks share a core
constexpr std::int64_t longest_window = 64;    // positions of other wires that a lane folds one after another
constexpr std::int64_t rows_of_block = 4;      // where one warp has a row
constexpr std::int64_t warps_of_core = 32;     // at least, before rows of one block share what they read
constexpr std::int64_t partial_bytes = 8;

}  // namespace

RowNest RowAttempt::run() {
  result_.block_level = leaf() - 1;
  result_.lanes = shape_.lanes;
  result_.warps_of_row = shape_.warps_of_row;
  result_.vector = shape_.vector, result_.vectors = shape_.vectors;
  result_.staged = shape_.split == RowSplit::staged;
  find_rows();
  find_partition();
  find_nest();
  check_columns(nest().body, lengths_in_groups(nest()));
  check_outputs();
  check_traffic();
  if (result_.staged) stage();
  count_registers();
  return std::move(result_);
}

// The partition

// Every wire that can be grouped without a merge, but the one along lanes.
void RowAttempt::find_rows() {
  for (const auto& verdict : kernel_.derivation->verdicts) {
    const auto* groupable = std::get_if<Groupable>(&verdict.group);
    if (groupable && !groupable->by_merge && verdict.wire != shape_.lanes) rows_.push_back(verdict.wire);
  }
}
std::int64_t RowAttempt::size(WireId wire) const { return *kernel_.derivation->scratch.size(wire); }

// The innermost row of which an input knows nothing, that has numbers for every position along lanes.
std::optional<WireId> RowAttempt::shared_row() const {
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row)
    for (const auto& read : inputs_read(kernel_.program))
      if (moves(read.at, shape_.lanes) && !moves(read.at, *row)) return *row;
  return {};
}
// As many as the plan has, while there are blocks enough.
std::int64_t RowAttempt::shared_rows(WireId wire) const {
  auto rows = size(wire);
  for (const auto& split : kernel_.partition.splits)
    if (split.wire == wire && split.level == result_.block_level && split.kind == SplitKind::group)
      rows = std::min(rows, split.size);
  std::int64_t others = shape_.split == RowSplit::grouped ? pieces_of(size(shape_.lanes), shape_.piece()) : 1;
  for (const auto other : rows_)
    if (other != wire) others *= size(other);
  const auto cores = hardware_.total(hardware_.core.value_or(result_.block_level));
  const auto wanted = cores * pieces_of(warps_of_core, shape_.warps_of_row);
  while (rows > 1 && others * pieces_of(size(wire), rows) < wanted) rows = pieces_of(rows, 2);
  return rows;
}

void RowAttempt::find_partition() {
  const auto block = result_.block_level;
  const bool held = shape_.split != RowSplit::streamed && shape_.split != RowSplit::staged;
  const auto shared = shape_.shares && held ? shared_row() : std::nullopt;
  const bool several = shape_.warps_of_row == 1 && !shared_row() && !rows_.empty() && size(rows_.back()) > 1;
  auto& splits = result_.partition.splits;
  for (const auto row : rows_) {
    const auto together = row == shared ? shared_rows(row) : several && row == rows_.back() ? rows_of_block : 1;
    splits.push_back({SplitKind::group, row, together, block});
  }
  if (shape_.split == RowSplit::grouped) splits.push_back({SplitKind::group, shape_.lanes, shape_.piece(), block});
  if (shared) splits.push_back({SplitKind::stream, *shared, 1, block});
  if (shape_.split == RowSplit::streamed) splits.push_back({SplitKind::stream, shape_.lanes, shape_.piece(), block});
  if (several) splits.push_back({SplitKind::group, rows_.back(), 1, leaf()});
  result_.warps = several ? static_cast<int>(rows_of_block) : shape_.warps_of_row;
  for (const auto& refused : illegal(*kernel_.derivation, hardware_, result_.partition))
    throw Infeasible{refused.reason};
}

// The text must hold for longer axes too, as far as lanes reach.
void RowAttempt::find_nest() {
  auto kernel = make_kernel(kernel_.derivation, result_.partition);
  const auto widen = [&](WireId wire, std::int64_t to) {
    auto& size = kernel.program.scratch.axes[kernel.program.scratch.at(wire).axis.index].size;
    size = std::max(size.value_or(1), to);
  };
  allow_whole_pieces(kernel);
  if (shape_.split == RowSplit::whole) widen(shape_.lanes, shape_.piece());
  if (result_.staged) widen(shape_.lanes, round_up(size(shape_.lanes), shape_.vector));
  result_.nest = std::make_shared<const LoopNest>(lower(kernel, hardware_));
}

// What columns and reads are

void RowAttempt::check_columns(const LoopBody& block, const Extents& extents) {
  for (const auto& step : block.steps)
    match(
        step.node, [](const Load&) {},
        [](const MaskTest&) { throw Infeasible{"a mask in an array decides whether a tile is needed"}; },
        [&](const Compute& compute) {
          columns_.push_back(&compute);
          check_column(compute, extents);
        },
        [](const Save&) {},
        [&](const For& loop) {
          auto inside = extents;
          shorten(inside, loop.split);
          check_columns(loop.body, inside);
        });
}
void RowAttempt::check_column(const Compute& compute, const Extents& extents) {
  const auto& wires = diagram().at(compute.column.output).wires;
  for (std::size_t k = 0; k < wires.size(); ++k) {
    if (nest().at(compute.to).extent[k] > extents[wires[k].index])
      throw Infeasible{fmt::format("`{}` is held across the iterations of a stream", name(compute.to))};
    if (wires[k] != shape_.lanes && extents[wires[k].index] > 1)
      throw Infeasible{fmt::format("`{}` has {} beside {}, and cannot be computed one row at a time", name(compute.to),
                                   diagram().at(wires[k]).name, diagram().at(shape_.lanes).name)};
  }
  std::int64_t window = 1;
  for (const auto wire : compute.column.over) {
    if (wire != shape_.lanes)
      window *= extents[wire.index];
    else if (shape_.warps_of_row > 1)
      result_.shared_bytes = 2 * shape_.warps_of_row * partial_bytes;
  }
  if (window > longest_window)
    throw Infeasible{fmt::format("`{}` reduces {} values at each position of {}", name(compute.to), window,
                                 diagram().at(shape_.lanes).name)};
  for (const auto& [access_id, buffer] : compute.reads) find_read(compute, access_id, buffer, extents);
}
void RowAttempt::find_read(const Compute& compute, ExprId id, BufferId buffer, const Extents& extents) {
  const auto& read = access(diagram(), id);
  if (!nest().is_input(read.array)) return check_computed(compute, read, extents);
  const auto [at, fresh] = read_at_.try_emplace(buffer, read.at);
  const auto found = kind(compute, read, extents);
  auto& kept = result_.reads.try_emplace(buffer, found).first->second;
  if (kept != found || at->second != read.at) kept = RowRead::in_place;
}
void RowAttempt::check_computed(const Compute& compute, const Access& read, const Extents& extents) const {
  const auto& wires = diagram().at(read.array).wires;
  for (std::size_t k = 0; k < wires.size(); ++k)
    if (extents[wires[k].index] > 1 && plain_wire(read.at[k]) != wires[k])
      throw Infeasible{
          fmt::format("`{}` reads `{}` at another position", name(compute.to), diagram().at(read.array).name)};
}
RowRead RowAttempt::kind(const Compute& compute, const Access& read, const Extents& extents) const {
  bool others = false;
  for (std::size_t k = 0; k < read.at.size(); ++k) {
    for (const auto& [wire, coefficient] : read.at[k].terms) {
      others |= wire != shape_.lanes && extents[wire.index] > 1;
      if (wire == shape_.lanes && (k + 1 < read.at.size() || coefficient != 1 || read.at[k].divisor != 1))
        throw Infeasible{fmt::format("`{}` does not read `{}` position by position along {}", name(compute.to),
                                     diagram().at(read.array).name, diagram().at(shape_.lanes).name)};
    }
  }
  if (!others) return moves(read.at, shape_.lanes) ? RowRead::vectors : RowRead::once;
  for (const auto row : rows_)
    if (!moves(read.at, row))
      throw Infeasible{fmt::format("every {} reads `{}` again", diagram().at(row).name, diagram().at(read.array).name)};
  const bool kept = contains(diagram().at(compute.column.output).wires, shape_.lanes);
  return kept && moves(read.at, shape_.lanes) ? RowRead::window : RowRead::in_place;
}

void RowAttempt::check_outputs() const {
  for (const auto output : nest().outputs) {
    const auto& array = diagram().at(output);
    if (contains(array.wires, shape_.lanes) && array.wires.back() != shape_.lanes)
      throw Infeasible{
          fmt::format("`{}` is not contiguous along {} in memory", array.name, diagram().at(shape_.lanes).name)};
  }
}
// One array at least is as large as all rows together: else the rows read much more than there is.
void RowAttempt::check_traffic() const {
  auto all = rows_;
  all.push_back(shape_.lanes);
  const auto has_all = [&](auto carried) { return std::all_of(all.begin(), all.end(), carried); };
  for (const auto& read : inputs_read(kernel_.program))
    if (has_all([&](WireId wire) { return moves(read.at, wire); })) return;
  for (const auto output : nest().outputs)
    if (has_all([&](WireId wire) { return contains(diagram().at(output).wires, wire); })) return;
  throw Infeasible{"no array has all of its rows"};
}

// Rows in shared memory

// Nothing along the row is held but what several loops over it read, each lane its own vectors: so nobody waits for it.
// What is computed along the row is computed again wherever it is read.
void RowAttempt::stage() {
  for (const auto* compute : columns_) {
    if (!contains(diagram().at(compute->column.output).wires, shape_.lanes)) continue;
    if (compute->column.fold || compute->carried || result_.inlined.contains(compute->to))
      throw Infeasible{fmt::format("`{}` reduces, or is computed twice, at every position of a row in shared memory",
                                   name(compute->to))};
    result_.inlined[compute->to] = compute;
  }
  auto& bytes = result_.shared_bytes;
  for (auto& [id, read] : result_.reads) {
    if (read != RowRead::vectors) continue;
    read = loops_that_read(id) > 1 ? RowRead::staged : RowRead::passing;
    if (read == RowRead::passing) continue;
    const auto vector = shape_.vector * row(nest().at(id).type).bytes;
    bytes = round_up(bytes, vector);
    result_.staged_at[id] = bytes;
    bytes += pieces_of(size(shape_.lanes), shape_.vector) * vector;
  }
  const auto room = static_cast<std::int64_t>(hardware_.levels[result_.block_level].room());
  if (bytes > room)
    throw Infeasible{
        fmt::format("a row of {} takes {} B of shared memory, of {} B", diagram().at(shape_.lanes).name, bytes, room)};
}
// Loops over a row are those of folds along it and of what is saved of it.
std::ptrdiff_t RowAttempt::loops_that_read(BufferId id) const {
  const auto reads = [&](const auto& self, const Compute& compute) -> bool {
    return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
      const auto passing = result_.inlined.find(read.second);
      return read.second == id || (passing != result_.inlined.end() && self(self, *passing->second));
    });
  };
  return std::count_if(columns_.begin(), columns_.end(), [&](const Compute* compute) {
    const bool saved = result_.inlined.contains(compute->to) && contains(nest().outputs, nest().at(compute->to).array);
    return (saved || contains(compute->column.over, shape_.lanes)) && reads(reads, *compute);
  });
}

// Registers

void RowAttempt::count_registers() {
  for (const auto& each : held(nest())) {
    std::int64_t all = row_addresses;
    for (const auto id : each.buffers) all += registers(id);
    if (each.overwrites) all -= std::min(registers(each.overwrites->first), registers(each.overwrites->second));
    result_.registers = std::max(result_.registers, all);
  }
  // While the rows of one block follow one another, another block's hide how long memory takes.
  const auto& splits = result_.partition.splits;
  const bool follow = std::any_of(splits.begin(), splits.end(), [&](const Split& split) {
    return split.kind == SplitKind::stream && split.wire != shape_.lanes;
  });
  const auto room = [&](int blocks) {
    const auto spared = blocks > 1 ? spare_in_rows : 0;
    return std::min(most_registers, all_registers / (blocks * result_.warps * lanes_of_warp) / 8 * 8) - spared;
  };
  const auto wanted = follow ? 2 : 1;
  if (result_.registers > room(wanted))
    throw Infeasible{fmt::format("a row of {} takes {} registers of each thread of {} warps, which has {}",
                                 diagram().at(shape_.lanes).name, result_.registers, shape_.warps_of_row,
                                 room(wanted))};
  result_.blocks = blocks_together();
}
// Rows on their way hide how long memory takes, so that a compiler is told to leave registers for several blocks.
int RowAttempt::blocks_together() const {
  const auto threads = result_.warps * lanes_of_warp, least = result_.registers - row_addresses + least_beside;
  const auto& limit = hardware_.limits.threads_per_sm;
  const auto most_threads = limit ? limit->value : least_threads_per_sm;
  int blocks = most_blocks_together;
  while (blocks > 1 && (blocks * threads > most_threads || least > all_registers / (blocks * threads) / 8 * 8))
    --blocks;
  return blocks;
}
std::int64_t RowAttempt::registers(BufferId id) const {
  const auto& buffer = nest().at(id);
  const auto& wires = diagram().at(buffer.array).wires;
  if (buffer.level < leaf()) return 0;
  if (result_.staged && contains(wires, shape_.lanes)) {
    const bool one = result_.inlined.contains(id) && !contains(nest().outputs, buffer.array);
    return pieces_of((one ? 1 : shape_.vector) * row(buffer.type).bytes, 4);
  }
  if (const auto read = result_.reads.find(id); read != result_.reads.end()) {
    const auto values = read->second == RowRead::vectors  ? result_.values()
                        : read->second == RowRead::window ? 2 * result_.vector
                        : read->second == RowRead::once   ? 1
                                                          : 0;
    return pieces_of(values * row(buffer.type).bytes, 4);
  }
  return (contains(wires, shape_.lanes) ? result_.values() : 1) * (row(buffer.type).bytes > 4 ? 2 : 1);
}

std::variant<RowNest, Refused> distribute_rows(const Kernel& kernel, const Hardware& hardware) {
  const auto& levels = hardware.levels;
  if (hardware.cuda_capability() < 80)
    return Refused{"the profile does not say that the machine is a CUDA device of compute capability 8.0 or more", {}};
  if (levels.size() < 3 || levels.back().unit != "warp" || levels[levels.size() - 2].unit != "block")
    return Refused{"the machine's two innermost levels are not a block and its warps", {}};
  std::optional<std::string> reason;  // of the first attempt, which is the one to be wished for
  for (const auto wire : wires_along_memory(kernel)) {
    const auto* verdict = kernel.derivation->find(wire);
    if (!verdict) continue;
    for (const auto& shape : row_shapes(kernel, *verdict, levels.size() - 1)) try {
        return RowAttempt(kernel, hardware, shape).run();
      } catch (const Infeasible& infeasible) {
        if (!reason) reason = infeasible.reason;
      }
  }
  return Refused{reason.value_or("no array is contiguous along one of its axes"), {}};
}

}  // namespace napkin
