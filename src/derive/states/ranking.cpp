// Finds conditions on the rank of a position and writes the reductions that contain them; see ranking.hpp.
#include "derive/states/ranking.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "derive/algebra/choices.hpp"
#include "derive/states/carried.hpp"
#include "derive/states/notes.hpp"
#include "diagram/operands.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

// ---- conditions ----

// The state that a finished expression copies. A cast is ignored if the values already have its type.
std::optional<ArrayId> level_read(StreamAttempt& attempt, ExprId level, ExprId value) {
  const auto& scratch = attempt.scratch;
  const Sum sum = normal(attempt.algebra, level);
  if (sum.size() != 1 || sum[0].factors.empty() || !equal(sum, as_factor(sum[0].factors[0].first))) return {};
  ExprId alone = sum[0].factors[0].first;
  const auto* cast = std::get_if<Cast>(&scratch.at(alone).node);
  const auto* read = std::get_if<Access>(&scratch.at(value).node);
  if (cast && read && scratch.at(read->array).type == cast->type) alone = cast->value;
  const auto* access = std::get_if<Access>(&scratch.at(alone).node);
  return access && attempt.kinds.whole(*access) ? std::optional(access->array) : std::nullopt;
}

// The chain of the expression `by` that has the array among its levels, and the number of the level. The first level is
// a carried extreme, for which the chain is made.
std::optional<std::pair<std::size_t, std::size_t>> level_of(States& found, ArrayId array, ExprId by) {
  for (std::size_t i = 0; i < found.chains.size(); ++i) {
    const auto& levels = found.chains[i].levels;
    const auto at = std::ranges::find(levels, array);
    if (at != levels.end() && found.chains[i].by == by)
      return std::pair(i, static_cast<std::size_t>(at - levels.begin()));
  }
  for (const auto& state : found.all) {
    const bool plain = opposite(*state.reduction) && !state.reference && !state.moment && !state.ranked;
    if (state.array != array || !plain || !equal(state.body, as_factor(by))) continue;
    found.chains.push_back({state.reduction, by, state.over, {state.array}});
    return std::pair(found.chains.size() - 1, std::size_t{0});
  }
  return {};
}

std::map<ExprId, RankCondition> rank_conditions(StreamAttempt& attempt, ExprId value) {
  std::map<ExprId, RankCondition> all;
  const auto collect = [&](ExprId e) {
    if (const auto found = rank_condition(attempt, e)) all.emplace(e, *found);
    return false;
  };
  any_part(attempt.scratch, value, collect);
  return all;
}

// ---- folds ----

// A fold whose body depends on the ranks of one chain: the value of the body at each rank, and below all.
struct ByRank {
  const Column& column;
  const std::vector<WireId>& over;
  ExprId value;
  std::size_t chain;
  std::vector<ExprId> values{};
  bool first_of_ties = true, last_of_ties = true;  // which of several equal levels counts
  std::size_t depth() const { return values.size() - 1; }
};

ByRank by_rank(StreamAttempt& attempt, const Column& column, ExprId value, const std::vector<WireId>& over,
               const std::map<ExprId, RankCondition>& conditions) {
  ByRank all{column, over, value, conditions.begin()->second.chain};
  std::size_t depth = 0;
  for (const auto& [e, condition] : conditions) depth = std::max(depth, condition.level + 1);
  const auto at = [&](std::size_t rank, const auto& holds) {
    std::map<ExprId, bool> answers;
    for (const auto& [e, condition] : conditions) answers[e] = holds(attempt.found.chains[all.chain], condition, rank);
    return decided(attempt.scratch, value, answers);
  };
  for (std::size_t rank = 0; rank <= depth; ++rank) all.values.push_back(at(rank, holds_at));
  for (std::size_t rank = 0; rank + 1 < depth; ++rank) {
    const ExprId tied = at(rank, holds_at_ties);
    all.first_of_ties = all.first_of_ties && tied == all.values[rank];
    all.last_of_ties = all.last_of_ties && tied == all.values[depth - 1];
  }
  return all;
}

bool is_identity(StreamAttempt& attempt, const Column& column, ExprId value) {
  const auto* constant = std::get_if<Constant>(&attempt.scratch.at(value).node);
  if (constant) return constant->value == column.fold->identity;
  return column.fold->combine->role == Role::add && normal(attempt.algebra, value).empty();
}

