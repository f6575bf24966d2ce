// Separates the bodies of reductions; see states.hpp.
#include <algorithm>

#include "derive/states/analysis.hpp"
#include "derive/streams/refusals.hpp"
#include "diagram/operands.hpp"

namespace napkin {

StateAnalysis::StateAnalysis(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                             const std::set<ArrayId>& needed, const Learnt& learnt)
    : scratch_(scratch),
      columns_(columns),
      wire_(wire),
      needed_(needed),
      learnt_(learnt),
      algebra_(scratch,
               {wire, [this](const Access& a) { return kinds_.of(a); }, [this](ExprId e) { return definition(e); },
                [this](ArrayId a) { return positive(a); }, [this](ExprId e) { return rank_condition(e).has_value(); }}),
      kinds_(scratch, wire),
      ranges_(scratch, [this](ArrayId a) { return known(a); }),
      finite_(
          scratch, [this](ArrayId a) { return ends_of(a); },
          Ranges(scratch, [this](ArrayId a) { return known_unmasked(a); })) {}

States StateAnalysis::run() {
  for (const auto& column : columns_) producer_[column.output] = &column;
  for (const auto& column : columns_) found_.kinds.push_back(kinds_.classify(column, depends(column)));
  for (std::size_t i = 0; i < columns_.size() && !found_.refused; ++i) derive(i);
  if (!found_.refused) check_needed();
  return std::move(found_);
}

Dependence StateAnalysis::depends(const Column& column) const {
  const auto value = algebra_.dependence(column.value);
  return column.repair ? value | algebra_.dependence(*column.repair) : value;
}

bool StateAnalysis::positive(ArrayId array) const {
  if (positive_.contains(array)) return true;
  const auto found = producer_.find(array);
  return found != producer_.end() && !found->second->carried && algebra_.positive(found->second->value);
}

std::optional<Sum> StateAnalysis::definition(ExprId e) {
  const auto access = std::get<Access>(scratch_.at(e).node);
  if (const auto found = found_.finished.find(access.array); found != found_.finished.end() && kinds_.whole(access))
    return found->second;
  if (!kinds_.whole(access)) return {};
  if (kinds_.mixed(access.array)) return defined(*producer_.at(access.array));
  return kinds_.piece(access.array) && writes_exponentials_ ? exponential(*producer_.at(access.array)) : std::nullopt;
}

// Each array is tested once: a column that is written out would otherwise be tested again at every read.
bool StateAnalysis::has_exponentials(const Column& column) {
  const auto [known, fresh] = exponentials_.try_emplace(column.output, false);
  if (!fresh) return known->second;
  const auto made_of_some = [&](ArrayId array) {
    const auto made = producer_.find(array);
    return made != producer_.end() && has_exponentials(*made->second);
  };
  const bool has = algebra_.holds_exponential(column.value) ||
                   std::ranges::any_of(arrays_read(scratch_, column.value), made_of_some);
  return exponentials_[column.output] = has;
}

std::optional<Sum> StateAnalysis::exponential(const Column& column) {
  if (!has_exponentials(column)) return {};
  auto sum = defined(column);
  if (!sum || std::ranges::none_of(*sum, [](const Term& t) { return !t.exponent.empty(); })) return {};
  return sum;
}

std::optional<Sum> StateAnalysis::defined(const Column& column) {
  if (column.fold || column.carried) return {};
  const auto type = scratch_.at(column.output).type;
  if (accumulator(type) == type && is_floating(type)) return algebra_.normal(column.value);
  return algebra_.normal(scratch_.intern(Cast{type, column.value}));
}

void StateAnalysis::derive(std::size_t i) {
  const auto& column = columns_[i];
  deriving_ = &column;
  if (found_.kinds[i] == ColumnKind::reduction) reduce(column);
  // A column that is written in two steps, such as a rescaled moment, keeps both.
  const bool once = std::ranges::count_if(columns_, [&](const Column& c) { return c.output == column.output; }) == 1;
  if (found_.kinds[i] == ColumnKind::finish && !column.fold && !column.carried && once)
    if (const auto sum = defined(column)) found_.finished[column.output] = *sum;
}

void StateAnalysis::reduce(const Column& column) {
  if (column.carried) return refuse("is carried along another streamed axis already");
  if (algebra_.dependence(column.value).state) {
    const ExprId body = written_body(column);
    if (const auto condition = late_condition(body)) return reduce_branches(column, body, *condition);
  }
  const auto role = column.fold->combine->role;
  const Sum body = algebra_.normal(column.value);
  if (role == Role::add) return reduce_sum(column, takes_reference(column, body) ? body : as_written(column));
  role == Role::multiply ? reduce_product(column, body) : reduce_extreme(column);
}

bool StateAnalysis::takes_reference(const Column& column, const Sum& body) {
  if (algebra_.dependence(body).state) return true;
  return std::ranges::any_of(body, [&](const Term& term) {
    const auto separated = algebra_.separate(term);
    const auto* parts = std::get_if<Algebra::Separated>(&separated);
    return parts && reference_for({parts->piece}, within(column.over, free_of({parts->piece})), {});
  });
}

Sum StateAnalysis::as_written(const Column& column) {
  writes_exponentials_ = false;
  Sum body = algebra_.normal(column.value);
  writes_exponentials_ = true;
  return body;
}

void StateAnalysis::reduce_sum(const Column& column, const Sum& body) {
  auto value = about_centres(column);
  if (!value) {
    show_written_out(column, body);
    value = summed(column, body);
  }
  if (value) found_.finished[column.output] = *value;
}

std::optional<Sum> StateAnalysis::summed(const Column& column, const Sum& body, bool alone) {
  auto shares = shares_of(column, body);
  if (!shares) return {};
  Sum finished, apart;
  const bool single = alone && shares->size() == 1;
  for (auto& [piece, state, guards] : *shares) {
    if (piece.size() == 1) state.coefficient = std::exchange(piece[0].coefficient, 1);
    note_rules(piece, state);
    apart = add(apart, times(reduction(column, piece), state));
  }
  const bool cascade = std::ranges::any_of(*shares, [&](const Share& s) { return algebra_.dependence(s.state).state; });
  step(cascade ? Rule::cascade : Rule::invariant, column, unguarded(body), apart,
       "a factor that does not vary with the piece moves out of the sum");
  for (const auto& share : *shares) finished = add(finished, folded(column, share, single));
  return finished;
}

std::optional<std::vector<StateAnalysis::Share>> StateAnalysis::shares_of(const Column& column, const Sum& body) {
  if (stays_inside(column, body)) return std::vector<Share>{{body, {}, {}}};
  std::vector<Share> shares;
  for (const auto& term : body) {
    auto separated = algebra_.separate(term);
    if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(*mixing), std::nullopt;
    auto& parts = std::get<Algebra::Separated>(separated);
    Term &piece = parts.piece, &state = parts.state;
    const double coefficient = std::exchange(state.coefficient, 1);
    const auto same = std::ranges::find_if(shares, [&](const Share& s) {
      return napkin::equal(s.state, state) && napkin::equal(s.piece[0].exponent, piece.exponent) &&
             (piece.exponent.empty() || (!piece.cast && !s.piece[0].cast));
    });
    piece.coefficient = coefficient;
    if (same == shares.end()) {
      shares.push_back({{piece}, state, parts.guards});
      continue;
    }
    same->guards = algebra_.either(same->guards, parts.guards);
    if (piece.exponent.empty())
      same->piece.push_back(piece);
    else
      same->piece = {with_common_exponential(same->piece[0], piece)};
  }
  return shares;
}

// Whether a shift known before the sweep stays in the body, as the file has it: outside, two large sums could cancel. A
// shift that varies along wires of its own moves out, because inside it would be subtracted more often.
bool StateAnalysis::stays_inside(const Column& column, const Sum& body) {
  Sum pieces, shifts;
  for (const auto& term : body) {
    const auto depends = algebra_.dependence(term);
    const bool product = term.factors.size() > 1 || !term.exponent.empty() || term.cast || term.unrounded;
    if (depends.state || (depends.piece && product)) return false;
    (depends.piece ? pieces : shifts).push_back(term);
  }
  const auto of_pieces = free_of(pieces), of_shifts = free_of(shifts);
  return !pieces.empty() && !shifts.empty() && std::ranges::includes(of_pieces, of_shifts) &&
         within(column.over, of_shifts).empty();
}

// Computes a exp(g) + b exp(g) = (a + b) exp(g).
Term StateAnalysis::with_common_exponential(Term a, Term b) {
  Term all;
  all.exponent = std::exchange(a.exponent, {});
  b.exponent.clear();
  all.factors = {{algebra_.build(add({a}, {b})), 1}};
  all.moved = moved_in({a, b});
  return all;
}

Factors StateAnalysis::size_of(WireId wire) {
  if (!learnt_.around.contains(wire)) return {{scratch_.intern(Size{scratch_.at(wire).axis}), 1}};
  auto& known = found_.extents;
  auto found = std::ranges::find_if(known, [&](const Column& c) { return c.over.front() == wire; });
  if (found == known.end()) {
    const auto array = new_array(scratch_, "extent", count_type(), {});
    known.push_back({array, scratch_.intern(Constant{1}), find_reduction("sum"), {wire}, {}, {}});
    found = known.end() - 1;
  }
  return {{read_whole(scratch_, found->output), 1}};
}

Sum StateAnalysis::folded(const Column& column, const Share& share, bool single) {
  const ExprId built = algebra_.build(share.piece);
  if (!rank_conditions(built).empty() && !share.piece[0].exponent.empty()) return refuse_mixing(built), Sum{};
  auto waiting = free_of({share.state});
  waiting.merge(waiting_below(built));
  const auto along = free_of(share.piece);
  Share apart = share;
  const auto [early, later] = parted(column.over, waiting);
  const auto now = within(early, along);
  for (const auto wire : early)
    if (!along.contains(wire)) apart.state.factors = combined(apart.state.factors, size_of(wire));
  const auto found = folded_now(column, apart, now, single && later.empty());
  if (!found) return {};
  const Sum value = guarded(column, found->value, found->waiting, share.guards, early);
  return later.empty() ? value : fold_later(column, value, later);
}

std::optional<StateAnalysis::Folded> StateAnalysis::folded_now(const Column& column, const Share& share,
                                                               const std::vector<WireId>& now, bool direct) {
  const auto& [piece, state, guards] = share;
  const auto alike = [](const Sum& value) { return Folded{value, value}; };
  if (now.empty() && trivial_piece(piece)) return alike({state});
  if (now.empty()) return rounds_alike(column, piece, {}) ? std::optional(alike(times(piece, state))) : std::nullopt;
  if (const auto known = sum_about_centre(column, piece, now, state.exponent)) return alike(times(*known, state));
  auto reference = referenced(column, piece, now, state.exponent);
  const bool ranks = !rank_conditions(algebra_.build(piece)).empty();
  if (!reference && !ranks) reference = scaled(column, piece, now, state);
  if (!rounds_alike(column, piece, reference)) return {};
  const Sum sum = carried(column, piece, now, reference, direct && trivial(state) && !reference);
  if (reference && !reference->base.empty()) return alike(rescaled(sum, *reference, state));
  Folded all = alike(times(sum, state));
  if (sum.size() != 1 || all.waiting.size() != 1) return all;
  for (const auto& [base, power] : sum[0].factors)
    all.waiting[0].factors = combined(all.waiting[0].factors, {{base, -power}});
  return all;
}

bool StateAnalysis::trivial(const Term& term) {
  return term.coefficient == 1 && term.factors.empty() && term.exponent.empty();
}

Sum StateAnalysis::times(const Sum& a, const Term& b) {
  Sum all;
  for (const auto& term : a) {
    Term product = term;
    product.moved.clear();
    product.coefficient *= b.coefficient;
    product.factors = combined(product.factors, b.factors);
    product.exponent = add(product.exponent, b.exponent);
    all = add(all, {product});
  }
  return all;
}

Sum StateAnalysis::fold_later(const Column& column, const Sum& value, const std::vector<WireId>& over) {
  const auto array = new_array(scratch_, scratch_.at(column.output).name, type_of(column, value),
                               scratch_.at(column.output).wires, scratch_.at(column.output).span);
  found_.late_folds[deriving_->output].push_back({array, algebra_.build(value), column.fold, over, {}, {}});
  is_state(array);
  Term term;
  term.factors = {{read_whole(scratch_, array), 1}};
  return {term};
}

std::vector<WireId> StateAnalysis::within(const std::vector<WireId>& wires, const std::set<WireId>& set) {
  std::vector<WireId> all;
  for (const auto wire : wires)
    if (set.contains(wire)) all.push_back(wire);
  return all;
}

void StateAnalysis::refuse(const std::string& why, const std::string& mend) {
  if (!found_.refused) found_.refused = refused_fold(scratch_, *deriving_, wire_, why, mend);
}

void StateAnalysis::refuse_mixing(ExprId mixing) {
  if (!found_.refused) found_.refused = refused_mixing(scratch_, algebra_, *deriving_, wire_, kinds_, mixing);
}

// A value that needs a piece and a finished reduction at once is never stored: it must be neither an output nor read
// after the last piece.
void StateAnalysis::check_needed() {
  const auto is_mixed = [&](ArrayId array) { return kinds_.mixed(array); };
  for (std::size_t i = 0; i < columns_.size() && !found_.refused; ++i) {
    const auto kind = found_.kinds[i];
    if ((kind == ColumnKind::mixed && needed_.contains(columns_[i].output)) ||
        (kind == ColumnKind::finish && std::ranges::any_of(arrays_read(scratch_, columns_[i].value), is_mixed)))
      found_.refused = refused_kept(scratch_, columns_[i], wire_, kinds_);
  }
}

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const Learnt& learnt) {
  return StateAnalysis(scratch, columns, wire, needed, learnt).run();
}

}  // namespace napkin
