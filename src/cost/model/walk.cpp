// Walks the text of a loop nest. Every load and save becomes a transfer, every column operations, every loop steps.
#include "cost/model/walk.hpp"

#include <algorithm>
#include <utility>

#include "cost/model/exclusions.hpp"
#include "cost/model/operations.hpp"
#include "diagram/match.hpp"

namespace napkin {
namespace {

using Product = CostModel::Product;

// Finds the dimensions that are contiguous in memory. It is unknown which pieces masks skip, so that wires with masks
// do not count. Saves lie in deeper loops, too.
void find_rows(Walked& walked, CostModel::Transfer& transfer, const Buffer& buffer) {
  const auto& whole = transfer.values.whole;
  for (auto i = buffer.at.size(); i > 0; --i) {
    if (!Places::is_plain(buffer.at, i - 1)) return;
    const auto wire = buffer.at[i - 1].terms[0].first;
    if (std::find(whole.begin(), whole.end(), wire) == whole.end()) return;
    auto level = buffer.level;
    for (const auto& loop : walked.loops)
      if (loop.wire == wire) level = std::max(level, loop.level);
    transfer.rows.push_back(walked.places.cut_at(wire, level, walked.loops));
  }
  transfer.rows_alone = true;
}

Product values_of(Walked& walked, const Buffer& buffer) {
  Product all;
  walked.places.reach(all, buffer.at, buffer.array, buffer.level, walked.loops, true);
  walked.places.repeat(all, Places::wires_in(buffer.at), buffer.level, walked.loops);
  exclude(walked, all, {buffer.level});
  return all;
}

// Data that is loaded from the array itself crosses in the type in which the array is stored.
void add_transfer(Walked& walked, BufferId id, bool saved, bool from_array) {
  const auto& buffer = walked.nest.at(id);
  const auto& diagram = walked.diagram();
  const auto& array = diagram.at(buffer.array);
  const auto& type = row(from_array ? array.stored() : array.type);
  CostModel::Transfer all{
      buffer.level, buffer.array, saved, type.type, type.bytes, type.share, values_of(walked, buffer)};
  find_rows(walked, all, buffer);
  walked.places.repeat(all.loads, {}, buffer.level, walked.loops);
  all.from_file = std::ranges::find(diagram.inputs, buffer.array) != diagram.inputs.end();
  all.array_values = bytes_of(diagram, buffer.array) / type.bytes * row(array.stored()).share;
  walked.model.transfers.push_back(std::move(all));
}

void add_steps(Walked& walked, const Split& split) {
  if (split.level == walked.leaf()) return;
  Product all;
  walked.places.repeat(all, {}, split.level, walked.loops);
  exclude(walked, all, {split.level});
  walked.model.steps.push_back(std::move(all));
}

// Marks carried state over which an inner loop runs. It is not a streamed tile: the whole of it stays.
void sweep(Walked& walked, const Compute& compute) {
  walked.depth[&compute] = walked.loops.size();
  std::vector<BufferId> used = {compute.to};
  for (const auto& [access, buffer] : compute.reads) used.push_back(buffer);
  for (const auto id : used) {
    const auto& wires = walked.diagram().at(walked.nest.at(id).array).wires;
    for (auto loop = walked.home.at(id).size(); loop < walked.loops.size(); ++loop)
      if (std::find(wires.begin(), wires.end(), walked.loops[loop].wire) != wires.end()) walked.swept.insert(id);
  }
}

void walk_loop(Walked&, const For&);

void walk_body(Walked& walked, const LoopBody& block) {
  for (const auto id : block.buffers) walked.home[id] = walked.loops;
  for (const auto& step : block.steps)
    match(
        step.node, [&](const Load& load) { add_transfer(walked, load.to, false, !load.from); },
        [&](const MaskTest& asked) { add_share(walked, asked); },
        [&](const Save& save) { add_transfer(walked, save.from, true, false); },
        [&](const Compute& compute) { sweep(walked, compute), add_operations(walked, compute); },
        [&](const For& loop) { walk_loop(walked, loop); });
}

void walk_loop(Walked& walked, const For& loop) {
  const auto around = walked.asks;
  walked.loops.push_back(loop.split);
  if (!loop.needs.empty()) walked.needs.push_back({loop.needs, loop.split.level, walked.loops});
  add_steps(walked, loop.split);
  const auto at = walked.model.masks.size();
  if (passes_over(loop)) walked.model.masks.push_back({loop.split, loop.needs, {}, {}, {}});
  walk_body(walked, loop.body);
  if (passes_over(loop)) count_mask(walked, loop, walked.model.masks[at]);
  if (!loop.needs.empty()) walked.needs.pop_back();
  walked.loops.pop_back();
  walked.asks = around;
}

}  // namespace

void walk(Walked& walked) { walk_body(walked, walked.nest.body); }

}  // namespace napkin
