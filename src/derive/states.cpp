// Separates the bodies of reductions and names what is carried; see states.hpp.
#include "derive/states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "derive/refusals.hpp"
#include "derive/trace.hpp"

namespace napkin {
namespace {

class Analysis {
 public:
  Analysis(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
           const Learnt& learnt)
      : scratch_(scratch),
        columns_(columns),
        wire_(wire),
        needed_(needed),
        learnt_(learnt),
        algebra_(scratch,
                 {wire, [this](const Access& a) { return kinds_.of(a); }, [this](ExprId e) { return definition(e); },
                  [this](ArrayId a) { return positive_.contains(a); }}),
        kinds_(scratch, wire) {}

  States run() {
    for (const auto& column : columns_) producer_[column.output] = &column;
    for (const auto& column : columns_) found_.kinds.push_back(kinds_.classify(column, depends(column)));
    for (std::size_t i = 0; i < columns_.size() && !found_.refused; ++i) derive(i);
    if (!found_.refused) check_needed();
    return std::move(found_);
  }

 private:
  Dependence depends(const Column& column) const {
    const auto value = algebra_.dependence(column.value);
    return column.repair ? value | algebra_.dependence(*column.repair) : value;
  }

  // What stands in place of a read: the definition of a mixed column, the finished value of a reduction.
  std::optional<Sum> definition(ExprId e) {
    const auto access = std::get<Access>(scratch_.at(e).node);
    if (const auto found = found_.finished.find(access.array); found != found_.finished.end() && kinds_.whole(access))
      return found->second;
    if (!kinds_.whole(access)) return {};
    if (kinds_.mixed(access.array)) return defined(*producer_.at(access.array));
    return kinds_.piece(access.array) && writes_exponentials_ ? exponential(*producer_.at(access.array)) : std::nullopt;
  }
  // A piece that is an exponential is written out, so that its exponent is seen.
  std::optional<Sum> exponential(const Column& column) {
    auto sum = defined(column);
    if (!sum || std::ranges::none_of(*sum, [](const Term& t) { return !t.exponent.empty(); })) return {};
    return sum;
  }
  std::optional<Sum> defined(const Column& column) {
    if (column.fold || column.carried) return {};
    const auto type = scratch_.at(column.output).type;
    if (accumulator(type) == type) return algebra_.normal(column.value);
    return algebra_.normal(scratch_.intern(Cast{type, column.value}));
  }
  // ---- one column at a time ----
  void derive(std::size_t i) {
    const auto& column = columns_[i];
    if (found_.kinds[i] == ColumnKind::reduction) reduce(column);
    // What is written in two steps, as repaired moments are, stays in two.
    const bool once = std::ranges::count_if(columns_, [&](const Column& c) { return c.output == column.output; }) == 1;
    if (found_.kinds[i] == ColumnKind::finish && !column.fold && !column.carried && once)
      if (const auto sum = defined(column)) found_.finished[column.output] = *sum;
  }
  void reduce(const Column& column) {
    if (column.carried) return refuse(column, "is carried along another streamed axis already");
    const auto role = column.fold->combine->role;
    const Sum body = algebra_.normal(column.value);
    if (role == Role::add) return reduce_sum(column, takes_reference(column, body) ? body : as_written(column));
    role == Role::multiply ? reduce_product(column, body) : reduce_extreme(column, body);
  }

  // Pieces that are exponentials are written out for the sake of their exponents. Where no maximum is kept they are
  // read as they stand.
  bool takes_reference(const Column& column, const Sum& body) {
    if (algebra_.dependence(body).state) return true;
    return std::ranges::any_of(body, [&](const Term& term) {
      const auto separated = algebra_.separate(term);
      const auto* parts = std::get_if<Algebra::Separated>(&separated);
      return parts && reference_for({parts->piece}, within(column.over, free_of({parts->piece})), false);
    });
  }
  Sum as_written(const Column& column) {
    writes_exponentials_ = false;
    Sum body = algebra_.normal(column.value);
    writes_exponentials_ = true;
    return body;
  }
  void reduce_sum(const Column& column, const Sum& body) {
    auto value = mean_of(column, body);
    if (!value) value = about_means(column);
    if (!value) {
      show_written_out(column, body);
      value = summed(column, body);
    }
    if (value) found_.finished[column.output] = *value;
  }

