// A kernel without products assigns rows to warps. An attempt chooses the partition for one shape of rows, lowers it,
// and checks that every column computes one row at a time.
#include "device/rows/row_shapes.hpp"
#include "device/warps/registers.hpp"

namespace napkin {
namespace {

constexpr std::int64_t row_addresses = 40;  // registers of a lane that a compiler needs besides values
// The same if several blocks share an SM. Under the launch bounds that follow from it, neither softmax nor layernorm
// nor rmsnorm of f16 or f32 spills along 128 to 50000 positions. A test compiles the kernels with the least to spare.
constexpr std::int64_t least_beside = 31;
constexpr std::int64_t spare_in_rows = 24;  // registers that several blocks on an SM should leave
constexpr int most_blocks_together = 3;
constexpr double least_threads_per_sm = 1536;  // of every device from capability 8.0 on: CUDA's programming guide
constexpr std::int64_t longest_window = 64;    // positions of other wires that a lane folds one after another
constexpr std::int64_t warps_with_rows = 4;    // of a block, if one warp has a row
constexpr std::int64_t warps_of_core = 32;     // at least, before rows of one block share what they read
constexpr std::int64_t partial_bytes = 8;

struct RowAttempt {
  const Kernel& kernel;
  const Hardware& hardware;
  const RowShape& shape;
  std::vector<WireId> rows{};  // positions of these wires are rows

