// Cuts a diagram into kernels: finds the cheapest path through its cuts.
//
// At first the price of every kernel is its lower bound. The kernels of the cheapest path by these prices are searched,
// which raises their prices, and so on until the cheapest path consists of searched kernels only. Then no other path is
// cheaper, because no kernel is cheaper than its assumed price. The search of a kernel ends as soon as the kernel
// cannot be part of a plan as good as the best one known. A search that gives up leaves the price of a kernel between a
// bound and the best result; the next round assumes the bound again and searches the kernel with more patience.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "diagram/checked.hpp"
#include "loops/work.hpp"
#include "search/cuts/paths.hpp"
#include "search/cuts/prices.hpp"
#include "search/kernels.hpp"
#include "search/plans/chunked.hpp"
#include "search/plans/divided.hpp"
#include "search/plans/joined.hpp"
#include "search/plans/lanes.hpp"
#include "search/plans/likeness.hpp"
#include "search/plans/ordered.hpp"
#include "search/plans/saved.hpp"

namespace napkin {
namespace {

// Longer diagrams are searched in runs of this many statements with every cut, and as a whole with cuts in order only.
constexpr std::size_t most_statements = 16;
constexpr std::size_t most_steps = 20'000;
constexpr std::size_t many_cuts = 1000;  // of which those in the order of the file are searched first
// Partitions of all kernels together, which take some seconds; for cuts in order, which are not searched to the end
// anyway, about one second.
constexpr std::int64_t most_of_a_cut = 800'000, most_in_order = 500'000;
constexpr std::int64_t most_of_a_statement = 130'000;                // times the number of statements if there are many
constexpr std::int64_t few_statements = 2, most_of_few = 3'200'000;  // whose kernels are searched to the end
constexpr std::int64_t times_of_four_levels = 4;                     // for more than three levels, with many shapes
struct Most {
  std::int64_t kernels = 1000, partitions = most_of_a_cut;
};
// Partitions to evaluate for kernels of single statements, which serve for comparison: of all together, and limits for
// each.
constexpr std::int64_t of_all_alone = 300'000, least_alone = 32'000, most_alone = 100'000;
// Streams and cost models, of some milliseconds each in large kernels, by how many partitions could be evaluated
// meanwhile (search/streamed.hpp). Making the spaces takes about twice as much again, since launches are tried.
constexpr std::int64_t most_of_making = 2'400'000;
// Partitions of one kernel in the first round. For cuts in order, which have many kernels, it is less.
constexpr std::int64_t first_patience = 32'000, first_patience_in_order = 16'000;
constexpr std::int64_t more_patience = 4;                                // times as many in the next round
constexpr std::int64_t last_patience = 128'000, most_at_last = 384'000;  // per kernel of the best plan, and in all

// What is known of one kernel's price.
struct Priced {
  Price least, most = Price::never();
  Price taken = least;               // assumed: `least`, or `most` once searched in this round
  std::optional<Ranking> ranking{};  // once it was searched
  std::int64_t patience = 0;         // with which it was
  bool settled() const { return ranking && ranking->statistics.finished; }
};

Price price(const Score& score) { return {score.parts[0], score.parts[1]}; }

// True if searching again found something better.
bool beats(const Ranking& now, const Ranking& before) {
  if (now.incumbents.best().empty() || before.incumbents.best().empty()) return before.incumbents.best().empty();
  return now.incumbents.best().front() < before.incumbents.best().front();
}

class Plans {
 public:
  // Plans these statements of the diagram. Uses the results of earlier searches, and adds to them.
  Plans(const Diagram& diagram, const Statements& of, Most most, const Hardware& hardware, const Goal& goal,
        Searched& searched)
      : diagram_(diagram),
        of_(of),
        hardware_(hardware),
        goal_(goal),
        most_(most),
        known_(searched),
        least_(diagram, hardware, goal) {}

