// A diagram cut into kernels: the cheapest cut of the statements, in their order, into contiguous segments.
//
// best(i) is the least cost of the first i statements: the least over j < i of best(j) + cost of the kernel of
// statements j to i - 1. Kernels meet only in arrays at the outermost level, so that costs add up, and what the rest
// needs of a kernel (its outputs) does not depend on how the rest is cut.
#include <algorithm>
#include <optional>

#include "search/kernels.hpp"

namespace napkin {
namespace {

// What a plan costs: the objective, then transfers at the outermost level.
struct Price {
  double objective = 0, transfers = 0;
  auto operator<=>(const Price&) const = default;
  Price operator+(const Price& more) const { return {objective + more.objective, transfers + more.transfers}; }
  Price operator-(const Price& less) const { return {objective - less.objective, transfers - less.transfers}; }
};

class Cuts {
 public:
  Cuts(const Diagram& diagram, const Hardware& hardware, const Goal& goal)
      : diagram_(diagram), hardware_(hardware), goal_(goal) {
    const auto count = static_cast<std::int64_t>(diagram.statements.size());
    most_evaluated_ = 2'000'000 / std::max<std::int64_t>(1, count * (count + 1) / 2);
  }

  FoundPlan run() {
    const auto count = diagram_.statements.size();
    ends_.resize(count + 1);
    ends_[0] = End{};
    for (std::size_t end = 1; end <= count; ++end)
      for (std::size_t begin = end; begin-- > 0;) consider(begin, end);
    std::vector<std::size_t> cuts{count};
    while (ends_[cuts.back()] && cuts.back() > 0) cuts.push_back(ends_[cuts.back()]->begin);
    if (cuts.back() > 0) cuts = {count, 0};  // nothing fits: all in one, to say by how much
    std::ranges::reverse(cuts);
    return plan(cuts);
  }

 private:
  struct End {
    Price price{};
    std::size_t begin = 0;
    std::optional<Ranking> ranking{};
  };

  Space segment(std::size_t begin, std::size_t end) const {
    std::vector<StatementId> statements;
    for (auto i = begin; i < end; ++i) statements.push_back({static_cast<std::uint32_t>(i)});
    return make_space(std::make_shared<const Derivation>(derive(diagram_, statements)), hardware_, goal_.fixed);
  }
  // A segment that costs more than what is left by the best plan so far need not be searched to its end.
  void consider(std::size_t begin, std::size_t end) {
    if (!ends_[begin]) return;
    const auto space = segment(begin, end);
    Leaders leaders(1, space.first);
    if (ends_[end]) leaders.limit(at_most(ends_[end]->price - ends_[begin]->price));
    const auto ranking = rank(space, goal_, std::move(leaders), false, most_evaluated_);
    candidates_ = plus(candidates_, count_partitions(space));
    evaluated_ += ranking.tally.evaluated;
    optimal_ = optimal_ && ranking.tally.finished;
    if (ranking.leaders.best().empty()) return;
    const auto& score = ranking.leaders.best().front().score;
    const auto together = ends_[begin]->price + Price{score.parts[0], score.parts[1]};
    if (!ends_[end] || together < ends_[end]->price) ends_[end] = End{together, begin, ranking};
  }
  static Score at_most(const Price& price) {
    auto score = Score::greatest();
    score.parts[0] = price.objective;
    score.parts[1] = price.transfers;
    return score;
  }
  static std::int64_t plus(std::int64_t a, std::int64_t b) { return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a; }

  Found kernel(std::size_t begin, std::size_t end) const {
    const auto space = segment(begin, end);
    const bool known = ends_[end] && ends_[end]->begin == begin && ends_[end]->ranking;
    if (known && goal_.top <= 1) return found(space, goal_, *ends_[end]->ranking);
    return found(space, goal_, rank, 4 * most_evaluated_);
  }
  FoundPlan plan(const std::vector<std::size_t>& cuts) {
    FoundPlan all;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) all.kernels.push_back(kernel(cuts[i], cuts[i + 1]));
    for (const auto& found : all.kernels)
      if (!found.best.empty()) all.plan.kernels.push_back(found.best.front().kernel);
    if (all.plan.kernels.size() == all.kernels.size()) all.cost = estimate(all.plan, hardware_, goal_.model);
    all.candidates = candidates_;
    all.evaluated = evaluated_;
    all.optimal = optimal_;
    return all;
  }

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::vector<std::optional<End>> ends_;  // by how many statements are done
  std::int64_t most_evaluated_ = 0;       // for one segment: all together some seconds
  std::int64_t candidates_ = 0, evaluated_ = 0;
  bool optimal_ = true;
};

}  // namespace

FoundPlan search(const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  return Cuts(diagram, hardware, goal).run();
}

}  // namespace napkin
