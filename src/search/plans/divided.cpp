// Divides a streamed wire whose states merge into parts, which get blocks of their own. The result is two kernels, the
// second of which merges. It is kept if the two together are faster.
#include "search/plans/divided.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "derive/streams/divide.hpp"
#include "diagram/checked.hpp"
#include "search/kernels.hpp"
#include "search/plans/half.hpp"
#include "search/plans/parting.hpp"

namespace napkin {
namespace {

constexpr std::int64_t trial_budget = 50'000;    // partitions of each half, at first
constexpr std::int64_t more_budget = 200'000;    // of each half that was given up without a result
constexpr std::int64_t more_of_all = 500'000;    // of all of them
constexpr double near_best = 1.25;               // any trial within this factor of the best may be best
constexpr std::int64_t most_of_all = 1'000'000;  // of all halves of a plan, and once more of those of its parts

// The number of partitions that each search may evaluate, and the number left for all searches.
struct Allowed {
  std::int64_t each;
  std::int64_t& left;
};

struct PartCount {
  WireId wire;
  std::int64_t number;
  double least_s = 0;  // known lower bound for the two kernels
};

// One kernel of the plan, divided.
struct Trial : PartCount {
  Divided divided;
  Found partial, merging;
  double left_s = 0;  // lower bound if a search of the two was given up
  bool finished() const { return partial.optimal && merging.optimal; }
  double seconds() const { return *partial.best[0].cost.time_s + *merging.best[0].cost.time_s; }
};

// The result of a search, which may have found nothing fast enough and may have been given up.
template <class T>
struct Outcome {
  std::optional<T> found{};
  std::optional<double> left_s{};  // lower bound if the search was given up
};

// Kernels begin .. end - 1 of the plan, and the derivation of their statements as one kernel.
struct Run {
  std::size_t begin = 0, end = 0;
  Derivation fused{};
  std::size_t kernels() const { return end - begin; }
  bool has(std::size_t k) const { return begin <= k && k < end; }
};

// The plan is not optimal if divisions that were given up might save a noticeable time.
void leave_open(FoundPlan& plan, double open_s) {
  constexpr double noticeable = 0.005;
  const double all = plan.cost.time_s.value_or(0);
  if (open_s <= noticeable * all && plan.optimal) return;
  plan.gap = std::min(1.0, std::max(plan.gap.value_or(0), open_s / all));
  plan.optimal = false;
}

class Division {
 public:
  // `left` partitions may be looked at.
  Division(FoundPlan& found, const Hardware& hardware, const Goal& goal, Searched& searched, std::int64_t& left)
      : found_(found),
        hardware_(hardware),
        goal_(goal),
        searched_(searched),
        left_(left),
        core_(hardware.core.value_or(1)) {}

  void run() {
    const bool judged = found_.optimal || found_.gap;
    while (divide_once()) {
    }
    if (judged) leave_open(found_, open_s_);
  }

 private:
  const Candidate& candidate(std::size_t k) const { return found_.kernels[k].best.front(); }
  const Derivation& derivation(std::size_t k) const { return *candidate(k).kernel.derivation; }
  std::int64_t blocks(std::size_t k) const { return candidate(k).cost.levels.at(core_ - 1).groups; }
  double seconds(const Run& run) const {
    double all = 0;
    for (auto k = run.begin; k < run.end; ++k) all += candidate(k).cost.time_s.value_or(0);
    return all;
  }

