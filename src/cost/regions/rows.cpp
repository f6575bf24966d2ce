// Counts tuples of pieces by the sums of the corners of their wires.
#include "cost/regions/rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "cost/regions/cutting.hpp"
#include "cost/regions/extremes.hpp"
#include "diagram/checked.hpp"

namespace napkin {
namespace {

__extension__ typedef __int128 Wide;

std::int64_t saturated(Wide value) { return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value); }

// Returns the sum of (a * i + b) / m, rounded down, over 0 <= i < n.
Wide sum_of_quotients(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
  Wide all = 0;
  while (n > 0) {
    all += Wide(n) * (n - 1) / 2 * (a / m) + Wide(n) * (b / m);
    a %= m, b %= m;
    const auto last = a * n + b;
    if (last < m) break;
    n = last / m, b = last % m;
    std::swap(a, m);
  }
  return all;
}

struct Band {
  std::int64_t begin = 0, end = 0;
  void meet(Band other) { begin = std::max(begin, other.begin), end = std::max(begin, std::min(end, other.end)); }
};

// offset + factor * the sum of coefficient * position over all wires, for a factor of one or minus one.
struct Edge {
  const Condition* condition;
  double factor;
  bool everywhere;  // the condition holds on the whole pieces, or somewhere in them
};
using Edges = std::vector<Edge>;

class ByRows {
 public:
  ByRows(const Region& region, const std::vector<Cutting>& cuttings, std::size_t number_of_wires,
         const Footprints& footprints)
      : region_(region), cuttings_(cuttings), footprints_(footprints), at_(number_of_wires) {}

  std::optional<std::int64_t> run() {
    const auto depths = depths_of_needs();
    if (!depths || !has_one_direction()) return {};
    if (region_.part == Region::Part::run) return sum(*depths, run_);
    // If the open test has all conditions of the other tests, every piece that passes it is also run.
    const bool follows = std::ranges::all_of(region_.needs, [&](const auto& test) { return asks(region_.open, test); });
    if (!follows && *depths != region_.open.depths) return {};
    if (!follows) open_.insert(open_.end(), run_.begin(), run_.end());
    const auto open = sum(region_.open.depths, open_);
    if (region_.part == Region::Part::open || !open) return open;
    const auto all = sum(*depths, run_);
    return all ? std::optional(*all - *open) : std::nullopt;
  }

 private:
  // Returns the depths of the tests of pieces that run, if all test the same pieces. A test is unnecessary if another
  // one has all of its conditions on smaller pieces.
  std::optional<std::vector<std::size_t>> depths_of_needs() {
    for (const auto& test : region_.needs) {
      const bool needless = std::ranges::any_of(region_.needs, [&](const auto& other) {
        return &other != &test && follows(test, other) && (!follows(other, test) || &other < &test);
      });
      if (!needless) needs_.push_back(&test);
    }
    if (needs_.empty()) return all_depths();
    const auto alike = [&](const auto* test) { return test->depths == needs_[0]->depths; };
    if (!std::ranges::all_of(needs_, alike)) return {};
    return needs_[0]->depths;
  }
  // Returns the depths without any test: the leaves on which footprints depend, else the whole wires.
  std::vector<std::size_t> all_depths() const {
    std::vector<std::size_t> all;
    for (const auto& cutting : cuttings_) all.push_back(region_.footprints.empty() ? 0 : cutting.sizes.size());
    return all;
  }
  bool are_leaves(const std::vector<std::size_t>& depths) const {
    for (std::size_t w = 0; w < depths.size(); ++w)
      if (footprints_.shaped[w] && depths[w] < cuttings_[w].sizes.size()) return false;
    return true;
  }
  // True if the second test passes only pieces inside pieces that pass the first.
  static bool follows(const Region::Test& first, const Region::Test& second) {
    return std::ranges::equal(first.depths, second.depths, std::less_equal{}) && asks(second, first);
  }
  // True if the first test has all conditions of the second.
  static bool asks(const Region::Test& first, const Region::Test& second) {
    return std::ranges::all_of(second.conditions, [&](const Condition& condition) {
      return std::ranges::count(first.conditions, condition) > 0;
    });
  }

