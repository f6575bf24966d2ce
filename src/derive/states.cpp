// Separates the bodies of reductions and names what is carried; see states.hpp.
#include "derive/states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace napkin {
namespace {

class Analysis {
 public:
  Analysis(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
           const std::vector<std::string>& unreferenced)
      : scratch_(scratch),
        columns_(columns),
        wire_(wire),
        needed_(needed),
        unreferenced_(unreferenced),
        algebra_(scratch,
                 {wire, [this](const Access& a) { return dependence(a); }, [this](ExprId e) { return definition(e); },
                  [this](ArrayId a) { return positive_.contains(a); }}) {}

  States run() {
    classify();
    for (std::size_t i = 0; i < columns_.size() && !found_.refused; ++i) derive(i);
    if (!found_.refused) check_needed();
    return std::move(found_);
  }

 private:
  // ---- what kind of column each is ----
  void classify() {
    for (const auto& column : columns_) producer_[column.output] = &column;
    for (std::size_t i = 0; i < columns_.size(); ++i) found_.kinds.push_back(kind(columns_[i]));
  }
  ColumnKind kind(const Column& column) {
    const auto& kept = scratch_.at(column.output).wires;
    const bool keeps = std::ranges::find(kept, wire_) != kept.end();
    const bool folds = std::ranges::find(column.over, wire_) != column.over.end();
    const auto depends = algebra_.dependence(column.value) | carried_dependence(column);
    if (folds) return states_of_.insert(column.output), ColumnKind::reduction;
    if (keeps && depends.state) return mixed_.insert(column.output), ColumnKind::mixed;
    if (keeps || depends.piece) return pieces_.insert(column.output), ColumnKind::piece;
    if (depends.state) return states_of_.insert(column.output), ColumnKind::finish;
    return ColumnKind::free;
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
        states_of_.contains(access.array) || mixed_.contains(access.array) || found_.arrays.contains(access.array);
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
    if (const auto found = found_.finished.find(access.array); found != found_.finished.end() && whole(access))
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
    if (found_.kinds[i] == ColumnKind::reduction) reduce(column);
    if (found_.kinds[i] == ColumnKind::finish && !column.fold && !column.carried)
      if (const auto sum = defined(column)) found_.finished[column.output] = *sum;
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
    Sum finished;
    const bool single = shares.size() == 1;
    for (auto& [piece, state] : shares) {
      if (piece.size() == 1) state.coefficient = std::exchange(piece[0].coefficient, 1);
      note_rules(piece, state);
      finished = add(finished, folded(column, piece, state, single));
    }
    found_.finished[column.output] = finished;
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
    found_.late_folds[column.output].push_back({array, algebra_.build(value), column.fold, over, {}, {}});
    found_.arrays.insert(array);
    Term term;
    term.factors = {{read_whole(scratch_, array), 1}};
    return {term};
  }

