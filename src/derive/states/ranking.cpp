// Finds conditions on the rank of a position and writes the reductions that contain them; see ranks.hpp.
#include <algorithm>

#include "derive/algebra/choices.hpp"
#include "derive/states/analysis.hpp"
#include "diagram/operands.hpp"

namespace napkin {

// Recognizes a comparison of the expression whose extreme is carried with that extreme or with a later level of its
// chain.
std::optional<RankCondition> StateAnalysis::rank_condition(ExprId e) {
  const auto* compare = std::get_if<Apply>(&scratch_.at(e).node);
  if (!compare || compare->function->role != Role::compare) return {};
  const auto left = compare->arguments[0], right = compare->arguments[1];
  const auto of_left = algebra_.dependence(left), of_right = algebra_.dependence(right);
  if (of_left.mixed() || of_right.mixed() || of_left.state == of_right.state) return {};
  const ExprId level = of_left.state ? left : right, value = of_left.state ? right : left;
  const auto array = level_read(level, value);
  if (!array) return {};
  for (std::size_t i = 0; i < found_.chains.size(); ++i) {
    const auto& levels = found_.chains[i].levels;
    const auto at = std::ranges::find(levels, *array);
    if (at != levels.end() && found_.chains[i].by == value)
      return RankCondition{i, static_cast<std::size_t>(at - levels.begin()), compare->function, of_left.state};
  }
  for (const auto& state : found_.all) {
    const bool plain = opposite(*state.reduction) && !state.reference && !state.moment && !state.ranked;
    if (state.array != *array || !plain || !napkin::equal(state.body, as_factor(value))) continue;
    found_.chains.push_back({state.reduction, value, state.over, {state.array}});
    return RankCondition{found_.chains.size() - 1, 0, compare->function, of_left.state};
  }
  return {};
}

// The state that a finished expression copies. A cast is ignored if the values already have its type.
std::optional<ArrayId> StateAnalysis::level_read(ExprId level, ExprId value) {
  Sum sum = algebra_.normal(level);
  const auto factor = [&]() -> std::optional<ExprId> {
    if (sum.size() != 1 || !napkin::equal(sum, as_factor(sum[0].factors.empty() ? level : sum[0].factors[0].first)))
      return {};
    return sum[0].factors[0].first;
  };
  auto alone = factor();
  const auto* cast = alone ? std::get_if<Cast>(&scratch_.at(*alone).node) : nullptr;
  const auto* read = std::get_if<Access>(&scratch_.at(value).node);
  if (cast && read && scratch_.at(read->array).type == cast->type) alone = cast->value;
  const auto* access = alone ? std::get_if<Access>(&scratch_.at(*alone).node) : nullptr;
  return access && kinds_.whole(*access) ? std::optional(access->array) : std::nullopt;
}

std::map<ExprId, RankCondition> StateAnalysis::rank_conditions(ExprId value) {
  std::map<ExprId, RankCondition> all;
  const auto collect = [&](ExprId e) {
    if (const auto found = rank_condition(e)) all.emplace(e, *found);
    return false;
  };
  any_part(scratch_, value, collect);
  return all;
}

// The value at finish of a fold whose body depends on ranks.
Sum StateAnalysis::ranked(const Column& column, ExprId value, const std::vector<WireId>& over) {
  const auto conditions = rank_conditions(value);
  const auto number = conditions.begin()->second.chain;
  std::size_t depth = 0;
  bool alone = within(over, waiting_below(value)).empty();
  for (const auto& [e, condition] : conditions) {
    alone = alone && condition.chain == number;
    depth = std::max(depth, condition.level + 1);
  }
  if (!alone) return refuse_mixing(value), Sum{};
  const auto at = [&](std::size_t rank, const auto& holds) {
    std::map<ExprId, bool> answers;
    for (const auto& [e, condition] : conditions) answers[e] = holds(found_.chains[number], condition, rank);
    return decided(scratch_, value, answers);
  };
  std::vector<ExprId> values;
  bool first_of_ties = true, last_of_ties = true;
  for (std::size_t rank = 0; rank <= depth; ++rank) values.push_back(at(rank, holds_at));
  for (std::size_t rank = 0; rank + 1 < depth; ++rank) {
    const ExprId tied = at(rank, holds_at_ties);
    first_of_ties = first_of_ties && tied == values[rank];
    last_of_ties = last_of_ties && tied == values[depth - 1];
  }
  const auto level = next_level(column, number, values, over);
  if (!level && !first_of_ties && !last_of_ties) return refuse_mixing(value), Sum{};
  const Sum all = level ? as_factor(*level) : ranks_joined(column, number, value, values, over, first_of_ties);
  found_.rules.insert(Rule::cascade);
  step(Rule::cascade, column, as_factor(value), all,
       "it is carried for each rank, and moves with its value when a new one is inserted");
  return all;
}

bool StateAnalysis::is_identity(const Column& column, ExprId value) {
  const auto* constant = std::get_if<Constant>(&scratch_.at(value).node);
  if (constant) return constant->value == column.fold->identity;
  return column.fold->combine->role == Role::add && algebra_.normal(value).empty();
}

// If the fold takes the greatest of all values below the levels, the result is the next level.
std::optional<ExprId> StateAnalysis::next_level(const Column& column, std::size_t number,
                                                const std::vector<ExprId>& values, const std::vector<WireId>& over) {
  auto& chain = found_.chains[number];
  const auto depth = values.size() - 1;
  const bool below = std::all_of(values.begin(), values.end() - 1, [&](ExprId v) { return is_identity(column, v); });
  if (!below || values.back() != chain.by || column.fold != chain.fold || over != chain.over) return {};
  if (depth == chain.levels.size()) {
    const auto& first = scratch_.at(chain.levels[0]);
    const auto array = new_array(scratch_, std::string(chain.fold->state_name), first.type, first.wires, first.span);
    is_state(array);
    found_.all.push_back({array, chain.fold, over, as_factor(chain.by), {}, false, {}, true});
    found_.chains[number].levels.push_back(array);
  }
  return read_whole(scratch_, found_.chains[number].levels[depth]);
}

Sum StateAnalysis::ranks_joined(const Column& column, std::size_t number, ExprId value,
                                const std::vector<ExprId>& values, const std::vector<WireId>& over,
                                bool first_of_ties) {
  const auto depth = values.size() - 1;
  const auto level = [&](std::size_t rank) { return read_whole(scratch_, found_.chains[number].levels[rank]); };
  const ExprId identity = scratch_.intern(Constant{column.fold->identity});
  std::optional<ExprId> all;
  for (std::size_t rank = 0; rank <= depth; ++rank) {
    if (is_identity(column, values[rank])) continue;
    ExprId part =
        read_whole(scratch_, array_of_rank(column, {number, depth, column.fold, over, values[rank], {}}, rank, value));
    // Equal levels are one level, whose positions count only once.
    const bool ties = depth > 1 && rank < depth && (first_of_ties ? rank > 0 : rank + 1 < depth);
    if (ties)
      part = algebra_.apply(
          "where", {algebra_.apply("==", {level(rank), level(first_of_ties ? rank - 1 : rank + 1)}), identity, part});
    all = all ? algebra_.apply(column.fold->combine->name, {*all, part}) : part;
  }
  return all ? as_factor(*all) : as_factor(identity);
}

// All ranks up to this one need arrays, because values of an earlier rank may fall to this one.
ArrayId StateAnalysis::array_of_rank(const Column& column, RankedFold fold, std::size_t rank, ExprId value) {
  auto same = std::ranges::find_if(found_.ranked, [&](const RankedFold& other) {
    return other.chain == fold.chain && other.depth == fold.depth && other.fold == fold.fold &&
           other.over == fold.over && other.value == fold.value;
  });
  if (same == found_.ranked.end()) same = found_.ranked.insert(same, std::move(fold));
  while (same->arrays.size() <= rank) {
    const auto array = state_array(column, as_factor(value), same->over, true);
    is_state(array);
    if (algebra_.positive(same->value)) positive_.insert(array);
    found_.all.push_back({array, same->fold, same->over, as_factor(same->value), {}, false, {}, true});
    same->arrays.push_back(array);
  }
  return same->arrays[rank];
}

}  // namespace napkin