  std::size_t leaf() const { return hardware.levels.size() - 1; }
  std::size_t block_level() const { return leaf() - 1; }
  std::int64_t size(WireId wire) const { return *kernel.derivation->scratch.size(wire); }
  const std::string& name(WireId wire) const { return kernel.derivation->scratch.at(wire).name; }
  const std::string& lanes() const { return name(shape.lanes); }
};

const std::string& name_of(const LoopNest& nest, BufferId id) { return nest.scratch.at(nest.at(id).array).name; }
bool has_lanes(const RowNest& found, const Column& column) {
  return contains(found.nest->scratch.at(column.output).wires, found.lanes);
}

// The partition

// Returns the innermost row wire that is missing in an input with values for every position along lanes. Rows along
// this wire read the same values of that input.
std::optional<WireId> shared_row(const RowAttempt& attempt) {
  for (auto row = attempt.rows.rbegin(); row != attempt.rows.rend(); ++row)
    for (const auto& read : inputs_read(attempt.kernel.program))
      if (moves(read.at, attempt.shape.lanes) && !moves(read.at, *row)) return *row;
  return {};
}
// Returns how many rows along the shared wire follow one another: as many as a block of the partition has for each of
// its rows that run at once, or fewer if there would be too few of these.
std::int64_t rows_in_turn(const RowAttempt& attempt, WireId wire, std::int64_t at_once) {
  const auto& shape = attempt.shape;
  auto rows = pieces_of(attempt.size(wire), at_once);
  for (const auto& split : attempt.kernel.partition.splits)
    if (split.wire == wire && split.level == attempt.block_level() && split.kind == SplitKind::group)
      rows = std::min(rows, pieces_of(split.size, at_once));
  std::int64_t others = shape.split == RowSplit::grouped ? pieces_of(attempt.size(shape.lanes), shape.piece()) : 1;
  for (const auto other : attempt.rows)
    if (other != wire) others *= attempt.size(other);
  const auto cores = attempt.hardware.total(attempt.hardware.core.value_or(attempt.block_level()));
  const auto wanted = cores * pieces_of(warps_of_core, shape.warps_of_row);
  while (rows > 1 && others * pieces_of(attempt.size(wire), rows) < wanted) rows = pieces_of(rows, 2);
  return rows;
}
// Rows of a block along one wire: those that run at once, a warp each, and those that follow one another.
struct BlockRows {
  std::optional<WireId> wire{};
  std::int64_t at_once = 1, in_turn = 1;
};
// If one warp has a row, several run at once. If rows share what they read, several follow one another.
BlockRows block_rows(const RowAttempt& attempt) {
  const auto& shape = attempt.shape;
  const bool held = shape.split != RowSplit::streamed && shape.split != RowSplit::staged;
  const auto shared = shape.shares && held ? shared_row(attempt) : std::nullopt;
  BlockRows made{shared};
  if (!shared && !attempt.rows.empty()) made.wire = attempt.rows.back();
  if (shape.warps_of_row == 1 && made.wire && attempt.size(*made.wire) > 1) made.at_once = warps_with_rows;
  if (shared) made.in_turn = rows_in_turn(attempt, *shared, made.at_once);
  return made;
}
Partition partition_of(const RowAttempt& attempt, const BlockRows& of_block) {
  const auto& shape = attempt.shape;
  const auto block = attempt.block_level(), leaf = attempt.leaf();
  const auto& [wire, at_once, in_turn] = of_block;
  Partition partition;
  auto& splits = partition.splits;
  for (const auto row : attempt.rows)
    splits.push_back({SplitKind::group, row, row == wire ? at_once * in_turn : 1, block});
  const auto of_lanes = std::min(shape.piece(), attempt.size(shape.lanes));
  if (shape.split == RowSplit::grouped) splits.push_back({SplitKind::group, shape.lanes, of_lanes, block});
  if (at_once == 1 && in_turn > 1) splits.push_back({SplitKind::stream, *wire, 1, block});
  if (shape.split == RowSplit::streamed) splits.push_back({SplitKind::stream, shape.lanes, shape.piece(), block});
  if (at_once > 1) splits.push_back({SplitKind::group, *wire, in_turn, leaf});
  if (at_once > 1 && in_turn > 1) splits.push_back({SplitKind::stream, *wire, 1, leaf});
  for (const auto& refused : illegal(*attempt.kernel.derivation, attempt.hardware, partition))
    throw Infeasible{refused.reason};
  return partition;
}
// Lowers the kernel with axes lengthened as far as lanes reach, so that the emitted code also holds for longer axes.
LoopNest nest_of(const RowAttempt& attempt, const Partition& partition) {
  const auto& shape = attempt.shape;
  auto kernel = make_kernel(attempt.kernel.derivation, partition);
  const auto widen = [&](std::int64_t to) {
    auto& size = kernel.program.scratch.axes[kernel.program.scratch.at(shape.lanes).axis.index].size;
    size = std::max(size.value_or(1), to);
  };
  allow_whole_pieces(kernel);
  if (shape.split == RowSplit::whole) widen(shape.piece());
  if (shape.split == RowSplit::staged) widen(round_up(attempt.size(shape.lanes), shape.vector));
  return lower(kernel, attempt.hardware);
}

// Columns and reads

void check_column(const RowAttempt& attempt, const LoopNest& nest, const Compute& compute, const Extents& extents) {
  const auto lanes = attempt.shape.lanes;
  const auto& wires = nest.scratch.at(compute.column.output).wires;
  const auto& name = name_of(nest, compute.to);
  for (std::size_t k = 0; k < wires.size(); ++k) {
    if (nest.at(compute.to).extent[k] > extents[wires[k].index])
      throw infeasible("`{}` is held across the iterations of a stream", name);
    if (wires[k] != lanes && extents[wires[k].index] > 1)
      throw infeasible("`{}` has {} beside {}, and cannot be computed one row at a time", name, attempt.name(wires[k]),
                       attempt.lanes());
  }
  std::int64_t window = 1;
  for (const auto wire : compute.column.over)
    if (wire != lanes) window *= extents[wire.index];
  if (window > longest_window)
    throw infeasible("`{}` reduces {} values at each position of {}", name, window, attempt.lanes());
}
RowRead kind_of(const RowAttempt& attempt, const LoopNest& nest, const Compute& compute, const Access& read,
                const Extents& extents) {
  const auto lanes = attempt.shape.lanes;
  const auto& array = nest.scratch.at(read.array).name;
  bool others = false, repeats = false;
  for (std::size_t k = 0; k < read.at.size(); ++k)
    for (const auto& [wire, coefficient] : read.at[k].terms) {
      others |= wire != lanes && extents[wire.index] > 1;
      if (wire != lanes) continue;
      repeats |= read.at[k].divisor != 1;
      if (k + 1 < read.at.size() || coefficient != 1 || (repeats && others))
        throw infeasible("`{}` does not read `{}` position by position along {}", name_of(nest, compute.to), array,
                         attempt.lanes());
    }
  if (repeats) return RowRead::in_place;  // neighbouring positions read one place
  if (!others) return moves(read.at, lanes) ? RowRead::vectors : RowRead::once;
  for (const auto row : attempt.rows)
    if (!moves(read.at, row)) throw infeasible("every {} reads `{}` again", attempt.name(row), array);
  const bool kept = contains(nest.scratch.at(compute.column.output).wires, lanes);
  return kept && moves(read.at, lanes) ? RowRead::window : RowRead::in_place;
}
// Finds how each input is read. If columns read one input in different ways, or at different positions, all of them
// read it in place.
std::map<BufferId, RowRead> find_reads(const RowAttempt& attempt, const LoopNest& nest) {
  std::map<BufferId, RowRead> reads;
  std::map<BufferId, std::vector<Index>> read_at;
  each_step(nest.body, lengths_in_groups(nest),
            [&](const LoopStatement& step, const LoopBody&, const Extents& extents) {
              if (std::holds_alternative<MaskTest>(step.node))
                throw infeasible("a mask in an array decides whether a tile is needed");
              const auto* compute = std::get_if<Compute>(&step.node);
              if (!compute) return;
              check_column(attempt, nest, *compute, extents);
              for (const auto& [id, buffer] : compute->reads) {
                const auto& read = access(nest.scratch, id);
                if (!nest.is_input(read.array)) {
                  check_position(nest, *compute, read, extents);
                  continue;
                }
                const auto found = kind_of(attempt, nest, *compute, read, extents);
                const auto& at = read_at.try_emplace(buffer, read.at).first->second;
                auto& kind = reads.try_emplace(buffer, found).first->second;
                if (kind != found || at != read.at) kind = RowRead::in_place;
              }
            });
  return reads;
}

void check_outputs(const RowAttempt& attempt, const LoopNest& nest) {
  for (const auto output : nest.outputs) {
    const auto& array = nest.scratch.at(output);
    if (contains(array.wires, attempt.shape.lanes) && array.wires.back() != attempt.shape.lanes)
      throw infeasible("`{}` is not contiguous along {} in memory", array.name, attempt.lanes());
  }
}
// Checks that at least one array has the wires of all rows. Otherwise rows would read the same values many times.
void check_traffic(const RowAttempt& attempt, const LoopNest& nest) {
  auto all = attempt.rows;
  all.push_back(attempt.shape.lanes);
  for (const auto& read : inputs_read(attempt.kernel.program))
    if (std::ranges::all_of(all, [&](WireId wire) { return moves(read.at, wire); })) return;
  for (const auto output : nest.outputs)
    if (std::ranges::all_of(all, [&](WireId wire) { return contains(nest.scratch.at(output).wires, wire); })) return;
  throw infeasible("no array has all of its rows");
}

// Shared memory

std::vector<const Compute*> columns_of(const RowNest& found) { return all_statements<Compute>(found.nest->body); }
// Returns the bytes in which several warps of a row exchange partial results of folds.
std::int64_t bytes_of_folds(const RowNest& found) {
  const auto folds = [&](const Compute* compute) { return contains(compute->column.over, found.lanes); };
  return found.warps_of_row > 1 && std::ranges::any_of(columns_of(found), folds)
             ? 2 * found.warps_of_row * partial_bytes
             : 0;
}
// Arrays computed along a staged row are inlined: they are computed again wherever they are read.
std::map<BufferId, const Compute*> inlined_along_rows(const RowNest& found) {
  std::map<BufferId, const Compute*> inlined;
  for (const auto* compute : columns_of(found)) {
    if (!has_lanes(found, compute->column)) continue;
    if (compute->column.fold || compute->carried || !inlined.try_emplace(compute->to, compute).second)
      throw infeasible("`{}` reduces, or is computed twice, at every position of a row in shared memory",
                       name_of(*found.nest, compute->to));
  }
  return inlined;
}
// Counts the loops over a row that read the buffer: folds along the row, and saves of results along it.
std::ptrdiff_t loops_that_read(const RowNest& found, BufferId id) {
  const auto reads = [&](const auto& self, const Compute& compute) -> bool {
    return std::ranges::any_of(compute.reads, [&](const auto& read) {
      const auto inlined = found.inlined.find(read.second);
      return read.second == id || (inlined != found.inlined.end() && self(self, *inlined->second));
    });
  };
  return std::ranges::count_if(columns_of(found), [&](const Compute* compute) {
    const bool saved =
        found.inlined.contains(compute->to) && contains(found.nest->outputs, found.nest->at(compute->to).array);
    return (saved || contains(compute->column.over, found.lanes)) && reads(reads, *compute);
  });
}
// Stages the inputs that several loops over a row read in shared memory. A lane reads there only values that it has
// written itself, so that no barrier is needed.
void stage_rows(RowNest& found, const RowAttempt& attempt) {
  auto& bytes = found.shared_bytes;
  for (auto& [id, read] : found.reads) {
    if (read != RowRead::vectors) continue;
    read = loops_that_read(found, id) > 1 ? RowRead::staged : RowRead::passing;
    if (read == RowRead::passing) continue;
    const auto vector = found.vector * row(found.nest->at(id).type).bytes;
    bytes = round_up(bytes, vector);
    found.staged_at[id] = bytes;
    bytes += pieces_of(attempt.size(found.lanes), found.vector) * vector;
  }
  const auto room = static_cast<std::int64_t>(attempt.hardware.levels[found.block_level].room());
  if (bytes > room) throw infeasible("a row of {} takes {} B of shared memory, of {} B", attempt.lanes(), bytes, room);
}

// Registers

std::int64_t registers_of(const RowNest& found, BufferId id) {
  const auto& nest = *found.nest;
  const auto& buffer = nest.at(id);
  const auto bytes = row(buffer.type).bytes;
  const bool along = contains(nest.scratch.at(buffer.array).wires, found.lanes);
  if (buffer.level <= found.block_level) return 0;
  if (found.staged && along) {
    const bool one = found.inlined.contains(id) && !contains(nest.outputs, buffer.array);
    return pieces_of((one ? 1 : found.vector) * bytes, 4);
  }
  if (const auto read = found.reads.find(id); read != found.reads.end()) {
    const auto values = read->second == RowRead::vectors  ? found.values()
                        : read->second == RowRead::window ? 2 * found.vector
                        : read->second == RowRead::once   ? 1
                                                          : 0;
    return pieces_of(values * bytes, 4);
  }
  return (along ? found.values() : 1) * (bytes > 4 ? 2 : 1);
}
// If a block computes rows one after another, two blocks must fit on an SM, so that another block hides the latency of
// memory.
void check_registers(const RowNest& found, const RowAttempt& attempt) {
  const bool follow = std::ranges::any_of(found.partition.splits, [&](const Split& split) {
    return split.kind == SplitKind::stream && split.wire != found.lanes;
  });
  const auto share = lane_share((follow ? 2 : 1) * found.warps * lanes_of_warp);
  const auto room = std::min(most_lane_registers, share) - (follow ? spare_in_rows : 0);
  if (found.registers > room)
    throw infeasible("a row of {} takes {} registers of each thread of {} warps, which has {}", attempt.lanes(),
                     found.registers, found.warps_of_row, room);
}
// Returns how many blocks the compiler should leave registers for on an SM. Rows that other blocks are loading hide the
// latency of memory.
int blocks_together(const RowNest& found, const Hardware& hardware) {
  const auto threads = found.warps * lanes_of_warp, least = found.registers - row_addresses + least_beside;
  const auto& limit = hardware.limits.threads_per_sm;
  const auto most_threads = limit ? limit->value : least_threads_per_sm;
  int blocks = most_blocks_together;
  while (blocks > 1 && (blocks * threads > most_threads || least > lane_share(blocks * threads))) --blocks;
  return blocks;
}

RowNest attempt_rows(const Kernel& kernel, const Hardware& hardware, const RowShape& shape) {
  const RowAttempt attempt{kernel, hardware, shape, wires_of_rows(kernel, shape.lanes)};
  RowNest found;
  found.block_level = attempt.block_level();
  found.lanes = shape.lanes;
  const auto of_block = block_rows(attempt);
  found.warps_of_row = shape.warps_of_row, found.warps = static_cast<int>(of_block.at_once) * shape.warps_of_row;
  found.vector = shape.vector, found.vectors = shape.vectors;
  found.staged = shape.split == RowSplit::staged;
  found.partition = partition_of(attempt, of_block);
  found.nest = std::make_shared<const LoopNest>(nest_of(attempt, found.partition));
  found.reads = find_reads(attempt, *found.nest);
  check_outputs(attempt, *found.nest);
  check_traffic(attempt, *found.nest);
  found.shared_bytes = bytes_of_folds(found);
  if (found.staged) found.inlined = inlined_along_rows(found), stage_rows(found, attempt);
  const auto registers = [&](BufferId id) { return registers_of(found, id); };
  found.registers = most_held(*found.nest, registers, [](const Held&) { return row_addresses; });
  check_registers(found, attempt);
  found.blocks = blocks_together(found, hardware);
  return found;
}

}  // namespace

std::variant<RowNest, Refused> distribute_rows(const Kernel& kernel, const Hardware& hardware) {
  if (hardware.cuda_capability() < 80)
    return Refused{"the profile does not say that the machine is a CUDA device of compute capability 8.0 or more", {}};
  if (!has_blocks_of_warps(hardware))
    return Refused{"the machine's two innermost levels are not a block and its warps", {}};
  std::optional<std::string> reason;  // of the first attempt, because that one is best
  for (const auto wire : wires_along_memory(kernel)) {
    const auto* verdict = kernel.derivation->find(wire);
    if (!verdict) continue;
    for (const auto& shape : row_shapes(kernel, *verdict, hardware)) try {
        return attempt_rows(kernel, hardware, shape);
      } catch (const Infeasible& why) {
        if (!reason) reason = why.reason;
      }
  }
  return Refused{reason.value_or("no array is contiguous along one of its axes"), {}};
}

std::optional<RowNest> rows_of(const Kernel& kernel, const Hardware& hardware) {
  auto made = distribute_rows(kernel, hardware);
  auto* rows = std::get_if<RowNest>(&made);
  const auto is_refused = [](const auto& distributed) { return std::holds_alternative<Refused>(distributed); };
  const bool alone =
      rows && is_refused(distribute_warpgroups(kernel, hardware)) && is_refused(distribute(kernel, hardware));
  return alone ? std::optional(std::move(*rows)) : std::nullopt;
}

std::optional<Partition> other_tiles(const Kernel& kernel, const RowNest& rows, const Hardware& hardware) {
  const auto of_blocks = [&](Partition partition) {
    std::erase_if(partition.splits, [&](const Split& split) { return split.level + 1 >= hardware.levels.size(); });
    return partition;
  };
  const bool same = of_blocks(kernel.partition) == of_blocks(rows.partition);
  return same ? std::nullopt : std::optional(rows.partition);
}

}  // namespace napkin
