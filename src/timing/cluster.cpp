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

double CorePath::seconds(double bytes, const Rate& rate) const {
  return seconds_at(bytes, rate, hardware.total(mainloop.core), rates);
}

const Rate* CorePath::nearest() const {
  if (const auto* cache = cached ? cache_of(mainloop, hardware) : nullptr) return &*cache->bandwidth;
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  return bandwidth ? &*bandwidth : nullptr;
}

Passage CorePath::way_in(BufferId tile, const Neighbours& neighbours) const {
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  if (!bandwidth) return {};
  const auto bytes = mainloop.moved(tile, cached);
  const bool shared = neighbours.along && !moves(mainloop.nest->at(tile).at, *neighbours.along);
  const double part = shared ? 1 / static_cast<double>(neighbours.blocks) : 1;
  const bool read = shared && !neighbours.multicast;
  const double across = read ? seconds(bytes * (1 - part), *neighbours.across) : 0;
  const double arriving = shared && !read ? seconds(bytes, *neighbours.multicast) : 0;
  const auto* rate = nearest();
  const double itself = std::max(arriving, seconds(bytes * part, *rate));
  if (rate == &*bandwidth) return {across, itself, itself};
  return {across, seconds(bytes * first_readers(mainloop, tile, hardware), *bandwidth), itself};
}

Passage CorePath::way_out(BufferId output) const {
  const auto& bandwidth = hardware.levels[mainloop.core].bandwidth;
  if (!bandwidth) return {};
  const auto bytes = mainloop.moved(output, cached);
  return {0, seconds(bytes, *bandwidth), seconds(bytes, *nearest())};
}

// Returns the way in of all tiles that every iteration loads, and of those that only some iterations load.
Passage CorePath::tiles_in(const Neighbours& neighbours) const {
  Passage all;
  for (const auto tile : mainloop.streamed) all.add(way_in(tile, neighbours));
  for (const auto& edge : mainloop.edges)
    if (edge.reloaded) all.add(way_in(edge.buffer, neighbours), edge.around.times);
  return all;
}

// True if siblings may save time: their bandwidth or multicast rate must exceed the bandwidth from above.
bool CorePath::gains(const Sibling& sibling) const {
  if (sibling.level != hardware.levels[mainloop.core].name || !hardware.levels[mainloop.core].bandwidth) return false;
  const double above = nearest()->peak();
  const auto faster = [&](const auto& one) { return one.second.peak() > above; };
  return std::ranges::any_of(sibling.bandwidth, faster) || std::ranges::any_of(sibling.multicast, faster);
}

Neighbours CorePath::fastest_neighbours() const {
  Neighbours best;
  const auto any = [&](const Sibling& sibling) { return gains(sibling); };
  if (!cached || std::ranges::none_of(hardware.siblings, any)) return best;  // not cached: the ideal model
  double least = copy_seconds(best);
  for (const auto& one : neighbours_of(mainloop, hardware))
    if (const double seconds = copy_seconds(one); seconds < least * (1 - 1e-9)) best = one, least = seconds;
  return best;
}

Passage CorePath::of_iteration() const {
  auto all = tiles_in(fastest_neighbours());
  for (const auto& edge : mainloop.edges)
    if (edge.inside) all.add(way_out(edge.buffer));
  return all;
}

std::vector<Cluster> CorePath::clusters() const {
  const auto chosen = fastest_neighbours();
  std::vector<Cluster> all;
  for (const auto& one : neighbours_of(mainloop, hardware))
    all.push_back({one.blocks, one.along ? mainloop.diagram().at(*one.along).name : "", copy_seconds(one),
                   one.along == chosen.along && one.blocks == chosen.blocks});
  return all.size() > 1 ? all : std::vector<Cluster>();
}

}  // namespace napkin
