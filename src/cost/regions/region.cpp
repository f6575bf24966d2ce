// Sums over the pieces of a region.
//
// Conditions are linear and the pieces of a wire are in order. So, for given pieces of the other wires, the pieces of
// the last wire that pass a test are neighbours. They are found by bisection that starts from the previous result, not
// one by one.
#include "cost/regions/region.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "cost/regions/cutting.hpp"
#include "cost/regions/extremes.hpp"
#include "cost/regions/independent.hpp"
#include "cost/regions/rows.hpp"
#include "diagram/checked.hpp"

namespace napkin {
namespace {

// Numbers begin .. end - 1 of pieces.
struct Range {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  void meet(Range other) { begin = std::max(begin, other.begin), end = std::min(end, other.end); }
};

class Sum {
 public:
  Sum(const Region& region, const std::vector<Cutting>& cuttings, std::size_t number_of_wires,
      const Footprints& footprints)
      : region_(region),
        pieces_(cuttings.begin(), cuttings.end()),
        footprints_(footprints),
        at_(number_of_wires),
        chosen_(cuttings.size()) {
    order_.resize(region.wires.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, [&](auto wire) { return pieces_[wire].count(); });
  }

  std::int64_t run() { return add(0); }

 private:
  std::int64_t add(std::size_t depth) {
    if (depth + 1 == order_.size()) return add_last(order_[depth]);
    const auto wire = order_[depth];
    std::int64_t all = 0;
    for (chosen_[wire] = 0; chosen_[wire] < pieces_[wire].count(); ++chosen_[wire])
      all = saturating_add(all, saturating_multiply(weight(wire, pieces_[wire].leaf(chosen_[wire])), add(depth + 1)));
    return all;
  }
  std::int64_t weight(std::size_t wire, const Interval& piece) const {
    return region_.measured[wire] ? piece.length() : 1;
  }

  std::int64_t add_last(std::size_t last) {
    asked_ = 0;
    Range run{0, pieces_[last].count()};
    for (const auto& test : region_.needs) run.meet(passing(test, last, false));
    if (region_.part == Region::Part::run) return weigh(last, run);
    Range open = run;
    open.meet(passing(region_.open, last, true));
    const auto free = weigh(last, open);
    return region_.part == Region::Part::open ? free : weigh(last, run) - free;
  }
  std::int64_t weigh(std::size_t last, Range range) {
    if (range.empty()) return 0;
    if (region_.footprints.empty()) return plain(last, range);
    place(last, range.begin);
    if (!footprints_.shaped[last]) return saturating_multiply(footprints_.of(at_), plain(last, range));
    const auto& sums = sums_of(last);
    return sums[range.end] == INT64_MAX ? INT64_MAX : sums[range.end] - sums[range.begin];
  }
  std::int64_t plain(std::size_t last, Range range) const {
    const auto& all = pieces_[last];
    return region_.measured[last] ? all.leaf(range.end - 1).end - all.leaf(range.begin).begin
                                  : static_cast<std::int64_t>(range.end - range.begin);
  }
  void place(std::size_t last, std::size_t piece) {
    chosen_[last] = piece;
    for (std::size_t w = 0; w < region_.wires.size(); ++w) at_[region_.wires[w].index] = pieces_[w].leaf(chosen_[w]);
  }
  // Returns prefix sums over the pieces of the last wire. They are computed once for each choice of the pieces of other
  // wires on which footprints depend.
  const std::vector<std::int64_t>& sums_of(std::size_t last) {
    std::size_t at = 0;
    for (const auto wire : order_)
      if (wire != last && footprints_.shaped[wire]) at = at * pieces_[wire].count() + chosen_[wire];
    auto& sums = sums_[at];
    if (!sums.empty()) return sums;
    sums.push_back(0);
    for (std::size_t piece = 0; piece < pieces_[last].count(); ++piece) {
      place(last, piece);
      sums.push_back(saturating_add(sums.back(),
                                    saturating_multiply(weight(last, pieces_[last].leaf(piece)), footprints_.of(at_))));
    }
    return sums;
  }