  // Terms with the same v and the same exponential share one state each.
  std::optional<Sum> summed(const Column& column, const Sum& body, bool alone = true) {
    struct Share {
      Sum piece;
      Term state;
    };
    std::vector<Share> shares;
    for (const auto& term : body) {
      auto separated = algebra_.separate(term);
      if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing), std::nullopt;
      auto& parts = std::get<Algebra::Separated>(separated);
      Term &piece = parts.piece, &state = parts.state;
      const double coefficient = std::exchange(state.coefficient, 1);
      const auto same = std::ranges::find_if(shares, [&](const Share& s) {
        return napkin::equal(s.state, state) && napkin::equal(s.piece[0].exponent, piece.exponent);
      });
      piece.coefficient = coefficient;
      if (same != shares.end())
        same->piece.push_back(piece);
      else
        shares.push_back({{piece}, state});
    }
    Sum finished, apart;
    const bool single = alone && shares.size() == 1;
    for (auto& [piece, state] : shares) {
      if (piece.size() == 1) state.coefficient = std::exchange(piece[0].coefficient, 1);
      note_rules(piece, state);
      apart = add(apart, times(reduction(column, piece), state));
    }
    const bool cascade =
        std::ranges::any_of(shares, [&](const Share& s) { return algebra_.dependence(s.state).state; });
    step(cascade ? Rule::cascade : Rule::invariant, column, body, apart,
         "what does not vary with the piece is the same in every term of the sum");
    for (auto& [piece, state] : shares) finished = add(finished, folded(column, piece, state, single));
    return finished;
  }

  // The fold of u * v over the column's wires: v waits, and so do the wires that v varies along.
  Sum folded(const Column& column, const Sum& piece, Term state, bool single) {
    const auto along = free_of(piece), waiting = free_of({state});
    std::vector<WireId> now, later;
    for (const auto wire : column.over) {
      if (waiting.contains(wire))
        later.push_back(wire);
      else if (along.contains(wire))
        now.push_back(wire);
      else
        state.factors = combined(state.factors, size_of(wire));
    }
    Sum value = {state};
    if (!now.empty()) {
      const auto reference = referenced(column, piece, now, !state.exponent.empty());
      const bool direct = single && later.empty() && trivial(state) && !reference;
      value = times(carried(column, piece, now, reference, direct), state);
    } else if (!trivial_piece(piece)) {
      value = times(piece, state);
    }
    return later.empty() ? value : fold_later(column, value, later);
  }
  static bool trivial(const Term& term) {
    return term.coefficient == 1 && term.factors.empty() && term.exponent.empty();
  }
  static bool trivial_piece(const Sum& piece) { return piece.size() == 1 && trivial(piece[0]) && !piece[0].cast; }
  Sum times(const Sum& a, const Term& b) {
    Sum all;
    for (const auto& term : a) {
      Term product = term;
      product.coefficient *= b.coefficient;
      product.factors = combined(product.factors, b.factors);
      product.exponent = add(product.exponent, b.exponent);
      all = add(all, {product});
    }
    return all;
  }
  // v varies along wires that the column folds too: the state keeps them, and finish folds.
  Sum fold_later(const Column& column, const Sum& value, const std::vector<WireId>& over) {
    const auto array = new_array(scratch_, scratch_.at(column.output).name, accumulator(type(column)),
                                 scratch_.at(column.output).wires);
    found_.late_folds[column.output].push_back({array, algebra_.build(value), column.fold, over, {}, {}});
    is_state(array);
    Term term;
    term.factors = {{read_whole(scratch_, array), 1}};
    return {term};
  }

