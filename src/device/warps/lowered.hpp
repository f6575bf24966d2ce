// The first phase: the loop nest of a kernel, and the body and extents of each of its statements. All later phases read
// this, and none changes it.
#pragma once

#include <set>

#include "device/warps/fit.hpp"
#include "device/warps/planned.hpp"
#include "diagram/contains.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"
#include "napkin/device.hpp"

namespace napkin {

constexpr std::int64_t row_tile = accumulator_tile.rows, column_tile = accumulator_tile.columns,
                       column_pair = accumulator_tile.square() * column_tile;

using Extents = Lengths;
using Tiles = std::map<BufferId, StagedTile>;

// An attempt takes the partition of a kernel as it is. It succeeds, or throws why it is infeasible.
struct Attempt {
  const Kernel& kernel;
  const Hardware& hardware;
  const Planned& planned;
  int issuing_warps = 1;    // warps that issue an instruction together
  std::int64_t blocks = 1;  // that should run at the same time on an SM

  bool by_warpgroups() const { return issuing_warps > 1; }
  std::size_t leaf() const { return hardware.levels.size() - 1; }
  bool is_split(WireId wire) const { return find_split(kernel.partition, wire, false, leaf()) != nullptr; }
};

// A statement of the nest, the body that contains it, and the lengths of the pieces of all wires there.
template <class Step>
struct Placed {
  const Step* step;
  const LoopBody* block;
  Extents extents;
};

// How many warps share a wire, and how long the part of each is.
struct WarpParts {
  std::int64_t parts = 1, size = 1;
};

struct Lowered : Attempt {
  std::size_t block_level = 1;
  std::shared_ptr<const LoopNest> nest{};
  TileSources sources{};
  int warps = 1;                        // of a block, that compute
  std::map<WireId, WarpParts> parts{};  // of the wires that are split between warps
  std::vector<Placed<Load>> loads{};
  std::vector<Placed<Compute>> computes{};
  std::vector<const Save*> saves{};
  std::set<BufferId> asked{};  // masks, which are tested before tiles are copied, if possible

  const Diagram& diagram() const { return nest->scratch; }
  std::int64_t size(WireId wire) const { return diagram().size(wire).value_or(1); }
  std::string name(WireId wire) const { return diagram().at(wire).name; }
  std::string name(BufferId id) const { return diagram().at(nest->at(id).array).name; }
  const Placed<Compute>& at(const Compute*) const;
  // The tile of the block that a buffer was loaded from.
  BufferId staged(BufferId id) const { return tile_at(*nest, sources, id, block_level); }
};

// Throws if the machine has no matrix instructions of such warps, if the partition has no program, and if a block would
// need too many warps.
Lowered lower(const Attempt&);

// True if the innermost two levels of the machine are blocks and their warps, as everything here takes for granted.
bool has_blocks_of_warps(const Hardware&);

// Throws if a column reads a computed array at another position than its own: only its own is in its registers.
void check_position(const LoopNest&, const Compute&, const Access&, const Extents&);

}  // namespace napkin
