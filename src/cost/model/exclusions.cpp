// Moves the parts of products that masks cut into regions, and counts the pieces that loops skip.
#include "cost/model/exclusions.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace napkin {
namespace {

using Wires = std::set<WireId>;

void add_wires_of(std::span<const Condition> conditions, Wires& wires) {
  for (const auto& condition : conditions)
    for (const auto& term : condition.terms) wires.insert(term.first);
}

Region::Test test(const Walked& walked, const Walked::Needs& needs, const Wires& wires) {
  Region::Test made{needs.conditions, {}};
  for (const auto wire : wires) made.depths.push_back(walked.places.splits(wire, needs.level, needs.loops).size());
  return made;
}

// Moves the footprints that share wires with the region, and adds their other wires to it.
void take_footprints(const CostModel& model, CostModel::Product& product, Wires& wires, Region& region) {
  std::erase_if(product.footprints, [&](std::size_t footprint) {
    const auto& cuts = model.footprints[footprint].cuts;
    const auto meets = [&](std::size_t cut) { return wires.contains(model.cuts[cut].wire); };
    if (std::none_of(cuts.begin(), cuts.end(), meets)) return false;
    for (const auto cut : cuts) wires.insert(model.cuts[cut].wire);
    region.footprints.push_back(footprint);
    return true;
  });
}

std::size_t number(CostModel& model, Region region) {
  auto& all = model.regions;
  const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), region) - all.begin());
  if (at == all.size()) all.push_back(std::move(region));
  return at;
}

// Moves the part of a product that conditions cut into a region: the wires of these conditions, and everything that
// shares wires with those.
void move_to_region(Walked& walked, CostModel::Product& product, const Excluding& excluding) {
  const bool tests = excluding.part != Region::Part::run;
  Wires wires;
  for (const auto& needs : walked.needs) add_wires_of(needs.conditions, wires);
  if (tests) add_wires_of(excluding.masks, wires);
  if (wires.empty()) return;
  Region region;
  region.part = excluding.part;
  take_footprints(walked.model, product, wires, region);
  for (const auto wire : wires) {
    const auto cut = walked.places.cut_at(wire, excluding.level, walked.loops);
    region.wires.push_back(wire);
    region.cuts.push_back(cut);
    region.measured.push_back(std::erase(product.whole, wire) > 0);
    std::erase(product.counts, cut);
  }
  for (const auto& needs : walked.needs) region.needs.push_back(test(walked, needs, wires));
  const auto& masks = excluding.masks;
  if (tests) region.open = test(walked, {{masks.begin(), masks.end()}, excluding.level, walked.loops}, wires);
  product.region = number(walked.model, std::move(region));
}

}  // namespace

void exclude(Walked& walked, CostModel::Product& product, const Excluding& excluding) {
  move_to_region(walked, product, excluding);
  for (const auto& [asked, share] : walked.asks) product.shares.push_back(share);
}

// If a finer loop tests the same mask on smaller pieces, only that test counts. If the density is unknown, all pieces
// are run.
void add_share(Walked& walked, const MaskTest& ask) {
  const auto& tile = walked.nest.at(ask.tile);
  const auto& density = walked.diagram().at(tile.array).density;
  if (!density) return;
  CostModel::Share share{ask.wanted ? *density : 1 - *density, {}};
  walked.places.reach(share.entries, tile.at, tile.array, tile.level, walked.loops, false);
  walked.asks[{ask.access, ask.wanted}] = walked.model.shares.size();
  walked.model.shares.push_back(std::move(share));
}

bool passes_over(const For& loop) {
  return !loop.needs.empty() || std::ranges::any_of(loop.body.steps, [](const LoopStatement& step) {
    return std::holds_alternative<MaskTest>(step.node);
  });
}

void count_mask(Walked& walked, const For& loop, CostModel::Mask& mask) {
  Wires wires;
  add_wires_of(loop.needs, wires);
  for (const auto& step : loop.body.steps)
    if (const auto* ask = std::get_if<MaskTest>(&step.node)) {
      wires.merge(Places::wires_in(walked.nest.at(ask->tile).at));
      mask.asks.push_back((ask->wanted ? "" : "not ") + to_text(walked.diagram(), ask->access));
    }
  for (const auto wire : wires) mask.all.counts.push_back(walked.places.cut_at(wire, loop.split.level, walked.loops));
  mask.run = mask.all;
  exclude(walked, mask.run, {loop.split.level});
}

}  // namespace napkin
