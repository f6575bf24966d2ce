// Derives how columns stream along one wire (rules S1 to S6 of docs/theory.md).
//
// Columns fall into kinds: those the piece alone determines; reductions over the wire; those that only finished
// reductions determine; and mixed ones, which are not computed at all but written out inside the reductions that
// read them. Each reduction's body is separated into u(piece) * v(state): u is accumulated, v waits for finish.
// Sums of exponentials are kept relative to the running maximum of their exponent, and a change of that maximum
// repairs them by a factor.
#include "derive/absorb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "derive/algebra.hpp"
#include "diagram/match.hpp"

namespace napkin {
namespace {

enum class Kind { free, piece, reduction, finish, mixed };

// A maximum that sums of exponentials are kept relative to: exponent = value of `array` * `ratio`.
struct Reference {
  std::size_t state;
  double ratio = 1;
};

struct State {
  ArrayId array;
  const Reduction* reduction;
  std::vector<WireId> over;
  Sum body;  // what is folded; with a reference its exponent is taken relative to it
  std::optional<Reference> reference;
  bool added = false;  // a maximum that the file did not ask for
};

class Absorber {
 public:
  Absorber(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
           std::vector<std::string> unreferenced)
      : scratch_(scratch),
        columns_(columns),
        wire_(wire),
        needed_(needed),
        unreferenced_(std::move(unreferenced)),
        algebra_(scratch,
                 {wire, [this](const Access& a) { return dependence(a); }, [this](ExprId e) { return definition(e); },
                  [this](ArrayId a) { return positive_.contains(a); }}) {}

  std::variant<Absorbed, Refused> run() {
    classify();
    for (std::size_t i = 0; i < columns_.size() && !refused_; ++i) derive(i);
    if (!refused_) check_needed();
    if (refused_) return *refused_;
    emit();
    return std::move(result_);
  }
  // Exponents whose added maximum does not cancel in what is needed, so that carrying it buys nothing.
  std::vector<std::string> useless_references() {
    std::vector<std::string> all;
    for (const auto& state : states_)
      if (state.added && !refused_ && leaks(state.array)) all.push_back(to_text(scratch_, algebra_.build(state.body)));
    return all;
  }

