// Separates the bodies of sums into products of a piece and a finished factor; see sums.hpp.
#include "derive/states/sums.hpp"

#include <algorithm>
#include <utility>

#include "derive/states/carried.hpp"
#include "derive/states/centring.hpp"
#include "derive/states/guards.hpp"
#include "derive/states/notes.hpp"
#include "derive/states/ranking.hpp"
#include "derive/states/rounding.hpp"
#include "derive/states/scales.hpp"
#include "derive/states/shifts.hpp"

namespace napkin {
namespace {

// ---- shares ----

// u * v, or the sum of all u with the same v and the same exponential.
struct Share {
  Sum piece;
  Term state;
  Guards guards;
};

// Whether the body is a sum of pieces and of values that are known before the sweep and added to each piece. Such a
// shift stays in the body, as the file has it: outside, two large sums could cancel. A shift that varies along wires of
// its own moves out, because inside it would be subtracted more often.
bool stays_inside(StreamAttempt& attempt, const Column& column, const Sum& body) {
  Sum pieces, shifts;
  for (const auto& term : body) {
    const auto depends = dependence(attempt.algebra, term);
    const bool product = term.factors.size() > 1 || !term.exponent.empty() || term.cast || term.unrounded;
    if (depends.state || (depends.piece && product)) return false;
    (depends.piece ? pieces : shifts).push_back(term);
  }
  const auto of_pieces = free_of(attempt, pieces), of_shifts = free_of(attempt, shifts);
  return !pieces.empty() && !shifts.empty() && std::ranges::includes(of_pieces, of_shifts) &&
         within(column.over, of_shifts).empty();
}

// Computes a exp(g) + b exp(g) = (a + b) exp(g).
Term with_common_exponential(Diagram& diagram, Term a, Term b) {
  Term all;
  all.exponent = std::exchange(a.exponent, {});
  b.exponent.clear();
  all.factors = {{build(diagram, add({a}, {b})), 1}};
  all.moved = moved_in({a, b});
  return all;
}

void add_share(Diagram& diagram, std::vector<Share>& shares, SeparatedTerm parts) {
  Term &piece = parts.piece, &state = parts.state;
  const double coefficient = std::exchange(state.coefficient, 1);
  const auto same = std::ranges::find_if(shares, [&](const Share& share) {
    return equal(share.state, state) && equal(share.piece[0].exponent, piece.exponent) &&
           (piece.exponent.empty() || (!piece.cast && !share.piece[0].cast));
  });
  piece.coefficient = coefficient;
  if (same == shares.end()) return shares.push_back({{piece}, state, parts.guards});
  same->guards = either(diagram, same->guards, parts.guards);
  if (piece.exponent.empty())
    same->piece.push_back(piece);
  else
    same->piece = {with_common_exponential(diagram, same->piece[0], piece)};
}

std::optional<std::vector<Share>> shares_of(StreamAttempt& attempt, const Column& column, const Sum& body) {
  if (stays_inside(attempt, column, body)) return std::vector<Share>{{body, {}, {}}};
  std::vector<Share> shares;
  for (const auto& term : body) {
    const auto separated = separate(attempt.algebra, term);
    if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(attempt, *mixing), std::nullopt;
    add_share(attempt.scratch, shares, std::get<SeparatedTerm>(separated));
  }
  return shares;
}

// ---- folds ----

// The fold over wires along which v does not vary. `waiting`: the factor that an empty sum would be multiplied by.
struct Folded {
  Sum value, waiting;
};
Folded alike(const Sum& value) { return {value, value}; }

std::optional<Folded> unfolded(StreamAttempt& attempt, const Column& column, const Share& share) {
  const auto& piece = share.piece;
  if (piece.size() == 1 && trivial(piece[0]) && !piece[0].cast) return alike({share.state});
  if (!rounds_alike(attempt, column, piece, {})) return {};
  return alike(times(piece, share.state));
}

std::optional<Folded> folded_now(StreamAttempt& attempt, const Column& column, const Share& share,
                                 const std::vector<WireId>& now, bool direct) {
  const auto& [piece, state, guards] = share;
  if (now.empty()) return unfolded(attempt, column, share);
  if (const auto known = sum_about_centre(attempt, column, piece, now, state.exponent))
    return alike(times(*known, state));
  auto reference = referenced(attempt, column, piece, now, state.exponent);
  const bool ranks = has_ranks(attempt, build(attempt.scratch, piece));
  if (!reference && !ranks) reference = scaled(attempt, column, piece, now, state);
  if (!rounds_alike(attempt, column, piece, reference)) return {};
  const Sum sum = carried(attempt, column, piece, now, reference, direct && trivial(state) && !reference);
  if (reference && !reference->base.empty()) return alike(rescaled(attempt, sum, *reference, state));
  Folded all = alike(times(sum, state));
  if (sum.size() != 1 || all.waiting.size() != 1) return all;
  all.waiting[0].factors = combined(all.waiting[0].factors, powers(sum[0].factors, -1));
  return all;
}

// The fold of u * v over the column's wires: v is applied in finish, and so are the folds over wires that v varies
// along.
Sum folded(StreamAttempt& attempt, const Column& column, const Share& share, bool single) {
  const ExprId built = build(attempt.scratch, share.piece);
  if (has_ranks(attempt, built) && !share.piece[0].exponent.empty()) return refuse_mixing(attempt, built), Sum{};
  auto waiting = free_of(attempt, {share.state});
  waiting.merge(waiting_below(attempt, built));
  const auto along = free_of(attempt, share.piece);
  Share apart = share;
  const auto [early, later] = parted(column.over, waiting);
  for (const auto wire : early)
    if (!along.contains(wire)) apart.state.factors = combined(apart.state.factors, size_of(attempt, wire));
  const auto found = folded_now(attempt, column, apart, within(early, along), single && later.empty());
  if (!found) return {};
  const Sum value = guarded(attempt, column, found->value, found->waiting, share.guards, early);
  return later.empty() ? value : fold_later(attempt, column, value, later);
}

// ---- exponentials ----

// Whether it is of use to write out pieces that are exponentials: a maximum of an exponent is kept, or finished
// reductions are mixed in.
bool takes_reference(StreamAttempt& attempt, const Column& column, const Sum& body) {
  if (dependence(attempt.algebra, body).state) return true;
  return std::ranges::any_of(body, [&](const Term& term) {
    const auto separated = separate(attempt.algebra, term);
    const auto* parts = std::get_if<SeparatedTerm>(&separated);
    return parts && reference_for(attempt, {parts->piece}, within(column.over, free_of(attempt, {parts->piece})), {});
  });
}

// The column's value in normal form, with pieces that are exponentials read unchanged.
Sum as_written(StreamAttempt& attempt, const Column& column) {
  attempt.writes_exponentials = false;
  Sum body = normal(attempt.algebra, column.value);
  attempt.writes_exponentials = true;
  return body;
}

}  // namespace

void reduce_sum(StreamAttempt& attempt, const Column& column, const Sum& given) {
  const Sum body = takes_reference(attempt, column, given) ? given : as_written(attempt, column);
  auto value = about_centres(attempt, column);
  if (!value) {
    show_written_out(attempt, column, body);
    value = summed(attempt, column, body);
  }
  if (value) attempt.found.finished[column.output] = *value;
}

std::optional<Sum> summed(StreamAttempt& attempt, const Column& column, const Sum& body, bool alone) {
  auto shares = shares_of(attempt, column, body);
  if (!shares) return {};
  Sum finished, apart;
  const bool single = alone && shares->size() == 1;
  for (auto& [piece, state, guards] : *shares) {
    if (piece.size() == 1) state.coefficient = std::exchange(piece[0].coefficient, 1);
    note_rules(attempt, piece, state);
    apart = add(apart, times(reduction(attempt, column, piece), state));
  }
  const auto waits = [&](const Share& share) { return dependence(attempt.algebra, share.state).state; };
  const auto rule = std::ranges::any_of(*shares, waits) ? Rule::cascade : Rule::invariant;
  note_step(attempt, rule, column, unguarded(body), apart,
            "a factor that does not vary with the piece moves out of the sum");
  for (const auto& share : *shares) finished = add(finished, folded(attempt, column, share, single));
  return finished;
}

}  // namespace napkin
