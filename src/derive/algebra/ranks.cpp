// Writes the updates of levels and of folds by rank; see ranks.hpp.
#include "derive/algebra/ranks.hpp"

namespace napkin {

bool holds_at(const Chain& chain, const RankCondition& condition, std::size_t rank) {
  const double up = chain.fold->identity < 0 ? -1 : 1;  // a later rank is smaller below a maximum
  const double value = up * static_cast<double>(rank), level = up * static_cast<double>(condition.level);
  const double both[] = {condition.level_first ? level : value, condition.level_first ? value : level};
  return condition.compare->value(both) != 0;
}

bool holds_at_ties(const Chain& chain, const RankCondition& condition, std::size_t rank) {
  return holds_at(chain, condition, condition.level < rank ? rank : condition.level);
}

// Whether a value comes after a level: below it for a maximum, above it for a minimum.
ExprId RankWriter::behind(const Chain& chain, ExprId value, ExprId level) {
  return applied(scratch_, chain.fold->identity < 0 ? "<" : ">", {value, level});
}

ExprId RankWriter::joined(const Reduction* fold, ExprId one, ExprId other) {
  return applied(scratch_, fold->combine->name, {one, other});
}

// The first of the old levels that comes after the previous new level.
ExprId RankWriter::next_level(const Moved& moved, std::size_t rank, const Old& old) {
  ExprId value = old(moved.chain.levels[rank]);
  const ExprId before = read(moved.levels[rank - 1]);
  for (std::size_t i = rank; i-- > 0;) {
    const ExprId level = old(moved.chain.levels[i]);
    value = where(behind(moved.chain, level, before), level, value);
  }
  return value;
}

void RankWriter::move(const Chain& chain, ArrayId greatest) {
  Moved moved{chain, {greatest}};
  const Old mine = [&](ArrayId array) { return read(array); };
  const Old theirs = [&](ArrayId array) { return read(other_(array)); };
  for (std::size_t rank = 1; rank < chain.levels.size(); ++rank) {
    const auto& like = scratch_.at(chain.levels[rank]);
    const auto array = new_array(scratch_, "n", like.type, like.wires, like.span);
    const ExprId below = behind(chain, chain.by, read(moved.levels.back()));
    const ExprId value = where(below, chain.by, identity(chain.fold));
    to_.absorb.push_back({array, next_level(moved, rank, mine), nullptr, {}, {}, {}});
    to_.absorb.push_back({array, value, chain.fold, chain.over, array, {}});
    const ExprId one = next_level(moved, rank, mine), other = next_level(moved, rank, theirs);
    to_.merge.push_back({array, joined(chain.fold, one, other), nullptr, {}, {}, {}});
    moved.levels.push_back(array);
  }
  moved_.push_back(std::move(moved));
}

// The part of an old state that belongs to a rank of the new levels. Levels are equal only if there are no further
// values; all values at equal levels belong to the first of their ranks.
ExprId RankWriter::kept(const RankedFold& fold, std::size_t rank, const Old& old) {
  const auto& moved = moved_.at(fold.chain);
  const ExprId nothing = identity(fold.fold);
  const auto level = [&](std::size_t i) { return old(moved.chain.levels[i]); };
  if (rank < fold.depth) {
    ExprId value = nothing;
    const ExprId now = read(moved.levels[rank]);
    for (std::size_t i = rank + 1; i-- > 0;)
      value = where(applied(scratch_, "==", {level(i), now}), old(fold.arrays[i]), value);
    return value;
  }
  ExprId value = old(fold.arrays[rank]);
  const ExprId last = read(moved.levels[fold.depth - 1]);
  for (std::size_t i = 0; i < fold.depth; ++i) {
    ExprId fell = behind(moved.chain, level(i), last);
    if (i > 0) fell = applied(scratch_, "and", {fell, applied(scratch_, "!=", {level(i), level(i - 1)})});
    value = joined(fold.fold, value, where(fell, old(fold.arrays[i]), nothing));
  }
  return value;
}

// The last rank is updated first, because it receives the values that fall from earlier ranks.
void RankWriter::update(const RankedFold& fold) {
  const auto& moved = moved_.at(fold.chain);
  for (std::size_t rank = fold.arrays.size(); rank-- > 0;) {
    const ArrayId array = fold.arrays[rank];
    const bool rest = rank == fold.depth;
    const ExprId level = read(moved.levels[rest ? rank - 1 : rank]), by = moved.chain.by;
    const ExprId here = rest ? behind(moved.chain, by, level) : applied(scratch_, "==", {by, level});
    const ExprId mine = kept(fold, rank, [&](ArrayId a) { return read(a); });
    const ExprId theirs = kept(fold, rank, [&](ArrayId a) { return read(other_(a)); });
    to_.absorb.push_back({array, mine, nullptr, {}, {}, {}});
    to_.absorb.push_back({array, where(here, fold.value, identity(fold.fold)), fold.fold, fold.over, array, {}});
    to_.merge.push_back({array, joined(fold.fold, mine, theirs), nullptr, {}, {}, {}});
  }
}

void RankWriter::settle() {
  for (const auto& moved : moved_)
    for (std::size_t rank = 1; rank < moved.levels.size(); ++rank)
      for (auto* program : {&to_.absorb, &to_.merge})
        program->push_back({moved.chain.levels[rank], read(moved.levels[rank]), nullptr, {}, {}, {}});
}

}  // namespace napkin
