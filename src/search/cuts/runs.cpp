// Divides a long diagram into runs of statements, each short enough to try every cut.
#include <algorithm>
#include <tuple>

#include "search/cuts/cuts.hpp"

namespace napkin {
namespace {

double bytes_of(const Diagram& diagram, ArrayId id) {
  double all = diagram.at(id).width();
  for (const auto wire : diagram.at(id).wires) all *= static_cast<double>(diagram.size(wire).value_or(1));
  return all;
}

// Returns, for each place in the order of the needed statements, the bytes of arrays computed before it and read after
// it.
std::vector<double> crossing(const Diagram& diagram, const std::vector<std::size_t>& order) {
  std::vector<double> all(order.size() + 1);
  for (std::size_t made = 0; made < order.size(); ++made) {
    const auto output = diagram.statements[order[made]].output;
    auto last = made;
    for (auto k = made + 1; k < order.size(); ++k) {
      const auto read = arrays_read(diagram, diagram.statements[order[k]].value);
      if (std::ranges::find(read, output) != read.end()) last = k;
    }
    for (auto place = made + 1; place <= last; ++place) all[place] += bytes_of(diagram, output);
  }
  return all;
}

// The rank of runs that end at a place. The least is best.
struct Ended {
  double bytes = 0;
  std::size_t runs = 0, squares = 0;  // of their lengths
  std::size_t from = 0;               // where the last run begins
  auto rank() const { return std::tuple(bytes, runs, squares); }
};

}  // namespace

std::vector<Statements> runs_of(const Diagram& diagram, std::size_t most) {
  const auto needed = needed_statements(diagram);
  std::vector<std::size_t> order;
  for (auto i = needed._Find_first(); i < needed.size(); i = needed._Find_next(i)) order.push_back(i);
  const auto bytes = crossing(diagram, order);
  std::vector<Ended> best(order.size() + 1);
  for (std::size_t to = 1; to <= order.size(); ++to)
    for (auto from = to - std::min(to, most); from < to; ++from) {
      const auto& before = best[from];
      const Ended made{before.bytes + bytes[from], before.runs + 1, before.squares + (to - from) * (to - from), from};
      if (best[to].runs == 0 || made.rank() < best[to].rank()) best[to] = made;
    }
  std::vector<Statements> runs;
  for (auto to = order.size(); to > 0; to = best[to].from) {
    auto& run = runs.emplace_back();
    for (auto k = best[to].from; k < to; ++k) run.set(order[k]);
  }
  std::ranges::reverse(runs);
  return runs;
}

}  // namespace napkin