  // Returns the pieces of the last wire for which all conditions hold.
  Range passing(const Region::Test& test, std::size_t last, bool everywhere) {
    Range all{0, pieces_[last].count()};
    for (const auto& condition : test.conditions) all.meet(passing(condition, test, last, everywhere));
    return all;
  }
  Range passing(const Condition& condition, const Region::Test& test, std::size_t last, bool everywhere) {
    Extremes others{condition.offset, condition.offset};
    double slope = 0;
    for (const auto& [wire, coefficient] : condition.terms) {
      const auto w = number(wire);
      if (w == last)
        slope = coefficient;
      else
        others.add(coefficient, pieces_[w].at(chosen_[w], test.depths[w]));
    }
    const auto at = [&](std::size_t piece) {
      auto all = others;
      all.add(slope, pieces_[last].at(piece, test.depths[last]));
      return all;
    };
    const auto low = [&](std::size_t piece) { return not_too_low(condition, everywhere, at(piece)); };
    const auto high = [&](std::size_t piece) { return not_too_high(condition, everywhere, at(piece)); };
    if (slope >= 0) return {first(last, low), first(last, std::not_fn(high))};
    const auto end = first(last, std::not_fn(low));
    return {first(last, high), end};
  }
  // Returns the first piece of a wire that passes, if all pieces after it pass too. It lies near the result of the same
  // search for the previous piece of the other wires.
  template <class Passes>
  std::size_t first(std::size_t wire, const Passes& passes) {
    if (asked_ == answers_.size()) answers_.push_back(0);
    auto& answer = answers_[asked_++];
    std::size_t begin = 0, end = pieces_[wire].count();
    answer = std::min(answer, end);
    const bool back = answer == end || passes(answer);
    (back ? end : begin) = back ? answer : answer + 1;
    const auto look = [&](std::size_t at) {
      const bool passed = passes(at);
      (passed ? end : begin) = passed ? at : at + 1;
      return passed;
    };
    for (std::size_t step = 1; begin < end; step *= 2) {
      const auto far = std::min(step, end - begin);
      if (look(back ? end - far : begin + far - 1) != back) break;
    }
    while (begin < end) look(begin + (end - begin) / 2);
    return answer = begin;
  }
  std::size_t number(WireId wire) const {
    return static_cast<std::size_t>(std::ranges::find(region_.wires, wire) - region_.wires.begin());
  }

  const Region& region_;
  std::vector<Pieces> pieces_;
  const Footprints& footprints_;
  Intervals at_;
  std::map<std::size_t, std::vector<std::int64_t>> sums_;
  std::vector<std::size_t> chosen_;   // the current piece, by wire of the region
  std::vector<std::size_t> order_;    // most pieces last
  std::vector<std::size_t> answers_;  // of the searches for pieces that pass, in their order
  std::size_t asked_ = 0;
};

bool asks_of(const Region& region, WireId wire) {
  const auto of = [&](const Region::Test& test) {
    return std::ranges::any_of(test.conditions, [&](const Condition& condition) {
      return std::ranges::any_of(condition.terms, [&](const auto& term) { return term.first == wire; });
    });
  };
  return of(region.open) || std::ranges::any_of(region.needs, of);
}

// Returns a wire that no condition depends on, that is cut into several pieces, and whose pieces of equal length all
// count the same.
std::optional<std::size_t> free_wire(const Region& region, const std::vector<Cutting>& cuttings,
                                     const Footprints& footprints) {
  for (std::size_t w = 0; w < cuttings.size(); ++w) {
    const bool alike = region.footprints.empty() || footprints.even || !footprints.shaped[w];
    const auto& cutting = cuttings[w];
    const bool is_cut = cutting.sizes.size() > 1 || (cutting.sizes.size() == 1 && cutting.sizes[0] < cutting.extent);
    if (alike && is_cut && !asks_of(region, region.wires[w])) return w;
  }
  return std::nullopt;
}

// Sums over one piece of each length of a free wire, times the number of pieces of that length.
std::int64_t sum_by_lengths(Region region, std::vector<Cutting> cuttings, std::size_t number_of_wires,
                            const Footprints& footprints, std::size_t wire) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const auto& row : rows(cuttings[wire], cuttings[wire].sizes.size())) counts[row.length] += row.count;
  for (auto& test : region.needs) test.depths[wire] = 1;
  if (!region.open.depths.empty()) region.open.depths[wire] = 1;
  std::int64_t all = 0;
  for (const auto& [length, count] : counts) {
    cuttings[wire] = {length, {length}};
    all = saturating_add(all, saturating_multiply(count, sum_tied(region, cuttings, number_of_wires, footprints)));
  }
  return all;
}

}  // namespace

