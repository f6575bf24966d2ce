// The algebra of layouts, on lists of modes, and what banks make of a tile.
#include "napkin/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace napkin {
namespace {

constexpr std::int64_t chunk_bytes = 16, bank_bytes = 4, banks = 32;
constexpr int most_bits = 3;                // eight chunks reach all banks
constexpr std::int64_t widest_panel = 128;  // in bytes

// The modes of `outer` from index `first` on, of which every `step`-th is taken, `size` of them.
std::optional<std::vector<Mode>> taken(const Layout& outer, Mode wanted) {
  std::vector<Mode> modes;
  auto [size, step] = wanted;
  if (size == 1 || step == 0) return std::vector<Mode>{{size, 0}};
  for (std::size_t i = 0; i < outer.modes.size() && size > 1; ++i) {
    const auto& mode = outer.modes[i];
    const bool last = i + 1 == outer.modes.size();
    if (!last && step >= mode.size) {
      if (step % mode.size != 0) return {};
      step /= mode.size;
      continue;
    }
    if (!last && mode.size % step != 0) return {};
    const auto here = last ? size : std::min(size, mode.size / step);
    if (size % here != 0) return {};
    modes.push_back({here, mode.stride * step});
    size /= here;
    step = 1;
  }
  return modes;
}

}  // namespace

std::int64_t Layout::size() const {
  std::int64_t all = 1;
  for (const auto& mode : modes) all *= mode.size;
  return all;
}
std::int64_t Layout::reach() const {
  std::int64_t last = 0;
  for (const auto& mode : modes) last += (mode.size - 1) * mode.stride;
  return last + 1;
}
std::int64_t Layout::operator()(std::int64_t index) const {
  std::int64_t place = 0;
  for (const auto& mode : modes) {
    place += index % mode.size * mode.stride;
    index /= mode.size;
  }
  return place;
}
std::string to_text(const Layout& layout) {
  std::vector<std::int64_t> sizes, strides;
  for (const auto& [size, stride] : layout.modes) sizes.push_back(size), strides.push_back(stride);
  return fmt::format("({}):({})", fmt::join(sizes, ","), fmt::join(strides, ","));
}

std::string to_expression(const Layout& layout, const std::string& index) {
  const auto flat = coalesced(layout);
  std::string text;
  std::int64_t before = 1;
  for (const auto& [size, stride] : flat.modes) {
    const bool last = before * size == flat.size();
    if (stride != 0)
      text +=
          fmt::format("{}{}{}{}{}", text.empty() ? "" : " + ", index, before > 1 ? fmt::format(" / {}", before) : "",
                      last ? "" : fmt::format(" % {}", size), stride > 1 ? fmt::format(" * {}", stride) : "");
    before *= size;
  }
  return text.empty() ? "0" : text;
}

Layout coalesced(const Layout& layout) {
  Layout result;
  for (const auto& mode : layout.modes) {
    if (mode.size == 1) continue;
    auto& all = result.modes;
    if (!all.empty() && all.back().size * all.back().stride == mode.stride)
      all.back().size *= mode.size;
    else
      all.push_back(mode);
  }
  return result;
}

std::optional<Layout> compose(const Layout& outer, const Layout& inner) {
  const auto flat = coalesced(outer);
  Layout result;
  for (const auto& mode : inner.modes) {
    const auto modes = taken(flat, mode);
    if (!modes) return {};
    result.modes.insert(result.modes.end(), modes->begin(), modes->end());
  }
  return result;
}

std::optional<Layout> complement(const Layout& layout, std::int64_t size) {
  auto modes = coalesced(layout).modes;
  std::sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) { return a.stride < b.stride; });
  Layout rest;
  std::int64_t covered = 1;
  for (const auto& mode : modes) {
    if (mode.stride == 0 || mode.stride % covered != 0) return {};
    if (mode.stride > covered) rest.modes.push_back({mode.stride / covered, covered});
    covered = mode.stride * mode.size;
  }
  if (size % covered != 0) return {};
  if (size > covered || rest.modes.empty()) rest.modes.push_back({size / covered, covered});
  return rest;
}

std::optional<Layout> divide(const Layout& layout, const Layout& tile) {
  const auto rest = complement(tile, layout.size());
  if (!rest) return {};
  Layout both = tile;
  both.modes.insert(both.modes.end(), rest->modes.begin(), rest->modes.end());
  return compose(layout, both);
}

std::int64_t SharedTile::operator()(std::int64_t row, std::int64_t column) const {
  const auto chunk = chunk_bytes / bytes, within = column % panel;
  const auto moved = (within / chunk) ^ ((row >> shift) & ((std::int64_t{1} << bits) - 1));
  return column / panel * rows * panel + row * panel + moved * chunk + within % chunk;
}

// A row of C = odd * 2^bits chunks begins C chunks after the one before: only every 2^(3 - bits)-th row begins in the
// same banks again, of the eight that a chunk can. Those are told apart by the low `bits` bits of the chunk.
SharedTile shared_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  SharedTile tile{.rows = rows, .columns = columns, .bytes = bytes};
  tile.bits = std::min(most_bits, std::countr_zero(static_cast<std::uint64_t>(tile.chunks())));
  tile.shift = most_bits - tile.bits;
  return tile;
}
SharedTile paneled_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  auto width = widest_panel;
  while (columns * bytes % width != 0) width /= 2;
  auto tile = shared_tile(rows, width / bytes, bytes);
  tile.columns = columns;
  return tile;
}

std::int64_t bank_conflicts(const std::vector<std::int64_t>& byte_places, std::int64_t bytes) {
  std::array<std::set<std::int64_t>, banks> words;
  for (const auto place : byte_places)
    for (auto at = place / bank_bytes; at * bank_bytes < place + bytes; ++at)
      words[static_cast<std::size_t>(at % banks)].insert(at);
  std::size_t most = 1;
  for (const auto& each : words) most = std::max(most, each.size());
  return static_cast<std::int64_t>(most) - 1;
}

}  // namespace napkin