  // Applies the division that saves most, of one kernel or of fused neighbours. Returns false if no division saves
  // time.
  bool divide_once() {
    constexpr std::size_t most_fused = 3;
    Outcome<Trial> best;
    Run where;
    double open_s = 0;
    for (std::size_t begin = 0; begin < found_.kernels.size(); ++begin)
      for (auto end = begin + 1; end <= std::min(begin + most_fused, found_.kernels.size()); ++end) {
        if (!may_be_divided(begin, end)) continue;
        Run run{begin, end};
        run.fused = derive(found_.diagram, statements(run));
        auto trial = best_trial(run, seconds(run) - (best.found ? seconds(where) - best.found->seconds() : 0));
        open_s = std::max(open_s, seconds(run) - trial.left_s.value_or(seconds(run)));
        if (trial.found) best = std::move(trial), where = std::move(run);
      }
    if (!best.found) return open_s_ = std::max(open_s_, open_s), false;
    if (best.left_s) open_s_ = std::max(open_s_, best.found->seconds() - *best.left_s);
    take(where, std::move(*best.found));
    return true;
  }
  // True if none of the kernels results from a division, and no other kernel computes one of their statements.
  bool may_be_divided(std::size_t begin, std::size_t end) const {
    for (auto k = begin; k < end; ++k)
      if (!candidate(k).cost.time_s || is_divided(k)) return false;
    return !shares_statements({begin, end});
  }
  // Returns the number of positions of the wires that groups can divide without recomputing anything.
  double groups_at_most(const Run& run) const {
    double all = 1;
    for (const auto& verdict : run.fused.verdicts)
      if (verdict.is_woven() && verdict.groupable()->recomputed.empty())
        all *= static_cast<double>(found_.diagram.size(verdict.wire).value_or(1));
    return all;
  }
  bool is_divided(std::size_t k) const {
    return std::ranges::any_of(found_.divisions, [&](const AxisDivision& one) { return one.has(k); });
  }
  bool shares_statements(const Run& run) const {
    const auto mine = statements(run);
    for (std::size_t other = 0; other < found_.kernels.size(); ++other) {
      if (run.has(other)) continue;
      for (const auto statement : derivation(other).statements)
        if (std::ranges::binary_search(mine, statement)) return true;
    }
    return false;
  }
  std::vector<StatementId> statements(const Run& run) const {
    std::vector<StatementId> all;
    for (auto k = run.begin; k < run.end; ++k)
      all.insert(all.end(), derivation(k).statements.begin(), derivation(k).statements.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  std::vector<std::string> names(const Run& run) const {
    std::vector<std::string> all;
    for (const auto statement : statements(run))
      all.push_back(found_.diagram.at(found_.diagram.at(statement).output).name);
    return all;
  }
  std::int64_t least_blocks(const Run& run) const {
    auto least = blocks(run.begin);
    for (auto k = run.begin; k < run.end; ++k) least = std::min(least, blocks(k));
    return least;
  }

  // Returns the numbers of equal parts to try, up to a few per core, each at least 1.5 times the one before.
  std::vector<std::int64_t> numbers_of_parts(std::int64_t extent) const {
    std::vector<std::int64_t> all;
    const auto most = std::min(extent, 4 * hardware_.total(core_));
    for (std::int64_t parts = 2; parts <= most; ++parts)
      if (extent % parts == 0 && (all.empty() || 3 * all.back() <= 2 * parts)) all.push_back(parts);
    return all;
  }

  // Returns the best trial that takes less than `seconds`. Every number of parts is first tried with little patience.
  // Those that then come close to the best, and those without a result, are searched with more.
  Outcome<Trial> best_trial(const Run& run, double seconds) {
    Trials all{{}, seconds};
    halves_.clear();
    const auto open = attempt_all(run.fused, all_parts(run), {patient(trial_budget, goal_), left_}, all);
    std::ranges::stable_sort(all.trials, {}, &Trial::seconds);
    for (std::size_t i = 0; i < std::min<std::size_t>(4, all.trials.size()); ++i) {
      auto& trial = all.trials[i];
      if (trial.finished() || trial.seconds() > all.best_s * near_best) continue;
      auto again = attempt(run.fused, trial, std::min(trial.seconds(), all.best_s) * (1 + 1e-9),
                           {patient(patience, goal_), left_});
      if (again.found) trial = std::move(*again.found), all.best_s = std::min(all.best_s, trial.seconds());
      if (!again.found) trial.left_s = again.left_s.value_or(trial.seconds());
    }
    attempt_all(run.fused, open, {patient(more_budget, goal_), more_left_}, all);
    return best_of(std::move(all));
  }
  struct Trials {
    std::vector<Trial> trials;
    double most_s;  // slower trials are of no use
    double best_s = most_s;
    std::optional<double> left_s{};  // lower bound of those that were given up
    void leave(std::optional<double> least_s) {
      if (least_s) left_s = std::min(left_s.value_or(*least_s), *least_s);
    }
  };
  // Adds the trials that are fast enough. Returns those that were given up, with lower bounds of their times.
  std::vector<PartCount> attempt_all(const Derivation& fused, const std::vector<PartCount>& all, Allowed allowed,
                                     Trials& to) {
    std::vector<PartCount> open;
    to.left_s.reset();
    for (const auto& parts : all) {
      auto trial = attempt(fused, parts, std::min(to.most_s, to.best_s * near_best), allowed);
      if (trial.left_s) trial.left_s = std::max(*trial.left_s, parts.least_s);
      to.leave(trial.left_s);
      if (!trial.found && trial.left_s) open.push_back({parts.wire, parts.number, *trial.left_s});
      if (!trial.found) continue;
      to.best_s = std::min(to.best_s, trial.found->seconds());
      to.trials.push_back(std::move(*trial.found));
    }
    return open;
  }
  static Outcome<Trial> best_of(Trials all) {
    for (const auto& trial : all.trials)
      if (!trial.finished()) all.leave(trial.left_s);
    Outcome<Trial> best;
    const auto found = std::ranges::min_element(all.trials, {}, &Trial::seconds);
    if (found != all.trials.end()) best.found = std::move(*found);
    if (all.left_s && *all.left_s < all.best_s) best.left_s = all.left_s;
    return best;
  }
  std::vector<PartCount> all_parts(const Run& run) const {
    std::vector<PartCount> all;
    for (const auto& verdict : run.fused.verdicts) {
      const auto extent = found_.diagram.size(verdict.wire);
      if (!extent || !verdict.is_merged() || goal_.stop.stop_requested()) continue;
      for (const auto number : numbers_of_parts(*extent)) all.push_back({verdict.wire, number});
    }
    return all;
  }
  // Stops a search as soon as it cannot find anything faster.
  Outcome<Trial> attempt(const Derivation& fused, const PartCount& parts, double seconds, Allowed allowed) {
    if (goal_.stop.stop_requested()) return {};
    auto& made = halves(fused, parts);
    if (!made) return {};
    auto& [divided, partial, merging] = *made;
    if (allowed.left <= 0) return {{}, partial.least_s + merging.least_s};
    auto first = search_half(partial, divided.diagram, seconds - merging.least_s, allowed);
    const auto least_s = first.left_s.value_or(first.found ? time(*first.found) : 0);
    if (!first.found) return {{}, first.left_s ? std::optional(least_s + merging.least_s) : std::nullopt};
    auto second = search_half(merging, divided.diagram, seconds - time(*first.found), allowed);
    const auto all_s = least_s + second.left_s.value_or(second.found ? time(*second.found) : 0);
    if (!second.found) return {{}, second.left_s ? std::optional(all_s) : std::nullopt};
    Trial trial{{parts.wire, parts.number}, divided, std::move(*first.found), std::move(*second.found), all_s};
    if (trial.seconds() < seconds) return {std::move(trial)};
    return {{}, trial.finished() ? std::nullopt : std::optional(all_s)};
  }
  // Returns the two kernels of a division, which are made once for all searches of them.
  std::optional<Halves>& halves(const Derivation& fused, const PartCount& parts) {
    const auto [known, fresh] = halves_.try_emplace({parts.wire, parts.number});
    if (fresh) known->second = napkin::halves(found_.diagram, fused, parts.wire, parts.number, hardware_, goal_);
    return known->second;
  }
  // Finds nothing if the half takes longer than `most_s`.
  Outcome<Found> search_half(Half& half, const Diagram& diagram, double most_s, Allowed allowed) {
    constexpr double rounding = 1 + 1e-9;
    if (half.least_s > most_s * rounding) return {};
    derive_half(half, diagram, hardware_);
    const auto ranking = rank_half(half, most_s * rounding, std::min(allowed.each, allowed.left));
    found_.evaluated += ranking.statistics.evaluated, allowed.left -= ranking.statistics.evaluated;
    Outcome<Found> made;
    if (!ranking.statistics.finished) made.left_s = std::max(half.least_s, ranking.statistics.left.parts[0]);
    const auto& best = ranking.incumbents.best();
    if (best.empty() || best.front().score.parts[0] > most_s * rounding) return made;
    auto found = napkin::found(space(half, hardware_, goal_), goal_, ranking);
    if (found.best[0].cost.time_s) made.found = std::move(found);
    return made;
  }
  Ranking rank_half(Half& half, double most_s, std::int64_t budget) {
    const Price most{most_s, Price::never().transfers};
    if (auto before = searched_.find(half.alike, budget, most))
      return before->statistics.evaluated = 0, std::move(*before);
    const auto& space = napkin::space(half, hardware_, goal_);
    Incumbents incumbents(1, space.first);
    incumbents.limit(Score::at_most(most.objective, most.transfers));
    auto ranking = rank(space, goal_, std::move(incumbents), false, budget);
    searched_.keep(half.alike, ranking, budget, most);
    return ranking;
  }
  static double time(const Found& found) { return *found.best[0].cost.time_s; }
  // Searches both kernels again if several best partitions are requested.
  void complete(Trial& trial) const {
    if (goal_.top < 2) return;
    const auto all = [&](const std::vector<StatementId>& statements) {
      return search(std::make_shared<const Derivation>(derive(trial.divided.diagram, statements)), hardware_, goal_);
    };
    trial.partial = all(trial.divided.parts), trial.merging = all(trial.divided.merging);
  }

  // Replaces the run by the two kernels. The other kernels become kernels of the new diagram.
  void take(const Run& run, Trial trial) {
    complete(trial);
    const auto shifted = [&](std::size_t k) { return k < run.end ? k : k + 2 - run.kernels(); };
    for (auto& division : found_.divisions) division.kernel = shifted(division.kernel);
    found_.divisions.push_back({.kernel = run.begin,
                                .axis = found_.diagram.at(trial.wire).name,
                                .parts = trial.number,
                                .blocks_divided = trial.partial.best[0].cost.levels.at(core_ - 1).groups,
                                .blocks = least_blocks(run),
                                .cores = hardware_.total(core_),
                                .groups = groups_at_most(run),
                                .time_undivided_s = seconds(run),
                                .time_s = trial.seconds(),
                                .statements = names(run),
                                .wire = trial.wire,
                                .part = trial.divided.part,
                                .inside = trial.divided.inside});
    found_.optimal = found_.optimal && trial.partial.optimal && trial.merging.optimal;
    found_.candidates =
        saturating_add(found_.candidates, saturating_add(trial.partial.candidates, trial.merging.candidates));
    settle_saved(run, trial);
    for (auto& saved : found_.saved) saved.kernel = shifted(saved.kernel);
    for (std::size_t other = 0; other < found_.kernels.size(); ++other)
      if (!run.has(other)) move(found_.kernels[other], trial.divided.diagram);
    found_.diagram = std::move(trial.divided.diagram);
    const auto at = found_.kernels.begin() + static_cast<std::ptrdiff_t>(run.begin);
    const auto after = found_.kernels.erase(at, found_.kernels.begin() + static_cast<std::ptrdiff_t>(run.end));
    found_.kernels.insert(found_.kernels.insert(after, std::move(trial.merging)), std::move(trial.partial));
    take_best(found_);
  }
  // Fusion now saves the bytes that the two kernels of the division do not move. Entries of kernels that were fused
  // only for the division are removed.
  void settle_saved(const Run& run, const Trial& trial) {
    if (run.kernels() > 1) std::erase_if(found_.saved, [&](const Saved& s) { return run.has(s.kernel); });
    const auto moved = [](const Found& found) { return found.best[0].cost.levels.at(0).transfer_bytes; };
    for (auto& saved : found_.saved)
      if (run.has(saved.kernel))
        saved.time_s = trial.seconds(), saved.bytes = moved(trial.partial) + moved(trial.merging);
  }
  void move(Found& found, const Diagram& diagram) const {
    for (auto& candidate : found.best) {
      auto& kernel = candidate.kernel;
      std::vector<StatementId> statements;
      for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        for (const auto old : kernel.derivation->statements)
          if (found_.diagram.at(old).output == diagram.statements[i].output) statements.push_back({i});
      auto derivation = std::make_shared<const Derivation>(derive(diagram, statements, kernel.derivation->outputs));
      kernel = make_kernel(std::move(derivation), kernel.partition);
    }
  }

  FoundPlan& found_;
  const Hardware& hardware_;
  const Goal& goal_;
  Searched& searched_;
  std::int64_t& left_;
  std::int64_t more_left_ = patient(more_of_all, goal_);
  std::size_t core_;
  std::map<std::pair<WireId, std::int64_t>, std::optional<Halves>>
      halves_{};       // of one run, by wire and number of parts
  double open_s_ = 0;  // what divisions that were given up could save at most
};

// A division may save time for a part of a kernel only, so that each kernel is cut in two at every statement and the
// resulting plan is divided again.
FoundPlan parted(const FoundPlan& whole, FoundPlan best, const Hardware& hardware, const Goal& goal,
                 Searched& searched) {
  const Parting parting(whole, hardware, goal, searched);
  auto left = patient(most_of_all, goal);
  double least_s = *best.cost.time_s;
  for (std::size_t kernel = 0; kernel < whole.kernels.size(); ++kernel) {
    const auto statements = whole.kernels[kernel].best.front().kernel.derivation->statements.size();
    for (std::size_t at = 1; at < statements && left > 0 && parting.is_alone(kernel); ++at) {
      auto made = parting.part(kernel, at, *best.cost.time_s);
      if (!made) continue;
      Division(*made, hardware, goal, searched, left).run();
      best.evaluated += made->evaluated - whole.evaluated;
      if (!made->optimal) least_s = std::min(least_s, *made->cost.time_s * (1 - made->gap.value_or(0)));
      if (!made->divisions.empty() && *made->cost.time_s < *best.cost.time_s) best = std::move(*made);
    }
  }
  if (best.optimal || best.gap) leave_open(best, *best.cost.time_s - least_s);
  return best;
}

}  // namespace

FoundPlan divided(FoundPlan found, const Hardware& hardware, const Goal& goal, Searched& searched) {
  constexpr std::size_t most_statements = 16;  // beyond, cuts are not searched to the end either
  const bool complete =
      found.plan.kernels.size() == found.kernels.size() && found.diagram.statements.size() <= most_statements;
  if (goal.divide && goal.objective == Objective::time && goal.model == Model::machine && goal.fixed.splits.empty() &&
      complete) {
    const auto whole = found;
    auto left = patient(most_of_all, goal);
    Division(found, hardware, goal, searched, left).run();
    if (found.cost.time_s && !goal.stop.stop_requested())
      return parted(whole, std::move(found), hardware, goal, searched);
  }
  return found;
}

}  // namespace napkin