  PlannedCut run() {
    draw();
    const auto statements = static_cast<std::int64_t>(std::max<std::size_t>(1, of_.count()));
    patience_ = patient(std::clamp(of_all_alone / statements, least_alone, most_alone), goal_);
    for (const auto& step : cuts_.steps)
      if (is_alone(step)) search_cut(step.cut, within());
    any_order_ = exact_ && cuts_.cuts.size() <= many_cuts;
    search_rounds();
    if (any_order_ != exact_) any_order_ = true, forget_results(), search_rounds();
    polish();
    return {found(cheapest(&Priced::most)), cheapest_price(&Priced::most), least_of_all(), of_.count()};
  }

 private:
  void draw() {
    auto every = every_cut(diagram_, of_, most_steps);
    every_ = every.has_value();
    exact_ = every_ && of_.count() <= most_statements;
    cuts_ = every ? std::move(*every) : cuts_in_order(diagram_);
    for (const auto& cut : cuts_.cuts) prices_.push_back({least_.of(cut)});
  }
  bool is_alone(const Cuts::Step& step) const { return step.in_order && cuts_.cuts[step.cut].computed.count() == 1; }

  void search_rounds() {
    patience_ = any_order_ ? first_patience : first_patience_in_order;
    while (search_round()) patience_ *= more_patience, forget_results();
  }
  void forget_results() {
    for (auto& priced : prices_) priced.taken = priced.least;
  }
  // Returns whether more patience could change the result.
  bool search_round() {
    for (;;) {
      const auto path = cheapest(&Priced::taken);
      if (within() < cheapest_price(&Priced::taken)) return false;
      const auto next = std::ranges::find_if(
          path, [&](std::size_t cut) { return !prices_[cut].settled() && prices_[cut].patience < patience_; });
      if (next == path.end()) break;
      const auto most = any_order_ ? most_.partitions : std::min(most_.partitions, most_in_order);
      const auto left = patient(most, goal_) - spent_;
      if (searched_ >= patient(most_.kernels, goal_) || has_made_enough()) return false;
      if (patience_ > left || goal_.stop.stop_requested()) return false;
      search_cut(*next, allowance(*next));
    }
    return !std::ranges::all_of(cheapest(&Priced::least), [&](std::size_t cut) { return prices_[cut].settled(); });
  }

  bool has_made_enough() const {
    return made_ > patient(most_of_making, goal_) && cheapest_price(&Priced::most) < Price::never();
  }

  // Searches the kernels of the best plan further, because they are given up too soon if there are many other kernels.
  void polish() {
    patience_ = std::max(patience_, patient(last_patience, goal_));
    auto left = patient(most_at_last, goal_);
    for (;;) {
      const auto path = cheapest(&Priced::most);
      const auto next = std::ranges::find_if(
          path, [&](std::size_t cut) { return !prices_[cut].settled() && prices_[cut].patience < patience_; });
      if (next == path.end() || left < patience_ || goal_.stop.stop_requested()) return;
      left -= patience_;
      search_cut(*next, allowance(*next));
    }
  }

  // ---- paths ----
  using Which = Price Priced::*;
  PriceOf by(Which which) const {
    return [this, which](std::size_t cut) { return prices_[cut].*which; };
  }
  Paths paths() const { return {cuts_, any_order_}; }
  std::vector<std::size_t> cheapest(Which which) const { return paths().cheapest(by(which)); }
  Price cheapest_price(Which which) const { return paths().least(by(which)); }
  Price within() const { return {goal_.within, Price::never().transfers}; }
  // Returns the highest price at which a kernel may be part of a plan that is no worse than the best one known.
  Price allowance(std::size_t cut) const {
    const auto best = std::min(cheapest_price(&Priced::most), within());
    if (best == Price::never()) return best;
    const Paths legal{cuts_, exact_};
    const auto before = legal.to_places(by(&Priced::least)), after = legal.from_places(by(&Priced::least));
    Price most{-1, -1};
    for (const auto& step : cuts_.steps)
      if (step.cut == cut && legal.has(step)) most = std::max(most, best - (before[step.from] + after[step.to]));
    return most;
  }