std::int64_t sum_tied(const Region& region, const std::vector<Cutting>& cuttings, std::size_t number_of_wires,
                      const Footprints& footprints) {
  if (const auto wire = free_wire(region, cuttings, footprints))
    return sum_by_lengths(region, cuttings, number_of_wires, footprints, *wire);
  if (const auto found = sum_by_rows(region, cuttings, number_of_wires, footprints)) return *found;
  return Sum(region, cuttings, number_of_wires, footprints).run();
}

Footprints product_of(std::vector<Footprints> factors, std::size_t wires) {
  Footprints all{{}, std::vector<bool>(wires), std::ranges::all_of(factors, &Footprints::even)};
  for (const auto& one : factors)
    for (std::size_t w = 0; w < wires; ++w) all.shaped[w] = all.shaped[w] || one.shaped[w];
  all.of = [factors = std::move(factors)](const Intervals& at) {
    std::int64_t values = 1;
    for (const auto& one : factors) values = saturating_multiply(values, one.of(at));
    return values;
  };
  return all;
}

namespace {

// Returns the product of the footprints of a part of a region, over the wires of that part.
Footprints factor(const Region& region, const Region& part, const std::vector<Footprints>& factors) {
  std::vector<const Footprints*> own;
  for (const auto footprint : part.footprints)
    own.push_back(&factors[static_cast<std::size_t>(std::ranges::find(region.footprints, footprint) -
                                                    region.footprints.begin())]);
  Footprints all{{}, {}, std::ranges::all_of(own, &Footprints::even)};
  for (std::size_t w = 0; w < region.wires.size(); ++w)
    if (std::ranges::find(part.wires, region.wires[w]) != part.wires.end())
      all.shaped.push_back(std::ranges::any_of(own, [&](const auto* one) { return one->shaped[w]; }));
  all.of = [own](const Intervals& at) {
    std::int64_t values = 1;
    for (const auto* one : own) values = saturating_multiply(values, one->of(at));
    return values;
  };
  return all;
}

std::vector<Cutting> own(const Region& region, const Region& part, const std::vector<Cutting>& cuttings) {
  std::vector<Cutting> all;
  for (std::size_t w = 0; w < region.wires.size(); ++w)
    if (std::ranges::find(part.wires, region.wires[w]) != part.wires.end()) all.push_back(cuttings[w]);
  return all;
}

}  // namespace

std::int64_t sum(const Region& region, const std::vector<Cutting>& cuttings, std::size_t number_of_wires,
                 const std::vector<Footprints>& factors) {
  std::vector<std::vector<bool>> shaped;
  for (const auto& one : factors) shaped.push_back(one.shaped);
  const auto product = [&](Region::Part what) {
    std::int64_t all = 1;
    for (const auto& part : independent(region, what, shaped))
      all = saturating_multiply(
          all, sum_tied(part, own(region, part, cuttings), number_of_wires, factor(region, part, factors)));
    return all;
  };
  if (region.part != Region::Part::masked) return product(region.part);
  return product(Region::Part::run) - product(Region::Part::open);
}

}  // namespace napkin