  // ---- sums of powers about a running mean ----
  // A sum that has a running mean, for the sake of another one: as many times the mean as there are terms.
  std::optional<Sum> mean_of(const Column& column, const Sum& body) {
    if (body.empty() || algebra_.dependence(body).state || !algebra_.dependence(body).piece) return {};
    const bool flips = body[0].coefficient < 0;
    const Sum upright = flips ? scale(body, -1) : body;
    const auto over = within(column.over, free_of(upright));
    if (std::ranges::find(learnt_.centred, centre_key(scratch_, algebra_, upright, over)) == learnt_.centred.end())
      return {};
    Term sum;
    sum.coefficient = flips ? -1 : 1;
    sum.factors = {{read_whole(scratch_, found_.centres.at(centre_for(upright, over)).mean), 1}};
    for (const auto wire : column.over) sum.factors = combined(sum.factors, size_of(wire));
    found_.rules.insert(Rule::moments);
    step(Rule::moments, column, body, {sum}, "a sum is its running mean, once for every term");
    return Sum{sum};
  }
  // sum of u (w + v)^k, v of finished reductions: moments of w about its running mean, and in finish about -v.
  std::optional<Sum> about_means(const Column& column) {
    algebra_.keep_shifts(true);
    const Sum body = algebra_.normal(column.value);
    Sum plain;
    std::vector<Shifted> shifts;
    bool fine = true;
    for (const auto& term : body) {
      const auto separated = algebra_.separate(term);
      const auto* parts = std::get_if<Algebra::Separated>(&separated);
      if (parts && !parts->shift) {
        plain.push_back(term);
        continue;
      }
      auto found = shifted(algebra_, term);
      fine = fine && found && worth_centring(column, *found);
      if (fine) shifts.push_back(std::move(*found));
    }
    algebra_.keep_shifts(false);
    if (!fine || shifts.empty()) return {};
    auto value = plain.empty() ? std::optional(Sum{}) : summed(column, plain, false);
    if (!value) return {};
    show_written_out(column, body);
    for (const auto& shift : shifts) *value = add(*value, about_mean(column, shift));
    found_.rules.insert({Rule::moments, Rule::cascade});
    step(Rule::moments, column, body, *value, "about the running mean nothing large cancels");
    return value;
  }
  // A plain sum of differences gains nothing, and what waits may not vary along the wires that are folded.
  bool worth_centring(const Column& column, const Shifted& found) {
    const auto over = within(column.over, free_of(found.body));
    if (std::ranges::find(over, wire_) == over.end()) return false;
    if (!within(column.over, free_of({found.state})).empty() || !within(column.over, free_of(found.offset)).empty())
      return false;
    return found.power > 1 || !plain_weight(found);
  }
  static bool plain_weight(const Shifted& found) { return trivial(found.piece) && found.piece.rounded.empty(); }