// If the fold takes the greatest of all values below the levels, the result is the next level.
std::optional<ExprId> next_level(StreamAttempt& attempt, const ByRank& by) {
  auto& scratch = attempt.scratch;
  const bool below = std::all_of(by.values.begin(), by.values.end() - 1,
                                 [&](ExprId value) { return is_identity(attempt, by.column, value); });
  auto& chain = attempt.found.chains[by.chain];
  if (!below || by.values.back() != chain.by || by.column.fold != chain.fold || by.over != chain.over) return {};
  if (by.depth() == chain.levels.size()) {
    const Array first = scratch.at(chain.levels[0]);
    const auto array = new_array(scratch, std::string(chain.fold->state_name), first.type, first.wires, first.span);
    add_state(attempt, {array, chain.fold, by.over, as_factor(chain.by), {}, false, {}, true});
    chain.levels.push_back(array);
  }
  return read_whole(scratch, chain.levels[by.depth()]);
}

// All ranks up to this one need arrays, because values of an earlier rank may fall to this one.
ArrayId array_of_rank(StreamAttempt& attempt, const ByRank& by, std::size_t rank) {
  auto& ranked = attempt.found.ranked;
  const RankedFold fold{by.chain, by.depth(), by.column.fold, by.over, by.values[rank], {}};
  auto same = std::ranges::find_if(ranked, [&](const RankedFold& other) {
    return other.chain == fold.chain && other.depth == fold.depth && other.fold == fold.fold &&
           other.over == fold.over && other.value == fold.value;
  });
  if (same == ranked.end()) same = ranked.insert(same, fold);
  while (same->arrays.size() <= rank) {
    const auto array = state_array(attempt, by.column, as_factor(by.value), same->over, true);
    if (is_positive(attempt.algebra, same->value)) attempt.positive.insert(array);
    add_state(attempt, {array, same->fold, same->over, as_factor(same->value), {}, false, {}, true});
    same->arrays.push_back(array);
  }
  return same->arrays[rank];
}

Sum ranks_joined(StreamAttempt& attempt, const ByRank& by) {
  auto& scratch = attempt.scratch;
  const auto& fold = *by.column.fold;
  const auto level = [&](std::size_t rank) { return read_whole(scratch, attempt.found.chains[by.chain].levels[rank]); };
  const ExprId identity = scratch.intern(Constant{fold.identity});
  std::optional<ExprId> all;
  for (std::size_t rank = 0; rank <= by.depth(); ++rank) {
    if (is_identity(attempt, by.column, by.values[rank])) continue;
    ExprId part = read_whole(scratch, array_of_rank(attempt, by, rank));
    // Equal levels are one level, whose positions count only once.
    const bool ties = by.depth() > 1 && rank < by.depth() && (by.first_of_ties ? rank > 0 : rank + 1 < by.depth());
    if (ties) {
      const ExprId tied = applied(scratch, "==", {level(rank), level(by.first_of_ties ? rank - 1 : rank + 1)});
      part = applied(scratch, "where", {tied, identity, part});
    }
    all = all ? applied(scratch, fold.combine->name, {*all, part}) : part;
  }
  return as_factor(all.value_or(identity));
}

}  // namespace

std::optional<RankCondition> rank_condition(StreamAttempt& attempt, ExprId e) {
  const auto& algebra = attempt.algebra;
  const auto* compare = std::get_if<Apply>(&attempt.scratch.at(e).node);
  if (!compare || compare->function->role != Role::compare) return {};
  const auto* function = compare->function;
  const auto left = compare->arguments[0], right = compare->arguments[1];
  const auto of_left = dependence(algebra, left), of_right = dependence(algebra, right);
  if (of_left.mixed() || of_right.mixed() || of_left.state == of_right.state) return {};
  const ExprId level = of_left.state ? left : right, value = of_left.state ? right : left;
  const auto array = level_read(attempt, level, value);
  const auto at = array ? level_of(attempt.found, *array, value) : std::nullopt;
  return at ? std::optional(RankCondition{at->first, at->second, function, of_left.state}) : std::nullopt;
}

bool has_ranks(StreamAttempt& attempt, ExprId e) { return !rank_conditions(attempt, e).empty(); }

Sum ranked(StreamAttempt& attempt, const Column& column, ExprId value, const std::vector<WireId>& over) {
  const auto conditions = rank_conditions(attempt, value);
  const auto of_first = [&](const auto& each) { return each.second.chain == conditions.begin()->second.chain; };
  const bool alone = std::ranges::all_of(conditions, of_first) && within(over, waiting_below(attempt, value)).empty();
  if (!alone) return refuse_mixing(attempt, value), Sum{};
  const auto by = by_rank(attempt, column, value, over, conditions);
  const auto level = next_level(attempt, by);
  if (!level && !by.first_of_ties && !by.last_of_ties) return refuse_mixing(attempt, value), Sum{};
  const Sum all = level ? as_factor(*level) : ranks_joined(attempt, by);
  attempt.found.rules.insert(Rule::cascade);
  note_step(attempt, Rule::cascade, column, as_factor(value), all,
            "it is carried for each rank, and moves with its value when a new one is inserted");
  return all;
}

}  // namespace napkin