  // ---- kernels ----
  std::shared_ptr<const Derivation> derivation(const Cut& cut) const {
    std::vector<StatementId> statements;
    std::vector<ArrayId> saved;
    for (std::uint32_t i = 0; i < diagram_.statements.size(); ++i) {
      if (cut.computed[i]) statements.push_back({i});
      if (cut.saved[i]) saved.push_back(diagram_.statements[i].output);
    }
    return std::make_shared<const Derivation>(derive(diagram_, statements, std::move(saved)));
  }
  const std::shared_ptr<const Derivation>& derivation(std::size_t cut) const {
    auto& known = derived_[cut];
    return known ? known : known = derivation(cuts_.cuts[cut]);
  }
  const Space& space(std::size_t cut) const {
    const auto known = spaces_.find(cut);
    if (known != spaces_.end()) return known->second;
    return spaces_.emplace(cut, make_space(derivation(cut), hardware_, goal_)).first->second;
  }
  void search_cut(std::size_t cut, const Price& allowed) {
    auto& priced = prices_[cut];
    auto alike = likeness(diagram_, cuts_.cuts[cut], diagram_.in_parts && has_parts(*derivation(cut), hardware_));
    std::optional<Ranking> before;
    if (goal_.fixed.splits.empty()) before = known_.find(alike, patience_, allowed);
    auto ranking = before ? std::move(*before) : searched(cut, allowed);
    if (!before) known_.keep(std::move(alike), ranking, patience_, allowed);
    spent_ += ranking.statistics.evaluated, evaluated_ += before ? 0 : ranking.statistics.evaluated;
    priced.patience = patience_;
    if (priced.ranking && !beats(ranking, *priced.ranking)) ranking.incumbents = priced.ranking->incumbents;
    if (!ranking.incumbents.best().empty()) priced.most = price(ranking.incumbents.best().front().score);
    const auto left = ranking.statistics.finished ? priced.most : price(ranking.statistics.left);
    priced.least = std::min(priced.most, std::max(priced.least, left));
    priced.taken = priced.most;
    priced.ranking = std::move(ranking);
  }
  Ranking searched(std::size_t cut, const Price& allowed) {
    const auto made = spaces_.contains(cut) ? space(cut).kernels->work() : 0;
    const auto& space = this->space(cut);
    Incumbents incumbents(1, space.first);
    if (allowed != Price::never()) incumbents.limit(Score::at_most(allowed.objective, allowed.transfers));
    auto ranking = rank(space, goal_, std::move(incumbents), false, budget(prices_[cut].patience));
    ++searched_, made_ += space.kernels->work() - made;
    return ranking;
  }

  // A kernel that was searched before with the same kind of climbs is not climbed again.
  Budget budget(std::int64_t before) const {
    Budget made = patience_;
    if (before > 0 && Budget(before).climbs == made.climbs) made.climbs = Climbs::none;
    return made;
  }

