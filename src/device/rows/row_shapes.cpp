// Lists the shapes of rows to try, by the length of the wire along lanes.
#include "device/rows/row_shapes.hpp"

#include <algorithm>

#include "derive/columns.hpp"

namespace napkin {

std::vector<Access> inputs_read(const Program& program) {
  std::vector<Access> all;
  for (const auto* column : columns_in(program.steps))
    for (const auto id : accesses(program.scratch, column->value))
      if (const auto& read = access(program.scratch, id); contains(program.inputs, read.array)) all.push_back(read);
  return all;
}

std::vector<WireId> wires_along_memory(const Kernel& kernel) {
  std::vector<WireId> all;
  const auto add = [&](WireId wire) {
    if (!contains(all, wire)) all.push_back(wire);
  };
  // If an axis is divided into parts, the position within a part runs along memory, and the number of the part does
  // not.
  for (const auto& read : inputs_read(kernel.program)) {
    if (read.at.empty()) continue;
    const auto& terms = read.at.back().terms;
    const auto next = [](const auto& term) { return term.second == 1; };
    const auto found = terms.size() == 1 ? terms.begin() : std::ranges::find_if(terms, next);
    if (found != terms.end() && (terms.size() == 1 || std::ranges::count_if(terms, next) == 1)) add(found->first);
  }
  for (const auto output : kernel.program.outputs)
    if (const auto& wires = kernel.program.scratch.at(output).wires; !wires.empty()) add(wires.back());
  return all;
}

namespace {

// Returns how many values of the smallest type fill 16 bytes, or fewer if every lane of a warp then has some.
std::int64_t vector_of(const Kernel& kernel, WireId lanes, std::int64_t length) {
  const auto& scratch = kernel.program.scratch;
  int bytes = 16;
  for (const auto& read : inputs_read(kernel.program))
    if (moves(read.at, lanes)) bytes = std::min(bytes, row(scratch.at(read.array).type).bytes);
  for (const auto output : kernel.program.outputs)
    if (contains(scratch.at(output).wires, lanes)) bytes = std::min(bytes, row(scratch.at(output).type).bytes);
  std::int64_t vector = 16 / bytes;
  while (vector > 1 && vector / 2 * lanes_of_warp >= length) vector /= 2;
  return vector;
}

// The number of values of a lane, and the largest number of warps that a row then has. Lanes have few values if few
// warps suffice for a row, because many warps hide more of the latency of memory. They have more if rows are long.
struct LaneLoad {
  std::int64_t values;
  int most_warps;
};
constexpr LaneLoad loads_whole[] = {{8, 1}, {16, 8}, {32, 16}, {64, 16}, {32, 32}};
constexpr int warps_staged[] = {32, 16};
constexpr LaneLoad loads_short[] = {{8, 4}}, loads_piece[] = {{16, 4}, {8, 4}};

// Returns the number of warps of a row. It is a power of two, so that folds can halve.
int warps_for(std::int64_t length, std::int64_t values) {
  int warps = 1;
  while (warps * lanes_of_warp * values < length) warps *= 2;
  return warps;
}

RowSplit split_of(const Kernel& kernel, const Verdict& verdict, std::size_t leaf) {
  if (verdict.is_woven()) return RowSplit::grouped;
  const bool streams = std::ranges::any_of(kernel.partition.splits, [&](const Split& split) {
    return split.wire == verdict.wire && split.kind == SplitKind::stream && split.level < leaf;
  });
  return streams ? RowSplit::streamed : RowSplit::whole;
}

std::int64_t rows_beside(const Kernel& kernel, WireId lanes) {
  std::int64_t all = 1;
  for (const auto wire : wires_of_rows(kernel, lanes)) all *= kernel.derivation->scratch.size(wire).value_or(1);
  return all;
}

}  // namespace

std::vector<WireId> wires_of_rows(const Kernel& kernel, WireId lanes) {
  std::vector<WireId> rows;
  for (const auto& verdict : kernel.derivation->verdicts)
    if (verdict.is_woven() && verdict.wire != lanes) rows.push_back(verdict.wire);
  return rows;
}

std::vector<RowShape> row_shapes(const Kernel& kernel, const Verdict& verdict, const Hardware& hardware) {
  const auto leaf = hardware.levels.size() - 1;
  const auto length = *kernel.derivation->scratch.size(verdict.wire);
  const auto vector = vector_of(kernel, verdict.wire, length);
  const auto split = split_of(kernel, verdict, leaf);
  std::vector<RowShape> all;
  const auto add = [&](RowSplit how, const LaneLoad& load) {
    const auto vectors = std::clamp<std::int64_t>(load.values / vector, 1, pieces_of(length, vector * lanes_of_warp));
    const auto warps_of_row = warps_for(length, vectors * vector);
    if (how == RowSplit::whole && warps_of_row > load.most_warps) return;
    for (const bool shares : {true, false})
      all.push_back({verdict.wire, how, vector, vectors, std::min(warps_of_row, load.most_warps), shares});
  };
  if (split == RowSplit::whole)
    for (const auto& load : loads_whole) add(split, load);
  const auto pieces = split == RowSplit::grouped ? split : RowSplit::streamed;
  // Where pieces of a few vectors leave cores idle, a warp has shorter ones.
  const auto fills = [&](std::int64_t piece) {
    return rows_beside(kernel, verdict.wire) * pieces_of(length, piece) >=
           hardware.total(hardware.core.value_or(leaf - 1));
  };
  if (split == RowSplit::grouped && !fills(loads_piece[1].values * loads_piece[1].most_warps * lanes_of_warp)) {
    const auto shortest = fills(vector * lanes_of_warp) ? vector : std::max<std::int64_t>(vector / 4, 1);
    for (const bool shares : {true, false}) all.push_back({verdict.wire, split, shortest, 1, 1, shares});
  }
  if (length <= loads_short[0].values * lanes_of_warp) add(pieces, loads_short[0]);
  for (const auto& load : loads_piece) add(pieces, load);
  if (split == RowSplit::whole)
    for (const auto warps : warps_staged) all.push_back({verdict.wire, RowSplit::staged, vector, 1, warps, false});
  return all;
}

}  // namespace napkin