 private:
  // ---- what kind of column each is ----
  void classify() {
    for (const auto& column : columns_) producer_[column.output] = &column;
    for (std::size_t i = 0; i < columns_.size(); ++i) kinds_.push_back(kind(columns_[i]));
  }
  Kind kind(const Column& column) {
    const auto& kept = scratch_.at(column.output).wires;
    const bool keeps = std::ranges::find(kept, wire_) != kept.end();
    const bool folds = std::ranges::find(column.over, wire_) != column.over.end();
    const auto depends = algebra_.dependence(column.value) | carried_dependence(column);
    if (folds) return states_of_.insert(column.output), Kind::reduction;
    if (keeps && depends.state) return mixed_.insert(column.output), Kind::mixed;
    if (keeps || depends.piece) return pieces_.insert(column.output), Kind::piece;
    if (depends.state) return states_of_.insert(column.output), Kind::finish;
    return Kind::free;
  }
  Dependence carried_dependence(const Column& column) const {
    Dependence all;
    if (column.repair) all = algebra_.dependence(*column.repair);
    if (column.carried && states_of_.contains(*column.carried)) all.state = true;
    return all;
  }
  Dependence dependence(const Access& access) const {
    const bool at_piece = std::ranges::any_of(access.at, [&](const Index& index) {
      return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire_; });
    });
    const bool state =
        states_of_.contains(access.array) || mixed_.contains(access.array) || state_arrays_.contains(access.array);
    // A piece read at anything but its own place may lie in another piece: only finished arrays have it.
    const bool elsewhere = pieces_.contains(access.array) && !own_place(access);
    return {at_piece, state || elsewhere};
  }
  bool own_place(const Access& access) const {
    const auto& wires = scratch_.at(access.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (wires[i] == wire_ && access.at[i] != Index{{{wire_, 1}}, 0, 1}) return false;
    return true;
  }

  // What stands in place of a read: the definition of a mixed column, the finished value of a reduction.
  std::optional<Sum> definition(ExprId e) {
    const auto access = std::get<Access>(scratch_.at(e).node);
    if (const auto found = finished_.find(access.array); found != finished_.end() && whole(access))
      return found->second;
    if (!whole(access)) return {};
    if (mixed_.contains(access.array)) return defined(*producer_.at(access.array));
    return pieces_.contains(access.array) ? exponential(*producer_.at(access.array)) : std::nullopt;
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
  bool whole(const Access& access) const {
    const auto& wires = scratch_.at(access.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (access.at[i] != Index{{{wires[i], 1}}, 0, 1}) return false;
    return true;
  }

  // ---- one column at a time ----
  void derive(std::size_t i) {
    const auto& column = columns_[i];
    if (kinds_[i] == Kind::reduction) reduce(column);
    if (kinds_[i] == Kind::finish && !column.fold && !column.carried)
      if (const auto sum = defined(column)) finished_[column.output] = *sum;
  }
  void reduce(const Column& column) {
    if (column.carried) return refuse(column, "is carried along another streamed axis already");
    const auto& reduction = *column.fold;
    const Sum body = algebra_.normal(column.value);
    if (reduction.combine->role == Role::add) return reduce_sum(column, body);
    reduce_extreme(column, body);
  }

  // Sum: terms with the same v and the same exponential share one state each.
  void reduce_sum(const Column& column, const Sum& body) {
    struct Share {
      Sum piece;
      Term state;
    };
    std::vector<Share> shares;
    for (const auto& term : body) {
      auto separated = algebra_.separate(term);
      if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing);
      auto& [piece, state] = std::get<Algebra::Separated>(separated);
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
    Sum finished;
    const bool single = shares.size() == 1;
    for (auto& [piece, state] : shares) {
      if (piece.size() == 1) state.coefficient = std::exchange(piece[0].coefficient, 1);
      note_rules(piece, state);
      finished = add(finished, folded(column, piece, state, single));
    }
    finished_[column.output] = finished;
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
        state.factors = combined(state.factors, {{scratch_.intern(Size{scratch_.at(wire).axis}), 1}});
    }
    Sum value = {state};
    if (!now.empty()) {
      const auto reference = referenced(piece, now, !state.exponent.empty());
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
    late_folds_.push_back({array, algebra_.build(value), column.fold, over, {}, {}});
    state_arrays_.insert(array);
    Term term;
    term.factors = {{read_whole(scratch_, array), 1}};
    return {term};
  }

  // max, min, prod: what does not depend on the piece is joined once, after the last piece.
  void reduce_extreme(const Column& column, const Sum& body) {
    const bool product = column.fold->combine->role == Role::multiply;
    if (body.size() == 1 && algebra_.dependence(body[0]).mixed() && !product) return reduce_scaled(column, body[0]);
    Sum piece, state;
    for (const auto& term : body) {
      const auto depends = algebra_.dependence(term);
      if (depends.mixed()) return refuse_mixing(column, algebra_.build(term));
      (depends.state ? state : piece).push_back(term);
    }
    if (product && !state.empty()) return refuse(column, "multiplies pieces with a finished reduction");
    if (!state.empty()) rules_.insert({Rule::cascade, Rule::invariant});
    const Sum value = state.empty() ? algebra_original(column) : piece;
    finished_[column.output] = add(carried(column, value, column.over, {}, state.empty()), state);
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
    auto& [piece, state] = std::get<Algebra::Separated>(separated);
    if (state.coefficient < 0) piece.coefficient = -1, state.coefficient *= -1;
    if (!algebra_.positive(state))
      return refuse(column,
                    fmt::format("scales by `{}`, which may be negative", to_text(scratch_, algebra_.build(state))));
    note_rules({piece}, state);
    const auto reference = referenced({piece}, column.over, !state.exponent.empty());
    finished_[column.output] = times(carried(column, {piece}, column.over, reference, false), state);
  }

  // ---- states ----
  std::optional<Reference> referenced(const Sum& piece, const std::vector<WireId>& over, bool needed) {
    if (piece.size() != 1 || piece[0].exponent.empty()) return {};
    const Sum& exponent = piece[0].exponent;
    const auto free = free_of(exponent);
    std::vector<WireId> along;
    for (const auto wire : over)
      if (free.contains(wire)) along.push_back(wire);
    if (!free.contains(wire_) || std::ranges::find(over, wire_) == over.end()) return {};
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].reduction->name != "max" || states_[i].reference || states_[i].over != along) continue;
      if (const auto ratio = positive_ratio(written_out(states_[i].body), exponent)) return Reference{i, *ratio};
    }
    if (std::ranges::find(unreferenced_, to_text(scratch_, algebra_.build(exponent))) != unreferenced_.end()) return {};
    return add_reference(exponent, along, free, needed);
  }
  Sum written_out(const Sum& body) {
    if (body.size() == 1 && body[0].factors.size() == 1 && body[0].factors[0].second == 1 && body[0].exponent.empty())
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
    state_arrays_.insert(array);
    states_.push_back({array, greatest, over, exponent, {}, !needed});
    return {states_.size() - 1, 1};
  }

