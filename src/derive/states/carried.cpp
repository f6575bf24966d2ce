// Names and shapes of states, and the maxima that they are kept relative to; see carried.hpp.
#include "derive/states/carried.hpp"

#include <algorithm>
#include <cmath>

#include "derive/states/notes.hpp"
#include "derive/states/ranking.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

// ---- maxima of exponents ----

// The carried maximum of the exponent; with `waiting`, only one that this subtracts.
std::optional<Reference> carried_maximum(StreamAttempt& attempt, const Sum& exponent, const std::vector<WireId>& along,
                                         const Sum& waiting) {
  const auto& states = attempt.found.all;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& state = states[i];
    if (state.reduction->combine->role != Role::greatest || state.reference || state.ranked || state.over != along)
      continue;
    const auto ratio = positive_ratio(written_out(attempt.algebra, state.body), exponent);
    if (!ratio) continue;
    Term subtracted = read_term(attempt.scratch, state.array);
    subtracted.coefficient = -*ratio;
    if (waiting.empty() || std::ranges::any_of(waiting, [&](const Term& term) { return equal(term, subtracted); }))
      return Reference{i, *ratio};
  }
  return {};
}

// For an exponent `where(c, g, -inf)`, the value g.
Sum unmasked(StreamAttempt& attempt, const Sum& exponent) {
  const bool single = exponent.size() == 1 && exponent[0].coefficient == 1 && exponent[0].factors.size() == 1;
  const auto* choice = single ? std::get_if<Apply>(&attempt.scratch.at(exponent[0].factors[0].first).node) : nullptr;
  if (!choice || choice->function->role != Role::choose) return exponent;
  const auto* outside = std::get_if<Constant>(&attempt.scratch.at(choice->arguments[2]).node);
  const bool masks = outside && std::isinf(outside->value) && outside->value < 0;
  return masks ? normal(attempt.algebra, ExprId(choice->arguments[1])) : exponent;
}

// `needed`: the file subtracts something from the exponent, so without the maximum the sum could overflow although the
// file does not.
Reference add_reference(StreamAttempt& attempt, const Sum& exponent, const std::vector<WireId>& over, bool needed) {
  auto& scratch = attempt.scratch;
  const auto free = free_of(attempt, exponent);
  std::vector<WireId> kept(free.begin(), free.end());
  std::erase_if(kept, [&](WireId wire) { return contains(over, wire); });
  const auto* greatest = find_reduction("max");
  const bool wide = count_type(attempt) == Datatype::f64;
  const auto type = wide ? Datatype::f64 : held_as(scratch, build(scratch, exponent));
  const auto array = new_array(scratch, std::string(greatest->state_name), type, std::move(kept),
                               scratch.at(attempt.deriving->output).span);
  return {add_state(attempt, {array, greatest, over, exponent, {}, !needed}), 1};
}

// ---- states ----

// Relative to its greatest value, an exponential without factors is one at that value.
bool holds_greatest(const Sum& piece) {
  return piece.size() == 1 && piece[0].coefficient >= 1 && piece[0].factors.empty() && piece[0].rounded.empty();
}

// The type of a state of the column with this body.
Datatype type_of(StreamAttempt& attempt, const Column& column, const Sum& body) {
  return accumulator(attempt.scratch, attempt.scratch.at(column.output).type, build(attempt.scratch, body));
}

}  // namespace

std::optional<Reference> reference_for(StreamAttempt& attempt, const Sum& piece, const std::vector<WireId>& over,
                                       const Sum& waiting) {
  if (piece.size() != 1 || piece[0].exponent.empty()) return {};
  const Sum& exponent = piece[0].exponent;
  const auto along = within(over, free_of(attempt, exponent));
  if (!contains(along, attempt.wire)) return {};
  if (const auto known = carried_maximum(attempt, exponent, along, {})) return known;
  const auto known = carried_maximum(attempt, unmasked(attempt, exponent), along, waiting);
  if (known && !waiting.empty()) return known;
  const auto text = to_text(attempt.scratch, build(attempt.scratch, exponent));
  if (contains(attempt.learnt.unreferenced, text)) return {};
  return add_reference(attempt, exponent, along, !waiting.empty());
}

std::optional<Reference> referenced(StreamAttempt& attempt, const Column& column, const Sum& piece,
                                    const std::vector<WireId>& over, const Sum& waiting) {
  const auto found = reference_for(attempt, piece, over, waiting);
  if (!found) return {};
  const Sum greatest = exponential_of(attempt, *found).exponent;
  Term relative = piece[0];
  relative.exponent = add(relative.exponent, scale(greatest, -1));
  Term after = reduction(attempt, column, {relative})[0];
  after.exponent = greatest;
  note_step(attempt, Rule::cascade, build(attempt.scratch, reduction(attempt, column, piece)),
            build(attempt.scratch, after), "kept relative to the running maximum of its exponent, it cannot overflow");
  return found;
}

