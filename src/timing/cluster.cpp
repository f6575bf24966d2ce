// Copies within clusters. If N siblings need a tile, each loads 1/N of it at the bandwidth from above and reads 1 - 1/N
// from the others at the bandwidth between siblings. If the machine has multicast, the whole tile arrives at the
// multicast rate at the same time.
#include "timing/cluster.hpp"

#include <algorithm>
#include <set>

#include "diagram/index.hpp"
#include "loops/pieces.hpp"
#include "timing/raster.hpp"

namespace napkin {

double seconds_at(double amount, const Rate& rate, std::int64_t cores, Model model) {
  return amount * static_cast<double>(cores) / (model == Model::ideal ? rate.peak() : rate.reached());
}

namespace {

std::set<std::int64_t> numbers_of(const Sibling& sibling) {
  std::set<std::int64_t> numbers;
  for (const auto* rates : {&sibling.bandwidth, &sibling.multicast})
    for (const auto& [blocks, rate] : *rates) numbers.insert(blocks);
  return numbers;
}
const Rate* rate_of(const std::map<std::int64_t, Rate>& rates, std::int64_t blocks) {
  const auto found = rates.find(blocks);
  return found == rates.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<Neighbours> neighbours_of(const Mainloop& mainloop, const Hardware& hardware) {
  std::vector<Neighbours> all = {{}};
  for (const auto& sibling : hardware.siblings) {
    if (sibling.level != hardware.levels[mainloop.core].name) continue;
    for (const auto& group : mainloop.nest->groups) {
      if (group.level != mainloop.core) continue;
      const auto pieces = pieces_of(mainloop.diagram().size(group.wire).value_or(1), group.size);
      for (const auto blocks : numbers_of(sibling)) {
        if (blocks > pieces || blocks > sibling.largest.value_or(blocks)) continue;
        const auto* across = rate_of(sibling.bandwidth, blocks);
        const auto* multicast = mainloop.issues_together() ? rate_of(sibling.multicast, blocks) : nullptr;
        if (across || multicast) all.push_back({group.wire, across, multicast, blocks});
      }
    }
  }
  return all;
}

Passage way_in(const Mainloop& mainloop, BufferId tile, const Neighbours& neighbours, const Hardware& hardware,
               Model rates, bool cached) {
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  if (!bandwidth) return {};
  const auto cores = hardware.total(mainloop.core);
  const auto bytes = mainloop.moved(tile, cached);
  const bool shared = neighbours.along && !moves(mainloop.nest->at(tile).at, *neighbours.along);
  const double part = shared ? 1 / static_cast<double>(neighbours.blocks) : 1;
  const bool read = shared && !neighbours.multicast;
  const double across = read ? seconds_at(bytes * (1 - part), *neighbours.across, cores, rates) : 0;
  const double arriving = shared && !read ? seconds_at(bytes, *neighbours.multicast, cores, rates) : 0;
  const auto* cache = cached ? cache_of(mainloop, hardware) : nullptr;
  const double itself =
      std::max(arriving, seconds_at(bytes * part, cache ? *cache->bandwidth : *bandwidth, cores, rates));
  if (!cache) return {across, itself, itself};
  return {across, seconds_at(bytes * first_readers(mainloop, tile, hardware), *bandwidth, cores, rates), itself};
}

Passage way_out(const Mainloop& mainloop, BufferId output, const Hardware& hardware, Model rates, bool cached) {
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  if (!bandwidth) return {};
  const auto cores = hardware.total(mainloop.core);
  const auto bytes = mainloop.moved(output, cached);
  const auto* cache = cached ? cache_of(mainloop, hardware) : nullptr;
  return {0, seconds_at(bytes, *bandwidth, cores, rates),
          seconds_at(bytes, cache ? *cache->bandwidth : *bandwidth, cores, rates)};
}

namespace {

// Returns the way in of all tiles that every iteration loads, and of those that only some iterations load.
Passage tiles_in(const Mainloop& mainloop, const Neighbours& neighbours, const Hardware& hardware, Model rates,
                 bool cached) {
  Passage all;
  for (const auto tile : mainloop.streamed) all.add(way_in(mainloop, tile, neighbours, hardware, rates, cached));
  for (const auto& edge : mainloop.edges)
    if (edge.reloaded) all.add(way_in(mainloop, edge.buffer, neighbours, hardware, rates, cached), edge.around.times);
  return all;
}

// Returns the seconds to load all tiles of an iteration while all cores load theirs.
double copy_seconds(const Mainloop& mainloop, const Neighbours& neighbours, const Hardware& hardware, Model rates,
                    bool cached) {
  return tiles_in(mainloop, neighbours, hardware, rates, cached).seconds();
}

// True if siblings may save time: their bandwidth or multicast rate must exceed the bandwidth from above.
bool saves(const Sibling& sibling, const Mainloop& mainloop, const Hardware& hardware) {
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  const auto* cache = cache_of(mainloop, hardware);
  if (sibling.level != hardware.levels[mainloop.core].name || !bandwidth) return false;
  const double above = (cache ? *cache->bandwidth : *bandwidth).peak();
  const auto faster = [&](const auto& one) { return one.second.peak() > above; };
  return std::ranges::any_of(sibling.bandwidth, faster) || std::ranges::any_of(sibling.multicast, faster);
}

}  // namespace

Neighbours fastest_neighbours(const Mainloop& mainloop, const Hardware& hardware, Model rates, bool cached) {
  Neighbours best;
  const auto any = [&](const Sibling& sibling) { return saves(sibling, mainloop, hardware); };
  if (!cached || std::ranges::none_of(hardware.siblings, any)) return best;  // not cached: the ideal model
  double least = copy_seconds(mainloop, best, hardware, rates, cached);
  for (const auto& one : neighbours_of(mainloop, hardware)) {
    const double seconds = copy_seconds(mainloop, one, hardware, rates, cached);
    if (seconds < least * (1 - 1e-9)) best = one, least = seconds;
  }
  return best;
}

Passage passage_of(const Mainloop& mainloop, const Hardware& hardware, Model rates, bool cached) {
  const auto neighbours = fastest_neighbours(mainloop, hardware, rates, cached);
  auto all = tiles_in(mainloop, neighbours, hardware, rates, cached);
  for (const auto& edge : mainloop.edges)
    if (edge.inside) all.add(way_out(mainloop, edge.buffer, hardware, rates, cached));
  return all;
}

std::vector<Cluster> clusters(const Mainloop& mainloop, const Hardware& hardware, Model model, bool cached) {
  const auto chosen = fastest_neighbours(mainloop, hardware, model, cached);
  std::vector<Cluster> all;
  for (const auto& one : neighbours_of(mainloop, hardware))
    all.push_back({one.blocks, one.along ? mainloop.diagram().at(*one.along).name : "",
                   copy_seconds(mainloop, one, hardware, model, cached),
                   one.along == chosen.along && one.blocks == chosen.blocks});
  return all.size() > 1 ? all : std::vector<Cluster>();
}

}  // namespace napkin