  // The value, at finish, of the fold of a piece-determined body: a state, new or shared, times its exponential.
  Sum carried(const Column& column, const Sum& body, const std::vector<WireId>& over,
              std::optional<Reference> reference, bool direct) {
    const auto index = state_for(column, body, over, reference, direct);
    Term term;
    term.factors = {{read_whole(scratch_, states_[index].array), 1}};
    if (reference) {
      rules_.insert(Rule::cascade);
      Term maximum;
      maximum.coefficient = reference->ratio;
      maximum.factors = {{read_whole(scratch_, states_[reference->state].array), 1}};
      term.exponent = {maximum};
    }
    return {term};
  }
  std::size_t state_for(const Column& column, const Sum& body, const std::vector<WireId>& over,
                        std::optional<Reference> reference, bool direct) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const auto& s = states_[i];
      if (s.reduction == column.fold && s.over == over && napkin::equal(s.body, body)) return i;
    }
    const auto array = direct ? column.output : state_array(column, body, over);
    state_arrays_.insert(array);
    if (column.fold->combine->role == Role::add &&
        std::ranges::all_of(body, [&](const Term& t) { return algebra_.positive(t); }))
      positive_.insert(array);
    states_.push_back({array, column.fold, over, body, reference, false});
    return states_.size() - 1;
  }
  ArrayId state_array(const Column& column, const Sum& body, const std::vector<WireId>& over) {
    auto wires = scratch_.at(column.output).wires;
    const auto free = free_of(body);
    std::erase_if(wires, [&](WireId w) { return !free.contains(w); });
    for (const auto wire : free)
      if (std::ranges::find(over, wire) == over.end() && std::ranges::find(wires, wire) == wires.end())
        wires.push_back(wire);
    const auto name = scratch_.at(column.output).name;
    const bool taken = std::ranges::any_of(states_, [&](const State& s) { return scratch_.at(s.array).name == name; });
    if (taken)
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
      rules_.insert({Rule::cascade, Rule::invariant});
    else if (!trivial(state))
      rules_.insert(Rule::invariant);
    for (const auto& term : piece)
      if (term.cast && algebra_.dependence(term).piece) rules_.insert(Rule::cast), note_cast(*term.cast);
  }
  void note_cast(Datatype cast) {
    const auto text = fmt::format("rounds the piece to {}, not the finished value", row(cast).name);
    auto& notes = result_.programs.notes;
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
  }

  // ---- refusals ----
  void refuse(const Column& column, const std::string& why) {
    if (refused_) return;
    const auto& axis = scratch_.at(wire_).name;
    refused_ = Refused{fmt::format("`{}` reduces over `{}` and {}", scratch_.at(column.output).name, axis, why),
                       scratch_.at(column.value).span};
  }
  void refuse_mixing(const Column& column, ExprId mixing) {
    refuse(column, fmt::format("cannot be taken apart: `{}` mixes a piece of `{}` with a finished reduction over it",
                               to_text(scratch_, mixing), scratch_.at(wire_).name));
  }
  void check_needed() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (kinds_[i] == Kind::mixed && needed_.contains(columns_[i].output)) return refuse_kept(columns_[i]);
  }
  void refuse_kept(const Column& column) {
    const auto& name = scratch_.at(column.output).name;
    const auto& axis = scratch_.at(wire_).name;
    refused_ = Refused{fmt::format("`{0}` keeps `{1}` but needs all of it first; fuse it with a statement that reduces "
                                   "`{1}`, or keep `{1}` whole",
                                   name, axis),
                       scratch_.at(column.value).span};
  }

  // ---- the four programs ----
  void emit() {
    auto& to = result_.programs;
    emit_pieces();
    emit_states();
    emit_finish();
    std::set<ArrayId> read = needed_;
    for (const auto* list : {&to.absorb, &to.finish})
      for (const auto& column : *list)
        for (const auto array : reads(scratch_, column)) read.insert(array);
    drop_unused(scratch_, to.piece, read);
    for (const auto& column : to.piece)
      for (const auto array : reads(scratch_, column)) read.insert(array);
    split_free(read);
    name_rules();
  }
  void emit_pieces() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (kinds_[i] == Kind::piece) result_.programs.piece.push_back(columns_[i]);
  }
  void emit_states() {
    auto& to = result_.programs;
    std::map<std::size_t, ArrayId> newer;
    std::map<std::pair<std::size_t, double>, std::array<ArrayId, 3>> repairs;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      to.state.push_back({states_[i].array, states_[i].reduction});
      to.init.push_back(
          {states_[i].array, scratch_.intern(Constant{states_[i].reduction->identity}), nullptr, {}, {}, {}});
      to.other.push_back(twin(states_[i].array, "'"));
    }
    for (const auto& state : states_)
      if (state.reference) newer.emplace(state.reference->state, ArrayId{});
    for (auto& [index, array] : newer) emit_maximum(index, array);
    std::vector<Column> repaired;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (!newer.contains(i)) emit_state(i, newer, repairs);
    for (const auto& [index, array] : newer) {
      const Column update{states_[index].array, read_whole(scratch_, array), nullptr, {}, {}, {}};
      to.absorb.push_back(update);
      to.merge.push_back(update);
    }
    to.absorb = tidy(scratch_, std::move(to.absorb));
  }
  void emit_maximum(std::size_t index, ArrayId& array) {
    auto& to = result_.programs;
    const auto& state = states_[index];
    array = new_array(scratch_, "n", scratch_.at(state.array).type, scratch_.at(state.array).wires);
    to.absorb.push_back({array, algebra_.build(state.body), state.reduction, state.over, state.array, {}});
    to.merge.push_back({array, join(state.reduction, state.array, to.other[index]), nullptr, {}, {}, {}});
  }
  void emit_state(std::size_t i, const std::map<std::size_t, ArrayId>& newer,
                  std::map<std::pair<std::size_t, double>, std::array<ArrayId, 3>>& repairs) {
    auto& to = result_.programs;
    const auto& state = states_[i];
    if (!state.reference) {
      to.absorb.push_back({state.array, algebra_.build(state.body), state.reduction, state.over, state.array, {}});
      to.merge.push_back({state.array, join(state.reduction, state.array, to.other[i]), nullptr, {}, {}, {}});
      return;
    }
    const auto key = std::pair{state.reference->state, state.reference->ratio};
    if (!repairs.contains(key)) repairs[key] = emit_repair(*state.reference, newer.at(key.first));
    const auto& [mine, theirs, unused] = repairs.at(key);
    const ExprId repair = read_whole(scratch_, mine);
    to.absorb.push_back(
        {state.array, relative(state, newer.at(key.first)), state.reduction, state.over, state.array, repair});
    const auto scaled = [&](ExprId factor, ArrayId array) {
      return algebra_.apply("*", {factor, read_whole(scratch_, array)});
    };
    const ExprId merged =
        algebra_.apply(state.reduction->combine->name,
                       {scaled(repair, state.array), scaled(read_whole(scratch_, theirs), to.other[i])});
    to.merge.push_back({state.array, merged, nullptr, {}, {}, {}});
  }
  // r = exp(old - new), for the state and, in merge, for the other one.
  std::array<ArrayId, 3> emit_repair(const Reference& reference, ArrayId newer) {
    auto& to = result_.programs;
    const auto array = states_[reference.state].array;
    const auto mine = new_array(scratch_, "r", scratch_.at(array).type, scratch_.at(array).wires);
    const auto theirs = twin(mine, "'");
    const auto factor = [&](ArrayId old) {
      return algebra_.apply("expdiff", {level(old, reference.ratio), level(newer, reference.ratio)});
    };
    to.absorb.push_back({mine, factor(array), nullptr, {}, {}, {}});
    to.merge.push_back({mine, factor(array), nullptr, {}, {}, {}});
    to.merge.push_back({theirs, factor(to.other[reference.state]), nullptr, {}, {}, {}});
    return {mine, theirs, array};
  }
  ExprId level(ArrayId maximum, double ratio) {
    const ExprId read = read_whole(scratch_, maximum);
    return ratio == 1 ? read : algebra_.apply("*", {scratch_.intern(Constant{ratio}), read});
  }
  // u with exp(g) written exp(g - maximum).
  ExprId relative(const State& state, ArrayId newer) {
    Term term = state.body[0];
    const ExprId weight = algebra_.apply(
        "expdiff", {algebra_.build(std::exchange(term.exponent, {})), level(newer, state.reference->ratio)});
    Factors& factors = term.cast ? term.rounded : term.factors;
    factors.push_back({weight, 1});
    std::ranges::sort(factors);
    return algebra_.build(term);
  }
  ExprId join(const Reduction* reduction, ArrayId a, ArrayId b) {
    return algebra_.apply(reduction->combine->name, {read_whole(scratch_, a), read_whole(scratch_, b)});
  }
  ArrayId twin(ArrayId array, const char* mark) {
    auto copy = scratch_.at(array);
    copy.name += mark;
    scratch_.arrays.push_back(std::move(copy));
    return {static_cast<std::uint32_t>(scratch_.arrays.size() - 1)};
  }
  void emit_finish() {
    auto& finish = result_.programs.finish;
    for (auto& column : late_folds_) finish.push_back(std::move(column));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto& column = columns_[i];
      if (kinds_[i] != Kind::reduction && kinds_[i] != Kind::finish) continue;
      const auto found = finished_.find(column.output);
      if (found == finished_.end()) {
        finish.push_back(column);
      } else if (!state_arrays_.contains(column.output)) {
        finish.push_back({column.output, stored(column.output, algebra_.build(found->second)), nullptr, {}, {}, {}});
      }
    }
    drop_unused(scratch_, finish, needed_);
    finish = tidy(scratch_, std::move(finish));
  }
  // Storing rounds already.
  ExprId stored(ArrayId output, ExprId value) const {
    const auto* cast = std::get_if<Cast>(&scratch_.at(value).node);
    return cast && cast->type == scratch_.at(output).type ? cast->value : value;
  }
  // Columns free of the wire: in front of the loop if a piece needs them, else after it.
  void split_free(std::set<ArrayId> read_inside) {
    auto& to = result_.programs;
    read_inside.clear();
    for (const auto* list : {&to.piece, &to.absorb})
      for (const auto& column : *list)
        for (const auto array : reads(scratch_, column)) read_inside.insert(array);
    std::vector<Column> after;
    std::vector<bool> early(columns_.size());
    for (std::size_t i = columns_.size(); i-- > 0;) {
      early[i] = kinds_[i] == Kind::free && read_inside.contains(columns_[i].output);
      if (early[i])
        for (const auto array : reads(scratch_, columns_[i])) read_inside.insert(array);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (kinds_[i] == Kind::free) (early[i] ? result_.before : after).push_back(columns_[i]);
    to.finish.insert(to.finish.begin(), after.begin(), after.end());
    drop_unused(scratch_, to.finish, needed_);
  }
  void name_rules() {
    auto& to = result_.programs;
    const bool reduces = !states_.empty();
    if (!reduces)
      rules_ = {Rule::weave};
    else if (!rules_.contains(Rule::cascade) && !rules_.contains(Rule::invariant))
      rules_.insert(Rule::reduction);
    if (reduces && !to.piece.empty()) rules_.insert(Rule::composition);
    const bool finishes = std::ranges::any_of(to.finish, [&](const Column& c) {
      return c.fold || !std::holds_alternative<Access>(scratch_.at(c.value).node);
    });
    if (reduces && finishes && !rules_.contains(Rule::invariant)) rules_.insert(Rule::finish);
    to.rules.assign(rules_.begin(), rules_.end());
    result_.rules = rules_;
  }
  // True where a finished value still holds the exponential of an added maximum.
  bool leaks(ArrayId maximum) const {
    return std::ranges::any_of(result_.programs.finish,
                               [&](const Column& c) { return leaks(c.value, maximum, false); });
  }
  bool leaks(ExprId e, ArrayId maximum, bool inside) const {
    const auto* access = std::get_if<Access>(&scratch_.at(e).node);
    if (access) return inside && access->array == maximum;
    if (const auto* cast = std::get_if<Cast>(&scratch_.at(e).node)) return leaks(cast->value, maximum, inside);
    const auto* apply = std::get_if<Apply>(&scratch_.at(e).node);
    if (!apply) return false;
    const bool exponential = inside || apply->function->role == Role::exponential;
    return std::ranges::any_of(apply->arguments, [&](ExprId a) { return leaks(a, maximum, exponential); });
  }

  Diagram& scratch_;
  const std::vector<Column>& columns_;
  WireId wire_;
  const std::set<ArrayId>& needed_;
  std::vector<std::string> unreferenced_;
  Algebra algebra_;

  std::vector<Kind> kinds_;
  std::map<ArrayId, const Column*> producer_;
  std::set<ArrayId> states_of_, mixed_, pieces_;  // arrays by what they depend on
  std::set<ArrayId> state_arrays_, positive_;
  std::map<ArrayId, Sum> finished_;  // the value of a reduction after the last piece
  std::vector<State> states_;
  std::vector<Column> late_folds_;
  std::set<Rule> rules_;
  std::optional<Refused> refused_;
  Absorbed result_;
};