  Sum about_mean(const Column& column, const Shifted& found) {
    const auto centre = centre_for(found.body, within(column.over, free_of(found.body)));
    auto along = free_of(found.body);
    along.merge(free_of({found.piece}));
    std::vector<std::optional<ArrayId>> moments;
    for (int power = 0; power <= found.power; ++power)
      moments.push_back(moment_for(column, found, centre, within(column.over, along), moments));
    Term mean;
    mean.factors = {{read_whole(scratch_, found_.centres[centre].mean), 1}};
    const Sum off = add({mean}, found.offset);
    Sum value;
    for (int power = found.power; power >= (off.empty() ? found.power : 0); --power) {
      const auto& moment = moments[static_cast<std::size_t>(power)];
      if (!moment) continue;
      Term term = found.state;
      term.coefficient *= choose(found.power, power);
      term.factors = combined(term.factors, {{read_whole(scratch_, *moment), 1}});
      if (power < found.power)
        term.factors = combined(term.factors, {{algebra_.build(off), static_cast<double>(found.power - power)}});
      for (const auto wire : column.over)
        if (!along.contains(wire)) term.factors = combined(term.factors, size_of(wire));
      value = add(value, {term});
    }
    if (found.rounded) note_cast(*found.piece.cast);
    return value;
  }
  // The moment of the next power after `lower`: none where it is zero.
  std::optional<ArrayId> moment_for(const Column& column, const Shifted& found, std::size_t centre,
                                    const std::vector<WireId>& over, const std::vector<std::optional<ArrayId>>& lower) {
    const auto power = static_cast<int>(lower.size());
    const bool plain = plain_weight(found) && !found.rounded;
    if (plain && power < 2) return power == 0 ? std::optional(found_.centres[centre].count) : std::nullopt;
    Term body = found.piece;
    if (power == 0) {
      if (body.rounded.empty()) body.cast.reset();
      return found_.all[state_for(column, {body}, over, {}, false, false)].array;
    }
    for (const auto& s : found_.all)
      if (s.moment && s.moment->centre == centre && s.moment->power == power && s.moment->rounded == found.rounded &&
          s.over == over && napkin::equal(s.body, Sum{body}))
        return s.array;
    const auto array = state_array(column, {body, found.body[0]}, over, power == found.power);
    is_state(array);
    if (power % 2 == 0 && algebra_.positive(body)) positive_.insert(array);
    found_.all.push_back({array, column.fold, over, {body}, {}, false, Moment{centre, power, found.rounded, lower}});
    return array;
  }
  std::size_t centre_for(const Sum& body, const std::vector<WireId>& over) {
    for (std::size_t i = 0; i < found_.centres.size(); ++i)
      if (found_.centres[i].over == over && napkin::equal(found_.centres[i].body, body)) return i;
    std::vector<WireId> kept;
    for (const auto wire : free_of(body))
      if (std::ranges::find(over, wire) == over.end()) kept.push_back(wire);
    found_.centres.push_back(new_centre(scratch_, body, over, std::move(kept)));
    for (const auto array : {found_.centres.back().count, found_.centres.back().mean}) is_state(array);
    positive_.insert(found_.centres.back().count);
    return found_.centres.size() - 1;
  }
  static std::vector<WireId> within(const std::vector<WireId>& wires, const std::set<WireId>& set) {
    std::vector<WireId> all;
    for (const auto wire : wires)
      if (set.contains(wire)) all.push_back(wire);
    return all;
  }
  Factors size_of(WireId wire) { return {{scratch_.intern(Size{scratch_.at(wire).axis}), 1}}; }

