// Where the grouped wires of a kernel give fewer blocks than there are cores, a streamed wire whose states merge is
// divided into parts, a block each: two kernels, the second of which merges. Kept where the two together are faster.
#include "search/divided.hpp"

#include <algorithm>

#include "derive/divide.hpp"

namespace napkin {
namespace {

// One kernel of the plan, divided.
struct Trial {
  WireId wire;
  std::int64_t parts;
  Divided divided;
  Found partial, merging;
  double seconds() const { return *partial.best[0].cost.time_s + *merging.best[0].cost.time_s; }
};

// Kernels begin .. end - 1 of the plan.
struct Run {
  std::size_t begin = 0, end = 0;
};

class Division {
 public:
  Division(FoundPlan& found, const Hardware& hardware, const Goal& goal)
      : found_(found), hardware_(hardware), goal_(goal), core_(hardware.core.value_or(1)) {}

  void run() {
    while (divide_once()) {
    }
  }

 private:
  const Candidate& candidate(std::size_t k) const { return found_.kernels[k].best.front(); }
  const Derivation& derivation(std::size_t k) const { return *candidate(k).kernel.derivation; }
  std::int64_t blocks(std::size_t k) const { return candidate(k).cost.levels.at(core_ - 1).groups; }
  double seconds(Run run) const {
    double all = 0;
    for (auto k = run.begin; k < run.end; ++k) all += candidate(k).cost.time_s.value_or(0);
    return all;
  }

