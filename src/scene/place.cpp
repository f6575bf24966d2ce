// Places wires at heights. Each column takes the heights of its neighbour as closely as its order and distances allow:
// a least-squares fit, found by pooling neighbours that come too close. Sweeps go forth and back until the wires that
// can be straight are.
#include <algorithm>
#include <cmath>

#include "scene/rows.hpp"

namespace napkin::scene {
namespace {

// The least distances from the first lane of the column.
std::vector<double> offsets(const Lanes& column) {
  std::vector<double> all;
  for (std::size_t i = 0; i < column.size(); ++i) {
    const bool apart = i > 0 && (column[i].value != column[i - 1].value || column[i].copy != column[i - 1].copy);
    all.push_back(i == 0 ? 0 : all.back() + (apart ? array_gap : pitch));
  }
  return all;
}

struct Pool {
  double sum = 0;
  std::size_t count = 0;
  double mean() const { return sum / static_cast<double>(count); }
};

// The heights nearest to `wanted` that keep the distances, on the raster of wires.
void settle(Lanes& column, const std::vector<double>& wanted) {
  const auto least = offsets(column);
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < column.size(); ++i) {
    pools.push_back({wanted[i] - least[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::size_t i = 0;
  for (const auto& pool : pools)
    for (std::size_t end = i + pool.count; i < end; ++i)
      column[i].y = pitch * std::round(pool.mean() / pitch) + least[i];
}

template <class Linked>
std::vector<double> followed(const Lanes& column, const Lanes& neighbour, Linked linked) {
  std::vector<double> wanted;
  for (std::size_t i = 0; i < column.size(); ++i) {
    Pool pool;
    for (std::size_t j = 0; j < neighbour.size(); ++j)
      if (linked(i, j)) pool.sum += neighbour[j].y, ++pool.count;
    wanted.push_back(pool.count == 0 ? column[i].y : pool.mean());
  }
  return wanted;
}

// The wires of a function's result are adjacent, centred on the heights that its wires come from.
void draw_together(const Step& step, std::vector<double>& wanted) {
  Pool pool;
  const auto made = [&](std::size_t i) { return step.out[i].value == step.makes; };
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (made(i)) pool.sum += wanted[i], ++pool.count;
  double y = pool.count == 0 ? 0 : pool.mean() - pitch * static_cast<double>(pool.count - 1) / 2;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (made(i)) wanted[i] = y, y += pitch;
}

void sweep_forth(Row& row) {
  for (std::size_t s = 0; s < row.steps.size(); ++s) {
    auto& step = row.steps[s];
    const auto& before = row.before(s);
    settle(step.in,
           followed(step.in, before, [&](std::size_t i, std::size_t j) { return step.in[i].same(before[j]); }));
    auto wanted =
        followed(step.out, step.in, [&](std::size_t i, std::size_t j) { return step.continues(j, step.out[i]); });
    draw_together(step, wanted);
    settle(step.out, wanted);
  }
}

void sweep_back(Row& row) {
  for (auto s = row.steps.size(); s-- > 0;) {
    auto& step = row.steps[s];
    auto& before = s == 0 ? row.start : row.steps[s - 1].out;
    settle(step.in,
           followed(step.in, step.out, [&](std::size_t i, std::size_t j) { return step.continues(i, step.out[j]); }));
    settle(before, followed(before, step.in, [&](std::size_t i, std::size_t j) { return before[i].same(step.in[j]); }));
  }
}

// Every column starts as a stack from the top, so that wires without a neighbour stay with the others.
void stack(Lanes& column) {
  const auto least = offsets(column);
  for (std::size_t i = 0; i < column.size(); ++i) column[i].y = least[i];
}

}  // namespace

void place(std::vector<Row>& rows) {
  for (auto& row : rows) {
    stack(row.start);
    for (auto& step : row.steps) stack(step.in), stack(step.out);
    sweep_forth(row);
    sweep_back(row);
    sweep_forth(row);
  }
}

}  // namespace napkin::scene