  // ---- max, min, prod ----
  // What does not depend on the piece is joined once, after the last piece.
  void reduce_extreme(const Column& column, const Sum& body) {
    show_written_out(column, body);
    if (body.size() == 1 && (!body[0].exponent.empty() || algebra_.dependence(body[0]).mixed()))
      return reduce_scaled(column, body[0]);
    Sum piece, state;
    for (const auto& term : body) {
      const auto depends = algebra_.dependence(term);
      if (depends.mixed()) return refuse_mixing(column, algebra_.build(term));
      (depends.state ? state : piece).push_back(term);
    }
    if (!state.empty()) {
      found_.rules.insert({Rule::cascade, Rule::invariant});
      step(Rule::cascade, column, body, add(reduction(column, piece), state),
           "what does not vary with the piece moves every term alike");
    }
    const auto [now, later] = parted(column.over, free_of(state));
    const Sum body_now = state.empty() ? algebra_original(column) : piece;
    finish(column, add(carried(column, body_now, now, {}, state.empty()), state), later);
  }
  // prod of u * v: v once for every factor.
  void reduce_product(const Column& column, const Sum& body) {
    if (!algebra_.dependence(body).state)
      return finish(column, carried(column, algebra_original(column), column.over, {}, true), {});
    if (body.size() != 1) return refuse_mixing(column, algebra_.build(body));
    show_written_out(column, body);
    auto separated = algebra_.separate(body[0]);
    if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing);
    auto& [piece, state, shift] = std::get<Algebra::Separated>(separated);
    const auto [now, later] = parted(column.over, free_of({state}));
    std::int64_t terms = 1;
    for (const auto wire : now) {
      if (!scratch_.size(wire))
        return refuse(column,
                      fmt::format("multiplies by `{}` as often as `{}` is long, which is not known",
                                  to_text(scratch_, algebra_.build(state)), scratch_.at(wire).name),
                      fmt::format("give `{}` a size", scratch_.at(wire).name));
      terms *= *scratch_.size(wire);
    }
    found_.rules.insert({Rule::cascade, Rule::invariant});
    const Sum often = {raised(state, static_cast<double>(terms))};
    step(Rule::cascade, column, body, times(reduction(column, {piece}), often[0]),
         "what does not vary with the piece is a factor of every term");
    finish(column, times(carried(column, {piece}, now, {}, false), often[0]), later);
  }
  static Term raised(Term term, double power) {
    term.coefficient = std::pow(term.coefficient, power);
    for (auto& factor : term.factors) factor.second *= power;
    term.exponent = scale(term.exponent, power);
    return term;
  }
  // The wires that are folded with each piece, and those that must wait because what waits varies along them.
  static std::pair<std::vector<WireId>, std::vector<WireId>> parted(const std::vector<WireId>& over,
                                                                    const std::set<WireId>& waiting) {
    std::pair<std::vector<WireId>, std::vector<WireId>> all;
    for (const auto wire : over) (waiting.contains(wire) ? all.second : all.first).push_back(wire);
    return all;
  }
  void finish(const Column& column, const Sum& value, const std::vector<WireId>& later) {
    found_.finished[column.output] = later.empty() ? value : fold_later(column, value, later);
  }
  // A body that is whole keeps the words of the file.
  Sum algebra_original(const Column& column) {
    Term term;
    term.factors = {{column.value, 1}};
    const Sum normal = algebra_.normal(column.value);
    return algebra_.dependence(column.value).state ? normal : Sum{term};
  }
  // max over u * v with v never negative: v waits.
  void reduce_scaled(const Column& column, const Term& term) {
    auto separated = algebra_.separate(term);
    if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing);
    auto& [piece, state, shift] = std::get<Algebra::Separated>(separated);
    if (state.coefficient < 0) piece.coefficient = -1, state.coefficient *= -1;
    if (!algebra_.positive(state))
      return refuse(column,
                    fmt::format("scales by `{}`, which may be negative", to_text(scratch_, algebra_.build(state))),
                    "where it never is, write `abs` around it");
    note_rules({piece}, state);
    step(Rule::cascade, column, {term}, times(reduction(column, {piece}), state),
         "a factor that is never negative keeps the order");
    const auto [now, later] = parted(column.over, free_of({state}));
    if (piece.exponent.empty() || !piece.factors.empty() || piece.cast || piece.coefficient != 1) {
      const auto reference = referenced(column, {piece}, now, !state.exponent.empty());
      return finish(column, times(carried(column, {piece}, now, reference, false), state), later);
    }
    // The exponential grows with its exponent: the extreme of one is that of the other.
    state.exponent = add(state.exponent, carried(column, piece.exponent, now, {}, false));
    finish(column, {state}, later);
  }

  // ---- states ----
  void is_state(ArrayId array) {
    found_.arrays.insert(array);
    kinds_.add_state(array);
  }
  std::optional<Reference> referenced(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                      bool needed) {
    const auto found = reference_for(piece, over, needed);
    if (found) {
      Term relative = piece[0], greatest;
      greatest.coefficient = found->ratio;
      greatest.factors = {{read_whole(scratch_, found_.all[found->state].array), 1}};
      relative.exponent = add(relative.exponent, scale({greatest}, -1));
      Term after = reduction(column, {relative})[0];
      after.exponent = {greatest};
      note_step(Rule::cascade, column, algebra_.build(reduction(column, piece)), algebra_.build(after),
                "kept relative to the running maximum of its exponent it cannot overflow");
    }
    return found;
  }
  std::optional<Reference> reference_for(const Sum& piece, const std::vector<WireId>& over, bool needed) {
    if (piece.size() != 1 || piece[0].exponent.empty()) return {};
    const Sum& exponent = piece[0].exponent;
    const auto free = free_of(exponent);
    std::vector<WireId> along;
    for (const auto wire : over)
      if (free.contains(wire)) along.push_back(wire);
    if (!free.contains(wire_) || std::ranges::find(over, wire_) == over.end()) return {};
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      if (found_.all[i].reduction->name != "max" || found_.all[i].reference || found_.all[i].over != along) continue;
      if (const auto ratio = positive_ratio(written_out(found_.all[i].body), exponent)) return Reference{i, *ratio};
    }
    const auto text = to_text(scratch_, algebra_.build(exponent));
    if (std::ranges::find(learnt_.unreferenced, text) != learnt_.unreferenced.end()) return {};
    return add_reference(exponent, along, free, needed);
  }
  Sum written_out(const Sum& body) {
    if (body.size() == 1 && body[0].coefficient == 1 && body[0].factors.size() == 1 && body[0].factors[0].second == 1 &&
        body[0].exponent.empty() && !body[0].cast)
      return algebra_.normal(body[0].factors[0].first);
    return body;
  }
  // `needed`: the file subtracts something from the exponent, so that leaving the maximum out could overflow where the
  // file does not.
  Reference add_reference(const Sum& exponent, const std::vector<WireId>& over, const std::set<WireId>& free,
                          bool needed) {
    std::vector<WireId> kept(free.begin(), free.end());
    std::erase_if(kept, [&](WireId w) { return std::ranges::find(over, w) != over.end(); });
    const auto* greatest = find_reduction("max");
    const auto array = new_array(scratch_, std::string(greatest->state_name), Datatype::f32, std::move(kept));
    is_state(array);
    found_.all.push_back({array, greatest, over, exponent, {}, !needed});
    return {found_.all.size() - 1, 1};
  }

  // The value, at finish, of the fold of a piece-determined body: a state, new or shared, times its exponential.
  Sum carried(const Column& column, const Sum& body, const std::vector<WireId>& over,
              std::optional<Reference> reference, bool direct) {
    const auto index = state_for(column, body, over, reference, direct);
    Term term;
    term.factors = {{read_whole(scratch_, found_.all[index].array), 1}};
    if (reference) {
      found_.rules.insert(Rule::cascade);
      Term maximum;
      maximum.coefficient = reference->ratio;
      maximum.factors = {{read_whole(scratch_, found_.all[reference->state].array), 1}};
      term.exponent = {maximum};
    }
    return {term};
  }
  std::size_t state_for(const Column& column, const Sum& body, const std::vector<WireId>& over,
                        std::optional<Reference> reference, bool direct, bool named = true) {
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      const auto& s = found_.all[i];
      const bool alike = s.reduction == column.fold && s.over == over && s.reference == reference && !s.moment;
      if (alike && napkin::equal(s.body, body)) return i;
    }
    const auto array = direct ? column.output : state_array(column, body, over, named);
    is_state(array);
    if (column.fold->combine->role == Role::add &&
        std::ranges::all_of(body, [&](const Term& t) { return algebra_.positive(t); }))
      positive_.insert(array);
    found_.all.push_back({array, column.fold, over, body, reference, false});
    return found_.all.size() - 1;
  }
  // `named`: after the column, if no other state is.
  ArrayId state_array(const Column& column, const Sum& body, const std::vector<WireId>& over, bool named) {
    auto wires = scratch_.at(column.output).wires;
    const auto free = free_of(body);
    std::erase_if(wires, [&](WireId w) { return !free.contains(w); });
    for (const auto wire : free)
      if (std::ranges::find(over, wire) == over.end() && std::ranges::find(wires, wire) == wires.end())
        wires.push_back(wire);
    const auto name = scratch_.at(column.output).name;
    const bool taken =
        std::ranges::any_of(found_.all, [&](const State& s) { return scratch_.at(s.array).name == name; });
    if (taken || !named)
      return new_array(scratch_, std::string(column.fold->state_name), accumulator(type(column)), std::move(wires));
    scratch_.arrays.push_back({name, accumulator(type(column)), std::move(wires), {}, {}});
    return {static_cast<std::uint32_t>(scratch_.arrays.size() - 1)};
  }
  Datatype type(const Column& column) const { return scratch_.at(column.output).type; }
  std::set<WireId> free_of(const Sum& sum) {
    const auto all = free_wires(scratch_, algebra_.build(sum));
    return {all.begin(), all.end()};
  }
  void note_rules(const Sum& piece, const Term& state) {
    if (algebra_.dependence(state).state)
      found_.rules.insert({Rule::cascade, Rule::invariant});
    else if (!trivial(state))
      found_.rules.insert(Rule::invariant);
    for (const auto& term : piece)
      if (term.cast && algebra_.dependence(term).piece) found_.rules.insert(Rule::cast), note_cast(*term.cast);
  }
  void note_cast(Datatype cast) {
    const auto text = fmt::format("rounds the piece to {}, not the finished value", row(cast).name);
    auto& notes = found_.notes;
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
  }

  // ---- the trace ----
  // The fold of a part of a column's body, to be shown.
  Sum reduction(const Column& column, const Sum& body) {
    Term term;
    term.factors = {{scratch_.intern(Reduce{column.fold, column.over, algebra_.build(body)}), 1}};
    return {term};
  }
  void step(Rule rule, const Column& column, const Sum& before, const Sum& after, std::string why) {
    const ExprId old = scratch_.intern(Reduce{column.fold, column.over, algebra_.build(before)});
    note_step(rule, column, old, algebra_.build(after), std::move(why));
  }
  void show_written_out(const Column& column, const Sum& body) {
    if (!algebra_.dependence(body).state) return;
    const ExprId now = scratch_.intern(Reduce{column.fold, column.over, algebra_.build(body)});
    note_step(Rule::composition, column, as_expression(scratch_, column), now,
              "what mixes pieces and finished reductions is written out");
  }
  void note_step(Rule rule, const Column& column, ExprId before, ExprId after, std::string why) {
    if (before != after) found_.trace.push_back({rule, column.output, before, after, std::move(why)});
  }

  // ---- refusals ----
  void refuse(const Column& column, const std::string& why, const std::string& mend = "") {
    if (!found_.refused) found_.refused = refused_fold(scratch_, column, wire_, why, mend);
  }
  void refuse_mixing(const Column& column, ExprId mixing) {
    if (!found_.refused) found_.refused = refused_mixing(scratch_, algebra_, column, wire_, kinds_, mixing);
  }
  void check_needed() {
    for (std::size_t i = 0; i < columns_.size() && !found_.refused; ++i)
      if (found_.kinds[i] == ColumnKind::mixed && needed_.contains(columns_[i].output))
        found_.refused = refused_kept(scratch_, columns_[i], wire_, kinds_);
  }

  Diagram& scratch_;
  const std::vector<Column>& columns_;
  WireId wire_;
  const std::set<ArrayId>& needed_;
  const Learnt& learnt_;
  Algebra algebra_;
  Kinds kinds_;

  std::map<ArrayId, const Column*> producer_;
  std::set<ArrayId> positive_;
  bool writes_exponentials_ = true;
  States found_;
};

}  // namespace

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const Learnt& learnt) {
  return Analysis(scratch, columns, wire, needed, learnt).run();
}

std::string centre_key(Diagram& scratch, Algebra& algebra, const Sum& body, const std::vector<WireId>& over) {
  std::string key = to_text(scratch, algebra.build(body));
  for (const auto wire : over) key += " " + scratch.at(wire).name;
  return key;
}

}  // namespace napkin