  bool has_one_direction() {
    const auto add_all = [&](const Region::Test& test, bool everywhere, Edges& edges) {
      return std::ranges::all_of(test.conditions, [&](const auto& asked) { return add(asked, everywhere, edges); });
    };
    const bool fine = std::ranges::all_of(needs_, [&](const auto* test) { return add_all(*test, false, run_); });
    return fine && (region_.part == Region::Part::run || add_all(region_.open, true, open_));
  }
  bool add(const Condition& condition, bool everywhere, Edges& edges) {
    if (condition.terms.empty() || condition.spares_one()) return false;
    const auto found = coefficients(condition);
    if (direction_.empty()) direction_ = found;
    const bool same = found == direction_;
    if (!same && !std::ranges::equal(found, direction_, {}, std::negate{})) return false;
    double far = std::abs(condition.offset);
    for (std::size_t w = 0; w < found.size(); ++w) {
      if (std::trunc(found[w]) != found[w]) return false;
      far += std::abs(found[w]) * static_cast<double>(cuttings_[w].extent);
    }
    edges.push_back({&condition, same ? 1. : -1., everywhere});
    return far < 0x1p50;  // or doubles do not tell positions apart
  }
  std::vector<double> coefficients(const Condition& condition) const {
    std::vector<double> all;
    for (const auto wire : region_.wires) {
      const auto own = std::ranges::find(condition.terms, wire, [](const auto& term) { return term.first; });
      all.push_back(own == condition.terms.end() ? 0 : own->second);
    }
    return all;
  }

  // Sums over all pieces at these depths for which the edges hold. The rows of the two wires with most pieces are
  // counted at once, for each choice of pieces of the other wires.
  std::optional<std::int64_t> sum(const std::vector<std::size_t>& depths, const Edges& edges) {
    if (!region_.footprints.empty() && !are_leaves(depths)) return {};
    std::vector<std::int64_t> counts;
    rows_.clear(), order_.clear();
    for (std::size_t w = 0; w < cuttings_.size(); ++w) {
      rows_.push_back(rows(cuttings_[w], depths[w]));
      counts.push_back(0);
      for (const auto& row : rows_[w]) counts[w] = saturating_add(counts[w], row.count);
      order_.push_back(w);
    }
    std::ranges::stable_sort(order_, {}, [&](auto w) { return counts[w]; });
    std::int64_t choices = 1;
    for (std::size_t w = 0; w + 2 < order_.size(); ++w) choices = saturating_multiply(choices, counts[order_[w]]);
    if (choices > 4096) return {};
    chosen_.resize(cuttings_.size());
    return add(edges, 0);
  }
  std::int64_t add(const Edges& edges, std::size_t depth) {
    if (depth == order_.size()) return weighed(tuples(edges));
    const auto wire = order_[depth];
    std::int64_t all = 0;
    for (auto row : rows_[wire]) {
      const auto count = depth + 2 < order_.size() ? std::exchange(row.count, 1) : 1;
      for (std::int64_t k = 0; k < count; ++k, row.begin += row.stride) {
        chosen_[wire] = row;
        all = saturating_add(all, add(edges, depth + 1));
      }
    }
    return all;
  }
  std::int64_t weighed(std::int64_t tuples) {
    for (std::size_t w = 0; w < chosen_.size(); ++w) {
      const auto& row = chosen_[w];
      tuples = saturating_multiply(tuples, region_.measured[w] ? row.length : row.leaves);
      at_[region_.wires[w].index] = {row.begin, row.begin + row.length};
    }
    return tuples == 0 || region_.footprints.empty() ? tuples : saturating_multiply(tuples, footprints_.of(at_));
  }