  // The division that saves most, of one kernel or of neighbours fused for it.
  bool divide_once() {
    constexpr std::size_t most_fused = 3;
    std::optional<Trial> best;
    Run where;
    for (std::size_t begin = 0; begin < found_.kernels.size(); ++begin)
      for (auto end = begin + 1; end <= std::min(begin + most_fused, found_.kernels.size()); ++end) {
        if (!is_worth_trying({begin, end})) continue;
        auto trial = best_trial({begin, end});
        if (!trial) continue;
        const double saves = seconds({begin, end}) - trial->seconds();
        if (saves > (best ? seconds(where) - best->seconds() : 0)) best = std::move(trial), where = {begin, end};
      }
    if (best) take(where, std::move(*best));
    return best.has_value();
  }
  // A kernel that leaves a quarter of the cores idle, or kernels that would, fused, for want of axes to group. None is
  // the work of a division, and no statement is computed anywhere else as well.
  bool is_worth_trying(Run run) const {
    for (auto k = run.begin; k < run.end; ++k)
      if (found_.kernels[k].best.empty() || !candidate(k).cost.time_s || is_divided(k)) return false;
    const bool idle = run.end - run.begin == 1 && 4 * blocks(run.begin) < 3 * hardware_.total(core_);
    return (idle || groups_at_most(run) < static_cast<double>(hardware_.total(core_))) && !shares_statements(run);
  }
  // Positions of the wires that groups share out without computing anything twice.
  double groups_at_most(Run run) const {
    double all = 1;
    for (const auto& verdict : derive(found_.diagram, statements(run)).verdicts)
      if (const auto* group = std::get_if<Groupable>(&verdict.group);
          group && !group->by_merge && group->recomputed.empty())
        all *= static_cast<double>(found_.diagram.size(verdict.wire).value_or(1));
    return all;
  }
  bool is_divided(std::size_t k) const {
    return std::ranges::any_of(found_.divisions,
                               [&](const AxisDivision& one) { return one.kernel == k || one.kernel + 1 == k; });
  }
  bool shares_statements(Run run) const {
    const auto mine = statements(run);
    for (std::size_t other = 0; other < found_.kernels.size(); ++other) {
      if ((run.begin <= other && other < run.end) || found_.kernels[other].best.empty()) continue;
      for (const auto statement : derivation(other).statements)
        if (std::ranges::binary_search(mine, statement)) return true;
    }
    return false;
  }
  std::vector<StatementId> statements(Run run) const {
    std::vector<StatementId> all;
    for (auto k = run.begin; k < run.end; ++k)
      all.insert(all.end(), derivation(k).statements.begin(), derivation(k).statements.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  std::int64_t least_blocks(Run run) const {
    auto least = blocks(run.begin);
    for (auto k = run.begin; k < run.end; ++k) least = std::min(least, blocks(k));
    return least;
  }

  // Of equal parts, up to a few for each core, about one number in every octave.
  std::vector<std::int64_t> numbers_of_parts(std::int64_t extent) const {
    std::vector<std::int64_t> all;
    const auto most = std::min(extent, 4 * hardware_.total(core_));
    for (std::int64_t parts = 2; parts <= most; ++parts)
      if (extent % parts == 0 && (all.empty() || 3 * all.back() <= 2 * parts)) all.push_back(parts);
    return all;
  }

  std::optional<Trial> best_trial(Run run) {
    std::optional<Trial> best;
    const auto fused = derive(found_.diagram, statements(run));
    for (const auto& verdict : fused.verdicts) {
      const auto extent = found_.diagram.size(verdict.wire);
      const auto* group = std::get_if<Groupable>(&verdict.group);
      if (!extent || !group || !group->by_merge) continue;
      for (const auto parts : numbers_of_parts(*extent)) {
        auto trial = attempt(fused, verdict.wire, parts);
        if (trial && trial->seconds() < (best ? best->seconds() : seconds(run))) best = std::move(trial);
      }
    }
    return best;
  }
  std::optional<Trial> attempt(const Derivation& fused, WireId wire, std::int64_t parts) {
    auto made = divide(found_.diagram, fused, wire, parts);
    if (!made) return std::nullopt;
    Trial trial{wire, parts, std::move(*made), {}, {}};
    trial.partial = search_half(trial.divided.diagram, trial.divided.parts);
    trial.merging = search_half(trial.divided.diagram, trial.divided.merging);
    const auto timed = [](const Found& found) { return !found.best.empty() && found.best[0].cost.time_s; };
    return timed(trial.partial) && timed(trial.merging) ? std::optional(std::move(trial)) : std::nullopt;
  }
  Found search_half(const Diagram& diagram, const std::vector<StatementId>& statements) {
    auto found = search(std::make_shared<const Derivation>(derive(diagram, statements)), hardware_, goal_);
    found_.evaluated += found.evaluated;
    found_.optimal = found_.optimal && found.optimal;
    return found;
  }

  // The two kernels in place of the run; the others become those of the new diagram.
  void take(Run run, Trial trial) {
    const auto added = static_cast<std::ptrdiff_t>(2) - static_cast<std::ptrdiff_t>(run.end - run.begin);
    const auto shifted = [&](std::size_t k) { return k < run.end ? k : k + static_cast<std::size_t>(added); };
    for (auto& division : found_.divisions) division.kernel = shifted(division.kernel);
    found_.divisions.push_back({.kernel = run.begin,
                                .axis = found_.diagram.at(trial.wire).name,
                                .parts = trial.parts,
                                .blocks_divided = trial.partial.best[0].cost.levels.at(core_ - 1).groups,
                                .blocks = least_blocks(run),
                                .cores = hardware_.total(core_),
                                .groups = groups_at_most(run),
                                .time_undivided_s = seconds(run),
                                .time_s = trial.seconds()});
    settle_saved(run, trial);
    for (auto& saved : found_.saved) saved.kernel = shifted(saved.kernel);
    for (std::size_t other = 0; other < found_.kernels.size(); ++other)
      if (other < run.begin || other >= run.end) move(found_.kernels[other], trial.divided.diagram);
    found_.diagram = std::move(trial.divided.diagram);
    const auto at = found_.kernels.begin() + static_cast<std::ptrdiff_t>(run.begin);
    const auto after = found_.kernels.erase(at, found_.kernels.begin() + static_cast<std::ptrdiff_t>(run.end));
    found_.kernels.insert(found_.kernels.insert(after, std::move(trial.merging)), std::move(trial.partial));
    found_.plan.kernels.clear();
    for (const auto& found : found_.kernels) found_.plan.kernels.push_back(found.best.front().kernel);
    found_.cost = estimate(found_.plan, hardware_, goal_.model);
  }
  // Fusing saved what the two kernels of the division do not move; of kernels that were fused only now it is not told.
  void settle_saved(Run run, const Trial& trial) {
    if (run.end - run.begin > 1)
      std::erase_if(found_.saved, [&](const Saved& s) { return run.begin <= s.kernel && s.kernel < run.end; });
    const auto moved = [](const Found& found) { return found.best[0].cost.levels.at(0).transfer_bytes; };
    for (auto& saved : found_.saved)
      if (saved.kernel == run.begin && run.end - run.begin == 1)
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
  std::size_t core_;
};

}  // namespace

FoundPlan divided(FoundPlan found, const Hardware& hardware, const Goal& goal) {
  constexpr std::size_t most_statements = 16;  // beyond, cuts are not searched to the end either
  const bool complete =
      found.plan.kernels.size() == found.kernels.size() && found.diagram.statements.size() <= most_statements;
  if (goal.divide && goal.objective == Objective::time && goal.model == Model::machine && goal.fixed.splits.empty() &&
      complete)
    Division(found, hardware, goal).run();
  return found;
}

}  // namespace napkin
