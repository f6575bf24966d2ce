// Names and shapes of states, the maxima that they are kept relative to, and the rewriting steps that reports show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "derive/states/analysis.hpp"
#include "derive/trace.hpp"

namespace napkin {

void StateAnalysis::is_state(ArrayId array) {
  found_.arrays.insert(array);
  kinds_.add_state(array);
}

std::optional<Reference> StateAnalysis::referenced(const Column& column, const Sum& piece,
                                                   const std::vector<WireId>& over, const Sum& waiting) {
  const auto found = reference_for(piece, over, waiting);
  if (found) {
    Term relative = piece[0], greatest;
    greatest.coefficient = found->ratio;
    greatest.factors = {{read_whole(scratch_, found_.all[found->state].array), 1}};
    relative.exponent = add(relative.exponent, scale({greatest}, -1));
    Term after = reduction(column, {relative})[0];
    after.exponent = {greatest};
    note_step(Rule::cascade, algebra_.build(reduction(column, piece)), algebra_.build(after),
              "kept relative to the running maximum of its exponent, it cannot overflow");
  }
  return found;
}

std::optional<Reference> StateAnalysis::reference_for(const Sum& piece, const std::vector<WireId>& over,
                                                      const Sum& waiting) {
  if (piece.size() != 1 || piece[0].exponent.empty()) return {};
  const Sum& exponent = piece[0].exponent;
  const auto free = free_of(exponent);
  std::vector<WireId> along;
  for (const auto wire : over)
    if (free.contains(wire)) along.push_back(wire);
  if (!free.contains(wire_) || std::ranges::find(over, wire_) == over.end()) return {};
  if (const auto known = carried_maximum(exponent, along, {})) return known;
  if (const auto known = carried_maximum(unmasked(exponent), along, waiting); known && !waiting.empty()) return known;
  const auto text = to_text(scratch_, algebra_.build(exponent));
  if (std::ranges::find(learnt_.unreferenced, text) != learnt_.unreferenced.end()) return {};
  return add_reference(exponent, along, free, !waiting.empty());
}

std::optional<Reference> StateAnalysis::carried_maximum(const Sum& exponent, const std::vector<WireId>& along,
                                                        const Sum& waiting) {
  for (std::size_t i = 0; i < found_.all.size(); ++i) {
    const auto& state = found_.all[i];
    if (state.reduction->combine->role != Role::greatest || state.reference || state.ranked || state.over != along)
      continue;
    const auto ratio = positive_ratio(written_out(state.body), exponent);
    if (!ratio) continue;
    Term subtracted;
    subtracted.coefficient = -*ratio;
    subtracted.factors = {{read_whole(scratch_, state.array), 1}};
    if (waiting.empty() || std::ranges::any_of(waiting, [&](const Term& t) { return napkin::equal(t, subtracted); }))
      return Reference{i, *ratio};
  }
  return {};
}

// For an exponent `where(c, g, -inf)`, the value g.
Sum StateAnalysis::unmasked(const Sum& exponent) {
  const bool single = exponent.size() == 1 && exponent[0].coefficient == 1 && exponent[0].factors.size() == 1;
  const auto* choice = single ? std::get_if<Apply>(&scratch_.at(exponent[0].factors[0].first).node) : nullptr;
  if (!choice || choice->function->role != Role::choose) return exponent;
  const auto* outside = std::get_if<Constant>(&scratch_.at(choice->arguments[2]).node);
  const bool masks = outside && std::isinf(outside->value) && outside->value < 0;
  return masks ? algebra_.normal(ExprId(choice->arguments[1])) : exponent;
}

Sum StateAnalysis::written_out(const Sum& body) {
  if (body.size() == 1 && body[0].coefficient == 1 && body[0].factors.size() == 1 && body[0].factors[0].second == 1 &&
      body[0].exponent.empty() && !body[0].cast)
    return algebra_.normal(body[0].factors[0].first);
  return body;
}

Reference StateAnalysis::add_reference(const Sum& exponent, const std::vector<WireId>& over,
                                       const std::set<WireId>& free, bool needed) {
  std::vector<WireId> kept(free.begin(), free.end());
  std::erase_if(kept, [&](WireId w) { return std::ranges::find(over, w) != over.end(); });
  const auto* greatest = find_reduction("max");
  const auto type = count_type() == Datatype::f64 ? Datatype::f64 : held_as(scratch_, algebra_.build(exponent));
  const auto array = new_array(scratch_, std::string(greatest->state_name), type, std::move(kept),
                               deriving_ ? scratch_.at(deriving_->output).span : Span());
  is_state(array);
  found_.all.push_back({array, greatest, over, exponent, {}, !needed});
  return {found_.all.size() - 1, 1};
}

Sum StateAnalysis::carried(const Column& column, const Sum& body, const std::vector<WireId>& over,
                           std::optional<Reference> reference, bool direct) {
  const ExprId value = algebra_.build(body);
  if (!rank_conditions(value).empty()) return ranked(column, value, over);
  const auto index = state_for(column, body, over, reference, direct);
  Term term;
  term.factors = {{read_whole(scratch_, found_.all[index].array), 1}};
  if (reference) found_.rules.insert(Rule::cascade);
  if (reference && reference->base.empty()) {
    Term maximum;
    maximum.coefficient = reference->ratio;
    maximum.factors = {{read_whole(scratch_, found_.all[reference->state].array), 1}};
    term.exponent = {maximum};
  }
  return {term};
}

std::size_t StateAnalysis::state_for(const Column& column, const Sum& body, const std::vector<WireId>& over,
                                     std::optional<Reference> reference, bool direct, bool named) {
  for (std::size_t i = 0; i < found_.all.size(); ++i) {
    const auto& s = found_.all[i];
    const bool alike =
        s.reduction == column.fold && s.over == over && s.reference == reference && !s.moment && !s.ranked;
    if (alike && napkin::equal(s.body, body)) return i;
  }
  const auto free = free_of(body);
  const bool own =
      direct && std::ranges::all_of(scratch_.at(column.output).wires, [&](WireId wire) { return free.contains(wire); });
  const auto array = own ? column.output : state_array(column, body, over, named);
  is_state(array);
  if (std::ranges::all_of(body, [&](const Term& t) { return algebra_.positive(t); })) positive_.insert(array);
  if (reference && column.fold->combine->role == Role::add && holds_greatest(body)) at_least_one_.insert(array);
  found_.all.push_back({array, column.fold, over, body, reference, false});
  return found_.all.size() - 1;
}

ArrayId StateAnalysis::state_array(const Column& column, const Sum& body, const std::vector<WireId>& over, bool named) {
  auto wires = scratch_.at(column.output).wires;
  const auto free = free_of(body);
  std::erase_if(wires, [&](WireId w) { return !free.contains(w); });
  for (const auto wire : free)
    if (std::ranges::find(over, wire) == over.end() && std::ranges::find(wires, wire) == wires.end())
      wires.push_back(wire);
  const auto name = scratch_.at(column.output).name;
  const auto span = scratch_.at(column.output).span;
  const bool taken = std::ranges::any_of(found_.all, [&](const State& s) { return scratch_.at(s.array).name == name; });
  if (taken || !named)
    return new_array(scratch_, std::string(column.fold->state_name), type_of(column, body), std::move(wires), span);
  scratch_.arrays.push_back({name, type_of(column, body), std::move(wires), {}, span});
  return {static_cast<std::uint32_t>(scratch_.arrays.size() - 1)};
}

Datatype StateAnalysis::type_of(const Column& column, const Sum& body) {
  return accumulator(scratch_, type(column), algebra_.build(body));
}

// f64 if any column is, because counts and maxima enter its computation.
Datatype StateAnalysis::count_type() const {
  const bool wide = std::ranges::any_of(columns_, [&](const Column& column) { return type(column) == Datatype::f64; });
  return wide ? Datatype::f64 : Datatype::f32;
}

std::set<WireId> StateAnalysis::free_of(const Sum& sum) {
  const auto all = free_wires(scratch_, algebra_.build(sum));
  return {all.begin(), all.end()};
}

void StateAnalysis::note_rules(const Sum& piece, const Term& state) {
  if (algebra_.dependence(state).state)
    found_.rules.insert({Rule::cascade, Rule::invariant});
  else if (!trivial(state))
    found_.rules.insert(Rule::invariant);
  for (const auto& term : piece)
    if (algebra_.dependence(term).piece) note_casts(term);
}

void StateAnalysis::note_casts(const Term& term) {
  if (term.cast || term.unrounded) found_.rules.insert(Rule::cast);
  if (term.cast) note_cast(*term.cast);
  if (!term.unrounded) return;
  note(fmt::format("omits the cast to {0}: rounding each term to {0} could lose what the sum keeps",
                   row(*term.unrounded).name));
}

void StateAnalysis::note_cast(Datatype cast) {
  note(fmt::format("rounds the piece to {}, not the finished value", row(cast).name));
}

void StateAnalysis::note(std::string text) {
  auto& notes = found_.notes;
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

Sum StateAnalysis::reduction(const Column& column, const Sum& body) {
  Term term;
  term.factors = {{scratch_.intern(Reduce{column.fold, column.over, algebra_.build(body)}), 1}};
  return {term};
}

void StateAnalysis::step(Rule rule, const Column& column, const Sum& before, const Sum& after, std::string why) {
  const ExprId old = scratch_.intern(Reduce{column.fold, column.over, algebra_.build(before)});
  note_step(rule, old, algebra_.build(after), std::move(why));
}

void StateAnalysis::show_written_out(const Column& column, const Sum& body) {
  if (!algebra_.dependence(body).state) return;
  const ExprId now = scratch_.intern(Reduce{column.fold, column.over, algebra_.build(unguarded(body))});
  note_step(Rule::composition, as_expression(scratch_, column), now,
            "an expression that mixes pieces with an unfinished reduction is expanded");
}

void StateAnalysis::note_step(Rule rule, ExprId before, ExprId after, std::string why) {
  if (before != after) found_.trace.push_back({rule, deriving_->output, before, after, std::move(why)});
}

}  // namespace napkin