  // Counts the combinations of pieces in the chosen rows. At most two rows have several pieces. For pieces i and j of
  // these two, the sum over the wires is the least sum plus a * i + b * j. A wire with a negative coefficient is
  // counted from its end.
  std::int64_t tuples(const Edges& edges) const {
    double least = 0;
    std::int64_t strides[2] = {0, 0}, counts[2] = {1, 1};
    for (std::size_t w = 0, many = 0; w < chosen_.size(); ++w) {
      const auto& row = chosen_[w];
      const double step = edges.empty() ? 0 : direction_[w];
      const auto first = step < 0 ? row.begin + row.stride * (row.count - 1) : row.begin;
      least += step * static_cast<double>(first);
      if (row.count == 1) continue;
      strides[many] = static_cast<std::int64_t>(std::abs(step)) * row.stride;
      counts[many++] = row.count;
    }
    Band band{0, strides[0] * (counts[0] - 1) + strides[1] * (counts[1] - 1) + 1};
    for (const auto& edge : edges) band.meet(holding(edge, least));
    const auto up_to = [&](std::int64_t most) {
      return pairs_up_to(most, strides[0], counts[0], strides[1], counts[1]);
    };
    return band.begin == band.end ? 0 : up_to(band.end - 1) - up_to(band.begin - 1);
  }

  // Returns the sums, counted from the least one, for which a condition holds on the chosen pieces.
  Band holding(const Edge& edge, double least) const {
    const auto& condition = *edge.condition;
    Extremes form{condition.offset + edge.factor * least, condition.offset + edge.factor * least};
    for (std::size_t w = 0; w < chosen_.size(); ++w) form.add(edge.factor * direction_[w], {0, chosen_[w].length});
    Band band{INT64_MIN, INT64_MAX};
    // The form is to be at least zero, and at most zero.
    const double low = edge.everywhere ? form.least : form.greatest;
    const double high = edge.everywhere ? form.greatest : form.least;
    if (!condition.below) band.meet(edge.factor > 0 ? at_least(-low, condition.at) : at_most(low, condition.at));
    if (!condition.above) band.meet(edge.factor > 0 ? at_most(-high, condition.at) : at_least(high, condition.at));
    return band;
  }
  static Band at_least(double value, bool itself) {
    return {static_cast<std::int64_t>(itself ? std::ceil(value) : std::floor(value) + 1), INT64_MAX};
  }
  static Band at_most(double value, bool itself) {
    return {INT64_MIN, static_cast<std::int64_t>(itself ? std::floor(value) + 1 : std::ceil(value))};
  }

  const Region& region_;
  const std::vector<Cutting>& cuttings_;
  const Footprints& footprints_;
  Intervals at_;
  std::vector<const Region::Test*> needs_;
  Edges run_, open_;
  std::vector<double> direction_;            // coefficients by wire; none without conditions
  std::vector<std::vector<PieceRow>> rows_;  // by wire
  std::vector<std::size_t> order_;           // of the wires, most pieces last
  std::vector<PieceRow> chosen_;             // by wire
};

}  // namespace

std::int64_t pairs_up_to(std::int64_t most, std::int64_t a, std::int64_t n, std::int64_t b, std::int64_t m) {
  if (most < 0) return 0;
  if (a == 0 && b == 0) return saturated(Wide(n) * m);
  if (b == 0) return pairs_up_to(most, b, m, a, n);
  if (a == 0) return saturated(Wide(n) * std::min(m, most / b + 1));
  const auto reached = std::min(n, most / a + 1);  // values of i for which some j is near enough
  const auto nearest = b * (m - 1);
  const auto full = most < nearest ? 0 : std::min(reached, (most - nearest) / a + 1);  // and all are
  const auto some = reached - full;
  return saturated(Wide(full) * m + some + sum_of_quotients(some, b, a, most - a * (reached - 1)));
}

std::optional<std::int64_t> sum_by_rows(const Region& region, const std::vector<Cutting>& cuttings,
                                        std::size_t number_of_wires, const Footprints& footprints) {
  if (!region.footprints.empty() && !footprints.even) return {};
  return ByRows(region, cuttings, number_of_wires, footprints).run();
}

}  // namespace napkin