Term exponential_of(StreamAttempt& attempt, const Reference& reference) {
  Term maximum = read_term(attempt.scratch, attempt.found.all[reference.state].array), all;
  maximum.coefficient = reference.ratio;
  all.exponent = {maximum};
  return all;
}

Sum written_out(Algebra& algebra, const Sum& body) {
  const bool single = body.size() == 1 && body[0].coefficient == 1 && body[0].factors.size() == 1 &&
                      body[0].factors[0].second == 1 && body[0].exponent.empty() && !body[0].cast;
  return single ? normal(algebra, body[0].factors[0].first) : body;
}

Sum carried(StreamAttempt& attempt, const Column& column, const Sum& body, const std::vector<WireId>& over,
            const std::optional<Reference>& reference, bool direct) {
  const ExprId value = build(attempt.scratch, body);
  if (has_ranks(attempt, value)) return ranked(attempt, column, value, over);
  const auto state = state_for(attempt, column, body, over, reference, direct);
  Term all = read_term(attempt.scratch, attempt.found.all[state].array);
  if (reference) attempt.found.rules.insert(Rule::cascade);
  if (reference && reference->base.empty()) all.exponent = exponential_of(attempt, *reference).exponent;
  return {all};
}

std::size_t state_for(StreamAttempt& attempt, const Column& column, const Sum& body, const std::vector<WireId>& over,
                      const std::optional<Reference>& reference, bool direct, bool named) {
  const auto alike = [&](const State& state) {
    return state.reduction == column.fold && state.over == over && state.reference == reference && !state.moment &&
           !state.ranked && equal(state.body, body);
  };
  const auto& states = attempt.found.all;
  const auto known = std::ranges::find_if(states, alike);
  if (known != states.end()) return static_cast<std::size_t>(known - states.begin());
  const auto free = free_of(attempt, body);
  const auto varies = [&](WireId wire) { return free.contains(wire); };
  const bool own = direct && std::ranges::all_of(attempt.scratch.at(column.output).wires, varies);
  const auto array = own ? column.output : state_array(attempt, column, body, over, named);
  const auto never_negative = [&](const Term& term) { return is_positive(attempt.algebra, term); };
  if (std::ranges::all_of(body, never_negative)) attempt.positive.insert(array);
  if (reference && column.fold->combine->role == Role::add && holds_greatest(body)) attempt.at_least_one.insert(array);
  return add_state(attempt, {array, column.fold, over, body, reference, false});
}

ArrayId state_array(StreamAttempt& attempt, const Column& column, const Sum& body, const std::vector<WireId>& over,
                    bool named) {
  auto& scratch = attempt.scratch;
  Array array = scratch.at(column.output);
  const auto free = free_of(attempt, body);
  std::erase_if(array.wires, [&](WireId wire) { return !free.contains(wire); });
  for (const auto wire : free)
    if (!contains(over, wire) && !contains(array.wires, wire)) array.wires.push_back(wire);
  array.type = type_of(attempt, column, body);
  const auto has_name = [&](const State& state) { return scratch.at(state.array).name == array.name; };
  if (!named || std::ranges::any_of(attempt.found.all, has_name))
    return new_array(scratch, std::string(column.fold->state_name), array.type, std::move(array.wires), array.span);
  scratch.arrays.push_back({array.name, array.type, std::move(array.wires), {}, array.span});
  return {static_cast<std::uint32_t>(scratch.arrays.size() - 1)};
}

void mark_state(StreamAttempt& attempt, ArrayId array) {
  attempt.found.arrays.insert(array);
  attempt.kinds.add_state(array);
}

std::size_t add_state(StreamAttempt& attempt, State state) {
  mark_state(attempt, state.array);
  attempt.found.all.push_back(std::move(state));
  return attempt.found.all.size() - 1;
}

ArrayId finished_array(StreamAttempt& attempt, const Column& column, const std::vector<WireId>& wires, ExprId value) {
  auto& scratch = attempt.scratch;
  const auto& output = scratch.at(column.output);
  const auto array = new_array(scratch, std::string(column.fold->state_name), accumulator(scratch, output.type, value),
                               wires, output.span);
  attempt.found.late_folds[attempt.deriving->output].push_back({array, value, nullptr, {}, {}, {}});
  mark_state(attempt, array);
  return array;
}

Sum fold_later(StreamAttempt& attempt, const Column& column, const Sum& value, const std::vector<WireId>& over) {
  auto& scratch = attempt.scratch;
  const Array output = scratch.at(column.output);
  const auto array = new_array(scratch, output.name, type_of(attempt, column, value), output.wires, output.span);
  const ExprId built = build(scratch, value);
  attempt.found.late_folds[attempt.deriving->output].push_back({array, built, column.fold, over, {}, {}});
  mark_state(attempt, array);
  return {read_term(scratch, array)};
}

void finish(StreamAttempt& attempt, const Column& column, const Sum& value, const std::vector<WireId>& later) {
  attempt.found.finished[column.output] = later.empty() ? value : fold_later(attempt, column, value, later);
}

}  // namespace napkin
