// Bends begin and end together if possible. If three wires would cross in one point, some begin later: as few as
// possible, found one after another. If many wires reverse their order, all of them begin one after another, from the
// top or with growing delays.
#include "scene/bends.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace napkin::scene {
namespace {

constexpr double most_bend = 16 * cell;
constexpr double least_apart = 4;       // wires that are closer than this seem to touch
constexpr std::size_t most_wires = 24;  // with more wires, crossings are not examined

// Steep bends are at most `most_bend` wide.
double bend_width(double furthest) {
  return furthest == 0 ? 0 : std::min(most_bend, cell * std::ceil(furthest / row_height));
}

// How far a bend has gone at a share of its width: a cubic with level ends, whose inner control points are in the
// middle.
double gone_exactly(double share) {
  double low = 0, high = 1;
  for (int i = 0; i < 30; ++i) {
    const double t = (low + high) / 2;
    (1.5 * t * (1 - t) + t * t * t < share ? low : high) = t;
  }
  return low * low * (3 - 2 * low);
}
double gone(double share) {
  static const auto table = [] {
    std::array<double, 257> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = gone_exactly(static_cast<double>(i) / 256);
    return made;
  }();
  const double at = 256 * share;
  const auto i = std::min<std::size_t>(255, static_cast<std::size_t>(at));
  return table[i] + (table[i + 1] - table[i]) * (at - static_cast<double>(i));
}

double width_of(const std::vector<Bend>& bends) {
  double width = 0;
  for (const auto& bend : bends) width = std::max(width, bend.end);
  return width;
}

bool cross(const Bend& a, const Bend& b) { return (a.from - b.from) * (a.to - b.to) < 0; }

double crossing(const Bend& a, const Bend& b, double width) {
  double low = 0, high = width;
  for (int i = 0; i < 20; ++i) {
    const double x = (low + high) / 2;
    ((height(a, x) - height(b, x)) * (a.from - b.from) > 0 ? low : high) = x;
  }
  return low;
}

// Whether two wires run so close for a while that they look like one.
bool touch(const Bend& a, const Bend& b, double width) {
  if (a.from == b.from || a.to == b.to) return false;
  int close = 0;
  for (double x = 0; x <= width; x += least_apart)
    if (std::abs(height(a, x) - height(b, x)) >= least_apart)
      close = 0;
    else if (++close > 3)
      return true;
  return false;
}

struct Tangle {
  std::vector<bool> wires;  // wires that are part of the tangle
  std::size_t count = 0;
};

// Finds crossings of two wires that a third one passes through, and wires that touch.
Tangle tangle(const std::vector<Bend>& bends) {
  const double width = width_of(bends);
  Tangle made{std::vector<bool>(bends.size()), 0};
  for (std::size_t a = 0; a < bends.size(); ++a)
    for (std::size_t b = a + 1; b < bends.size(); ++b) {
      if (touch(bends[a], bends[b], width)) made.wires[a] = made.wires[b] = true, ++made.count;
      if (!cross(bends[a], bends[b])) continue;
      const double x = crossing(bends[a], bends[b], width), y = height(bends[a], x);
      for (std::size_t c = 0; c < bends.size(); ++c) {
        if (c == a || c == b || std::abs(height(bends[c], x) - y) >= least_apart) continue;
        if (!cross(bends[a], bends[c]) && !cross(bends[b], bends[c])) continue;
        made.wires[a] = made.wires[b] = made.wires[c] = true, ++made.count;
      }
    }
  return made;
}

// Delays the wire that helps most, if there is one.
bool delay_one(std::vector<Bend>& bends, Tangle& now) {
  auto best = bends;
  auto least = now;
  for (std::size_t i = 0; i < bends.size(); ++i) {
    if (!now.wires[i] || bends[i].from == bends[i].to) continue;
    for (const double by : {cell, 2 * cell, 3 * cell}) {
      auto tried = bends;
      tried[i].begin += by, tried[i].end += by;
      auto made = tangle(tried);
      if (std::tuple(made.count, width_of(tried)) < std::tuple(least.count, width_of(best)) && made.count < now.count)
        best = std::move(tried), least = std::move(made);
    }
  }
  if (least.count == now.count) return false;
  bends = std::move(best), now = std::move(least);
  return true;
}

// Delays wires one by one; returns how much of the tangle remains.
std::size_t untangle(std::vector<Bend>& bends) {
  auto now = tangle(bends);
  while (now.count > 0 && delay_one(bends, now)) {
  }
  return now.count;
}

// The bends begin one after another from the top, each `wait` after the one before; the delays grow by `more`.
void begin_in_turn(std::vector<Bend>& bends, double width, double wait, double more) {
  std::vector<Bend*> order;
  for (auto& bend : bends) order.push_back(&bend);
  std::ranges::stable_sort(order, {}, [](const Bend* bend) { return bend->from; });
  double begin = 0;
  for (auto* bend : order) {
    bend->begin = begin, bend->end = begin + width;
    if (bend->from != bend->to) begin += wait, wait += more;
  }
}

}  // namespace

double height(const Bend& bend, double x) {
  if (x <= bend.begin) return bend.from;
  if (x >= bend.end) return bend.to;
  return bend.from + (bend.to - bend.from) * gone((x - bend.begin) / (bend.end - bend.begin));
}

double spread(std::vector<Bend>& bends) {
  double furthest = 0;
  for (const auto& bend : bends) furthest = std::max(furthest, std::abs(bend.to - bend.from));
  const double width = bend_width(furthest);
  begin_in_turn(bends, width, 0, 0);
  if (furthest == 0 || bends.size() > most_wires) return width;
  auto best = bends;
  auto least = untangle(best);
  for (const double wait : {cell, 2 * cell})
    for (const double more : {0.0, cell / 2, cell}) {
      if (least == 0) break;
      begin_in_turn(bends, width, wait, more);
      if (const auto count = untangle(bends); count < least) least = count, best = bends;
    }
  bends = std::move(best);
  return width_of(bends);
}

}  // namespace napkin::scene