  // ---- the plan ----
  FoundPlan found(const std::vector<std::size_t>& path) const {
    FoundPlan all;
    if (path.empty() && within() < Price::never()) return none();
    for (const auto cut : path) all.kernels.push_back(kernel(cut));
    if (path.empty()) all.kernels.push_back(everything_in_one());
    std::vector<KernelCost> costs;
    for (const auto& found : all.kernels) {
      if (found.best.empty()) continue;
      all.plan.kernels.push_back(found.best.front().kernel);
      costs.push_back(found.best.front().cost);
    }
    all.cost = total(std::move(costs));
    for (const auto& found : all.kernels) all.candidates = saturating_add(all.candidates, found.candidates);
    all.evaluated = evaluated_;
    all.cuts = static_cast<std::int64_t>(cuts_.cuts.size());
    all.space = words();
    judge(all, path);
    compare(all);
    return all;
  }
  // Returns an empty plan: nothing is within the requested limit.
  FoundPlan none() const {
    FoundPlan all;
    all.evaluated = evaluated_, all.cuts = static_cast<std::int64_t>(cuts_.cuts.size());
    all.optimal = exact_ && within() < least_of_all();
    return all;
  }
  Found kernel(std::size_t cut) const {
    const auto& space = this->space(cut);
    return goal_.top > 1 ? napkin::found(space, goal_, rank, patient(most_of_a_cut, goal_))
                         : napkin::found(space, goal_, *prices_[cut].ranking);
  }
  // Searches one kernel of all statements, to report by how much it does not fit.
  Found everything_in_one() const {
    Cut all;
    for (const auto& step : cuts_.steps)
      if (is_alone(step)) all.computed |= cuts_.cuts[step.cut].computed;
    for (std::size_t i = 0; i < diagram_.statements.size(); ++i)
      all.saved[i] = std::ranges::find(diagram_.outputs, diagram_.statements[i].output) != diagram_.outputs.end();
    return napkin::found(make_space(derivation(all), hardware_, goal_), goal_, rank, patient(most_alone, goal_));
  }
  std::string words() const {
    const std::string legal = "all acyclic fusions, with cheap shared intermediates stored or recomputed";
    return exact_ ? legal : "fusions of neighbouring statements in the order of the file";
  }
  // Returns a lower bound of the price of every legal cut, searched or not.
  Price least_of_all() const {
    if (every_) return Paths{cuts_, true}.least(by(&Priced::least));
    Cut all;
    for (const auto& cut : cuts_.cuts) all.computed |= cut.computed;
    return least_.of(all);
  }
  void judge(FoundPlan& all, const std::vector<std::size_t>& path) const {
    if (path.empty()) return;
    const auto found = cheapest_price(&Priced::most), least = least_of_all();
    all.optimal = exact_ && !(least < found);
    const auto part = goal_.objective == Objective::transfers ? &Price::transfers : &Price::objective;
    if (!all.optimal && found.*part > 0) all.gap = std::max(0.0, 1 - least.*part / (found.*part));
  }
  void compare(FoundPlan& all) const {
    std::vector<Alone> alone;
    std::vector<KernelCost> costs;
    for (const auto& step : cuts_.steps) {
      if (!is_alone(step)) continue;
      const auto& ranked = prices_[step.cut].ranking->incumbents.best();
      if (ranked.empty()) return;
      const auto& space = this->space(step.cut);
      costs.push_back(candidate(space, ranked.front().partition, goal_.model).cost);
      alone.push_back({space.derivation->statements.front(), costs.back()});
    }
    if (alone.size() < 2 || all.plan.kernels.size() == alone.size()) return;
    all.apart = total(std::move(costs));
    all.saved = saved(diagram_, all.plan, all.cost.kernels, alone);
  }

