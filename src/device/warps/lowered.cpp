// Lowers the kernel of an attempt to a loop nest, and lists the loads, computes and saves of the nest.
#include "device/warps/lowered.hpp"

namespace napkin {
namespace {

constexpr int most_warps = 32;

void check_machine(const Attempt& attempt) {
  const auto& hardware = attempt.hardware;
  if (attempt.by_warpgroups() && !has_warpgroup_instructions(hardware.cuda_architecture))
    throw infeasible("napkin knows no matrix instructions of warpgroups for this machine");
  if (hardware.cuda_capability() < 80) throw infeasible("napkin knows no matrix instructions for this machine");
  if (!has_blocks_of_warps(hardware))
    throw infeasible("the machine's two innermost levels are not a block and its warps");
}
// Derives the program again, because the partition may have been repaired, and lowers it. Axes are lengthened to whole
// pieces, so that the emitted code also holds for longer axes.
LoopNest loop_nest_of(const Attempt& attempt) {
  auto kernel = attempt.kernel;
  auto program = stream(*kernel.derivation, streamed_wires(kernel.partition));
  if (const auto* refused = std::get_if<Refused>(&program)) throw Infeasible{refused->reason};
  auto& found = std::get<Program>(program);
  found.scratch.axes = kernel.program.scratch.axes;
  kernel.program = std::move(found);
  allow_whole_pieces(kernel);
  return lower(kernel, attempt.hardware);
}
void find_warps(Lowered& lowered) {
  auto extents = whole_lengths(lowered.diagram());
  for (const auto& group : lowered.nest->groups) {
    if (group.level == lowered.leaf()) {
      const auto parts = pieces_of(extents[group.wire.index], group.size);
      lowered.warps *= static_cast<int>(parts);
      lowered.parts[group.wire] = {parts, group.size};
      if (lowered.warps > most_warps)
        throw Infeasible{.reason = "a block would need more warps than it can have", .fewer_warps = {group.wire}};
    }
    shorten(extents, group);
  }
}

}  // namespace

Lowered lower(const Attempt& attempt) {
  check_machine(attempt);
  Lowered lowered{attempt};
  lowered.block_level = attempt.leaf() - 1;
  lowered.nest = std::make_shared<const LoopNest>(loop_nest_of(attempt));
  lowered.sources = tile_sources(*lowered.nest);
  find_warps(lowered);
  const auto list = [&](const LoopStatement& step, const LoopBody& block, const Extents& extents) {
    if (const auto* load = std::get_if<Load>(&step.node)) lowered.loads.push_back({load, &block, extents});
    if (const auto* ask = std::get_if<MaskTest>(&step.node)) lowered.asked.insert(ask->tile);
    if (const auto* compute = std::get_if<Compute>(&step.node)) lowered.computes.push_back({compute, &block, extents});
    if (const auto* save = std::get_if<Save>(&step.node)) lowered.saves.push_back(save);
  };
  each_step(lowered.nest->body, lengths_in_groups(*lowered.nest), list);
  return lowered;
}
const Placed<Compute>& Lowered::at(const Compute* compute) const {
  return *std::ranges::find(computes, compute, &Placed<Compute>::step);
}
bool has_blocks_of_warps(const Hardware& hardware) {
  const auto& levels = hardware.levels;
  return levels.size() >= 3 && levels.back().unit == "warp" && levels[levels.size() - 2].unit == "block";
}
void check_position(const LoopNest& nest, const Compute& compute, const Access& read, const Extents& extents) {
  const auto& array = nest.scratch.at(read.array);
  for (std::size_t k = 0; k < array.wires.size(); ++k)
    if (extents[array.wires[k].index] > 1 && plain_wire(read.at[k]) != array.wires[k])
      throw infeasible("`{}` reads `{}` at another position", nest.scratch.at(nest.at(compute.to).array).name,
                       array.name);
}
}  // namespace napkin