// The columns that a column's value comes from, itself included.
std::set<ArrayId> sources(const Diagram& diagram, const std::vector<Column>& columns, const Column& of) {
  std::set<ArrayId> all{of.output};
  for (auto column = columns.rbegin(); column != columns.rend(); ++column)
    if (all.contains(column->output))
      for (const auto array : reads(diagram, *column)) all.insert(array);
  return all;
}

}  // namespace

std::variant<Absorbed, Refused> absorb(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                       const std::set<ArrayId>& needed) {
  Diagram first = scratch;
  Absorber eager(first, columns, wire, needed, {});
  auto result = eager.run();
  const auto useless = eager.useless_references();
  if (useless.empty()) {
    scratch = std::move(first);
    return result;
  }
  return Absorber(scratch, columns, wire, needed, useless).run();
}

int passes(const Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed) {
  std::map<ArrayId, int> finished;  // the sweep after which a reduction over the wire is there
  int most = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    if (!involves(scratch, column, wire)) continue;
    int before = 0;
    for (const auto array : sources(scratch, columns, column))
      if (const auto found = finished.find(array); found != finished.end()) before = std::max(before, found->second);
    const bool folds = std::ranges::find(column.over, wire) != column.over.end();
    int sweep = before + 1;
    if (folds) {
      Diagram copy = scratch;
      const std::vector<Column> upto(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (std::holds_alternative<Absorbed>(absorb(copy, upto, wire, {column.output}))) sweep = 1;
      finished[column.output] = sweep;
    }
    if (folds || needed.contains(column.output)) most = std::max(most, sweep);
  }
  return std::max(most, 1);
}

}  // namespace napkin