  const Diagram& diagram_;
  Statements of_;
  const Hardware& hardware_;
  const Goal& goal_;
  Most most_;
  Searched& known_;
  LeastPrices least_;
  Cuts cuts_;
  bool every_ = false;                           // all legal steps are in cuts_
  bool exact_ = false;                           // and all may be taken
  bool any_order_ = false;                       // and are now
  std::vector<Priced> prices_;                   // by cut
  mutable std::map<std::size_t, Space> spaces_;  // by cut, with the launches that their searches have timed
  mutable std::map<std::size_t, std::shared_ptr<const Derivation>> derived_;  // by cut
  std::int64_t patience_ = first_patience, searched_ = 0;
  std::int64_t evaluated_ = 0, spent_ = 0;  // partitions, without and with those that were evaluated for other plans
  std::int64_t made_ = 0;                   // streams and cost models, by their work
};

PlannedCut in_runs(const Diagram& diagram, const std::vector<Statements>& runs, const Hardware& hardware,
                   const Goal& goal, Searched& searched) {
  constexpr std::int64_t fewest = 150'000;  // partitions of a run; the runs share the others
  Joined joined;
  for (const auto& run : runs) {
    const Most most{.partitions = std::max(fewest, most_of_a_cut - joined.evaluated())};
    joined.add(Plans(diagram, run, most, hardware, goal, searched).run());
  }
  return joined.take();
}

// Plans a long diagram as a whole in the order of its statements, and in runs with every cut, and keeps the cheaper
// plan.
FoundPlan cut(const Diagram& diagram, const Hardware& hardware, const Goal& goal, Searched& searched) {
  const auto runs = runs_of(diagram, most_statements);
  std::optional<PlannedCut> apart;
  if (runs.size() > 1) apart = in_runs(diagram, runs, hardware, goal, searched);
  const auto statements = static_cast<std::int64_t>(needed_statements(diagram).count());
  const auto of_all = statements <= few_statements ? most_of_few : statements * most_of_a_statement;
  const auto more = hardware.levels.size() > 3 ? times_of_four_levels : 1;
  // The runs have already found the prices of most kernels.
  const auto most = apart ? Most{100, 250'000} : Most{.partitions = std::max(most_of_a_cut, of_all) * more};
  auto whole = Plans(diagram, needed_statements(diagram), most, hardware, goal, searched).run();
  if (apart && apart->price < whole.price) {
    const auto part = goal.objective == Objective::transfers ? &Price::transfers : &Price::objective;
    apart->found.gap = std::max(0.0, 1 - whole.least.*part / (apart->price.*part));
    whole = std::move(*apart);
  }
  whole.found.diagram = diagram;
  return std::move(whole.found);
}

// If nothing fits, tries the plan in which every sweep is a statement of its own, and keeps it if it fits.
FoundPlan with_sweeps_apart(FoundPlan whole, const Hardware& hardware, const Goal& goal, Searched& searched) {
  const auto apart = sweeps(whole.diagram);
  if (apart.statements.empty()) return whole;
  auto found = cut(apart.diagram, hardware, goal, searched);
  if (found.plan.kernels.size() < found.kernels.size()) return whole;
  found.swept = apart.statements;
  return found;
}

FoundPlan plan_of(const Diagram& diagram, const Hardware& hardware, const Goal& goal, Searched& searched) {
  searched.begin_plan();
  auto found = cut(diagram, hardware, goal, searched);
  if (found.plan.kernels.size() < found.kernels.size() && goal.fixed.splits.empty())
    found = with_sweeps_apart(std::move(found), hardware, goal, searched);
  return divided(std::move(found), hardware, goal, searched);
}

// Bounds what a better plan could save by what a plan of any form transfers, if that is closer than the bound of the
// search, or if the search compared several forms and has none.
void bound_by_transfers(FoundPlan& found, const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  const auto value = worth(found, goal), least = least_worth(diagram, hardware, goal);
  if (!found.optimal && value < HUGE_VAL && least > 0)
    found.gap = std::min(found.gap.value_or(1), std::max(0.0, 1 - least / value));
}

}  // namespace

FoundPlan search(const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  Searched searched;
  const auto plan = [&](const Diagram& form, const Goal& of) { return plan_of(form, hardware, of, searched); };
  const auto on_units = [&](const Diagram& form, const Goal& of) {
    return in_parts_or_on_lanes(form, hardware, of, plan);
  };
  const auto divide = [&](FoundPlan found, const Goal& of) {
    return divided(std::move(found), hardware, of, searched);
  };
  const auto in_chunks = [&](const Diagram& form, const Goal& of) { return chunked(form, of, plan, on_units, divide); };
  auto found = ordered(diagram, goal, in_chunks);
  found.ordered.in_parts = found.diagram.in_parts;
  bound_by_transfers(found, diagram, hardware, goal);
  for (const auto& kernel : found.plan.kernels) assume_sizes(found.diagram, kernel);
  return found;
}

}  // namespace napkin