  // max, min, prod: what does not depend on the piece is joined once, after the last piece.
  void reduce_extreme(const Column& column, const Sum& body) {
    const bool product = column.fold->combine->role == Role::multiply;
    if (body.size() == 1 && !product && (!body[0].exponent.empty() || algebra_.dependence(body[0]).mixed()))
      return reduce_scaled(column, body[0]);
    Sum piece, state;
    for (const auto& term : body) {
      const auto depends = algebra_.dependence(term);
      if (depends.mixed()) return refuse_mixing(column, algebra_.build(term));
      (depends.state ? state : piece).push_back(term);
    }
    if (product && !state.empty()) return refuse(column, "multiplies pieces with a finished reduction");
    if (!state.empty()) found_.rules.insert({Rule::cascade, Rule::invariant});
    const auto [now, later] = parted(column.over, free_of(state));
    const Sum body_now = state.empty() ? algebra_original(column) : piece;
    finish(column, add(carried(column, body_now, now, {}, state.empty()), state), later);
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
    auto& [piece, state] = std::get<Algebra::Separated>(separated);
    if (state.coefficient < 0) piece.coefficient = -1, state.coefficient *= -1;
    if (!algebra_.positive(state))
      return refuse(column,
                    fmt::format("scales by `{}`, which may be negative", to_text(scratch_, algebra_.build(state))));
    note_rules({piece}, state);
    const auto [now, later] = parted(column.over, free_of({state}));
    if (piece.exponent.empty() || !piece.factors.empty() || piece.cast || piece.coefficient != 1) {
      const auto reference = referenced({piece}, now, !state.exponent.empty());
      return finish(column, times(carried(column, {piece}, now, reference, false), state), later);
    }
    // The exponential grows with its exponent: the extreme of one is that of the other.
    state.exponent = add(state.exponent, carried(column, piece.exponent, now, {}, false));
    finish(column, {state}, later);
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
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      if (found_.all[i].reduction->name != "max" || found_.all[i].reference || found_.all[i].over != along) continue;
      if (const auto ratio = positive_ratio(written_out(found_.all[i].body), exponent)) return Reference{i, *ratio};
    }
    if (std::ranges::find(unreferenced_, to_text(scratch_, algebra_.build(exponent))) != unreferenced_.end()) return {};
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
    found_.arrays.insert(array);
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
                        std::optional<Reference> reference, bool direct) {
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      const auto& s = found_.all[i];
      if (s.reduction == column.fold && s.over == over && napkin::equal(s.body, body)) return i;
    }
    const auto array = direct ? column.output : state_array(column, body, over);
    found_.arrays.insert(array);
    if (column.fold->combine->role == Role::add &&
        std::ranges::all_of(body, [&](const Term& t) { return algebra_.positive(t); }))
      positive_.insert(array);
    found_.all.push_back({array, column.fold, over, body, reference, false});
    return found_.all.size() - 1;
  }
  ArrayId state_array(const Column& column, const Sum& body, const std::vector<WireId>& over) {
    auto wires = scratch_.at(column.output).wires;
    const auto free = free_of(body);
    std::erase_if(wires, [&](WireId w) { return !free.contains(w); });
    for (const auto wire : free)
      if (std::ranges::find(over, wire) == over.end() && std::ranges::find(wires, wire) == wires.end())
        wires.push_back(wire);
    const auto name = scratch_.at(column.output).name;
    const bool taken =
        std::ranges::any_of(found_.all, [&](const State& s) { return scratch_.at(s.array).name == name; });
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

  // ---- refusals ----
  void refuse(const Column& column, const std::string& why) {
    if (found_.refused) return;
    const auto& axis = scratch_.at(wire_).name;
    found_.refused = Refused{fmt::format("`{}` reduces over `{}` and {}", scratch_.at(column.output).name, axis, why),
                             scratch_.at(column.value).span};
  }
  void refuse_mixing(const Column& column, ExprId mixing) {
    refuse(column, fmt::format("cannot be taken apart: `{}` mixes a piece of `{}` with a finished reduction over it",
                               to_text(scratch_, mixing), scratch_.at(wire_).name));
  }
  void check_needed() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (found_.kinds[i] == ColumnKind::mixed && needed_.contains(columns_[i].output)) return refuse_kept(columns_[i]);
  }
  void refuse_kept(const Column& column) {
    const auto& name = scratch_.at(column.output).name;
    const auto& axis = scratch_.at(wire_).name;
    found_.refused =
        Refused{fmt::format("`{0}` keeps `{1}` but needs all of it first; fuse it with a statement that reduces "
                            "`{1}`, or keep `{1}` whole",
                            name, axis),
                scratch_.at(column.value).span};
  }

  Diagram& scratch_;
  const std::vector<Column>& columns_;
  WireId wire_;
  const std::set<ArrayId>& needed_;
  const std::vector<std::string>& unreferenced_;
  Algebra algebra_;

  std::map<ArrayId, const Column*> producer_;
  std::set<ArrayId> states_of_, mixed_, pieces_;  // arrays by what they depend on
  std::set<ArrayId> positive_;
  States found_;
};

}  // namespace

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const std::vector<std::string>& unreferenced) {
  return Analysis(scratch, columns, wire, needed, unreferenced).run();
}

}  // namespace napkin
