// What replaces a read: the definition of a mixed column, or the finished value of a reduction. A piece that is an
// exponential is written out to expose its exponent. And questions about wires; see attempt.hpp.
#include "derive/states/attempt.hpp"

#include <algorithm>

#include "derive/algebra/finite.hpp"
#include "derive/states/ranking.hpp"

namespace napkin {
namespace {

// Whether the column has exponentials, in its value or in what it reads. Each array is tested once: a column that is
// written out would otherwise be tested again at every read.
bool has_exponentials(StreamAttempt& attempt, const Column& column) {
  const auto [known, fresh] = attempt.exponentials.try_emplace(column.output, false);
  if (!fresh) return known->second;
  const auto made_of_some = [&](ArrayId array) {
    const auto made = attempt.producers.find(array);
    return made != attempt.producers.end() && has_exponentials(attempt, *made->second);
  };
  const bool has = holds_exponential(attempt.scratch, column.value) ||
                   std::ranges::any_of(arrays_read(attempt.scratch, column.value), made_of_some);
  return attempt.exponentials[column.output] = has;
}

std::optional<Sum> exponential(StreamAttempt& attempt, const Column& column) {
  if (!has_exponentials(attempt, column)) return {};
  auto sum = defined(attempt, column);
  if (!sum || std::ranges::none_of(*sum, [](const Term& t) { return !t.exponent.empty(); })) return {};
  return sum;
}

std::optional<Sum> definition(StreamAttempt& attempt, const Access& access) {
  const auto array = access.array;
  if (!attempt.kinds.whole(access)) return {};
  const auto& finished = attempt.found.finished;
  if (const auto found = finished.find(array); found != finished.end()) return found->second;
  if (attempt.kinds.mixed(array)) return defined(attempt, *attempt.producers.at(array));
  const bool written_out = attempt.kinds.piece(array) && attempt.writes_exponentials;
  return written_out ? exponential(attempt, *attempt.producers.at(array)) : std::nullopt;
}

// Whether the array's column shows that it is never negative. Of a column that reads its own array, or an array that is
// computed from it, this is not known.
bool is_positive(StreamAttempt& attempt, ArrayId array) {
  if (attempt.positive.contains(array)) return true;
  const auto made = attempt.producers.find(array);
  if (made == attempt.producers.end() || made->second->carried || !attempt.asked.insert(array).second) return false;
  const bool positive = is_positive(attempt.algebra, made->second->value);
  attempt.asked.erase(array);
  return positive;
}

bool is_finite(const StreamAttempt& attempt, ExprId e) {
  return is_finite(attempt.scratch, e, [&](ArrayId array) -> std::optional<Produced> {
    const auto made = attempt.producers.find(array);
    if (made == attempt.producers.end() || made->second->carried) return std::nullopt;
    return Produced{made->second->value, made->second->fold};
  });
}

}  // namespace

Algebra::Meaning meaning_of(StreamAttempt& attempt) {
  return {attempt.wire,
          [&](const Access& access) { return attempt.kinds.of(access); },
          [&](ExprId e) { return definition(attempt, std::get<Access>(attempt.scratch.at(e).node)); },
          [&](ArrayId array) { return is_positive(attempt, array); },
          [&](ExprId e) { return is_finite(attempt, e); },
          [&](ExprId e) { return rank_condition(attempt, e).has_value(); }};
}

std::map<ArrayId, const Column*> producers_of(const std::vector<Column>& columns) {
  std::map<ArrayId, const Column*> all;
  for (const auto& column : columns) all[column.output] = &column;
  return all;
}

std::optional<Range> known_range(const StreamAttempt& attempt, ArrayId array) {
  if (attempt.at_least_one.contains(array)) return Range{.least = 1};
  if (attempt.positive.contains(array)) return Range{.least = 0};
  return std::nullopt;
}

std::optional<Sum> defined(StreamAttempt& attempt, const Column& column) {
  if (column.fold || column.carried) return {};
  const auto type = attempt.scratch.at(column.output).type;
  if (accumulator(type) == type && is_floating(type)) return normal(attempt.algebra, column.value);
  return normal(attempt.algebra, attempt.scratch.intern(Cast{type, column.value}));
}

Sum body_in_file(const Algebra& algebra, const Column& column, const Sum& normal) {
  return dependence(algebra, column.value).state ? normal : as_factor(column.value);
}

Term read_term(Diagram& diagram, ArrayId array) { return as_factor(read_whole(diagram, array))[0]; }

std::vector<WireId> within(const std::vector<WireId>& wires, const std::set<WireId>& set) {
  std::vector<WireId> all;
  for (const auto wire : wires)
    if (set.contains(wire)) all.push_back(wire);
  return all;
}

std::pair<std::vector<WireId>, std::vector<WireId>> parted(const std::vector<WireId>& over,
                                                           const std::set<WireId>& waiting) {
  std::pair<std::vector<WireId>, std::vector<WireId>> all;
  for (const auto wire : over) (waiting.contains(wire) ? all.second : all.first).push_back(wire);
  return all;
}

std::set<WireId> wires_below(const Diagram& diagram, ExprId e) {
  const auto all = free_wires(diagram, e);
  return {all.begin(), all.end()};
}

std::set<WireId> free_of(StreamAttempt& attempt, const Sum& sum) {
  return wires_below(attempt.scratch, build(attempt.scratch, sum));
}

std::set<WireId> waiting_below(const StreamAttempt& attempt, ExprId e) {
  const auto depends = dependence(attempt.algebra, e);
  if (depends.state && !depends.piece) return wires_below(attempt.scratch, e);
  std::set<WireId> all;
  const auto& node = attempt.scratch.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node)) all = waiting_below(attempt, cast->value);
  if (const auto* apply = std::get_if<Apply>(&node))
    for (const auto argument : apply->arguments) all.merge(waiting_below(attempt, argument));
  return all;
}

// f64 if any column is, because counts and maxima enter its computation.
Datatype count_type(const StreamAttempt& attempt) {
  const auto is_wide = [&](const Column& column) { return attempt.scratch.at(column.output).type == Datatype::f64; };
  return std::ranges::any_of(attempt.columns, is_wide) ? Datatype::f64 : Datatype::f32;
}

Factors size_of(StreamAttempt& attempt, WireId wire) {
  auto& scratch = attempt.scratch;
  if (!attempt.learnt.around.contains(wire)) return {{scratch.intern(Size{scratch.at(wire).axis}), 1}};
  auto& known = attempt.found.extents;
  auto found = std::ranges::find_if(known, [&](const Column& c) { return c.over.front() == wire; });
  if (found == known.end()) {
    const auto array = new_array(scratch, "extent", count_type(attempt), {});
    known.push_back({array, scratch.intern(Constant{1}), find_reduction("sum"), {wire}, {}, {}});
    found = known.end() - 1;
  }
  return {{read_whole(scratch, found->output), 1}};
}

}  // namespace napkin
