// The four programs of a stream, written from what it carries (rules S1 to S6 of docs/theory.md).
//
// A change of the maximum that exponentials are kept relative to repairs their sums by one factor; merging two states
// is the same repair on both sides.
#include "derive/absorb.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "derive/states.hpp"
#include "derive/trace.hpp"
#include "derive/trial.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

class Writer {
 public:
  Writer(Diagram& scratch, const std::vector<Column>& columns, const std::set<ArrayId>& needed, States found)
      : scratch_(scratch),
        columns_(columns),
        needed_(needed),
        found_(std::move(found)),
        algebra_(scratch, {WireId{}, [](const Access&) { return Dependence{}; },
                           [](ExprId) { return std::optional<Sum>{}; }, [](ArrayId) { return false; }}) {
    result_.programs.notes = found_.notes;
    result_.programs.trace = found_.trace;
  }

  Absorbed run() {
    auto& to = result_.programs;
    result_.before = found_.extents;
    emit_pieces();
    emit_states();
    emit_finish();
    std::set<ArrayId> read = needed_;
    const auto reads_of = [&](const Column& column) {
      for (const auto array : reads(scratch_, column)) read.insert(array);
    };
    for (const auto& column : to.absorb) reads_of(column);
    for (const auto& [number, column] : finish_) reads_of(column);
    drop_unused(scratch_, to.piece, read);
    split_free();
    write_finish();
    name_rules();
    return std::move(result_);
  }

 private:
  void emit_pieces() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (found_.kinds[i] == ColumnKind::piece) result_.programs.piece.push_back(columns_[i]);
  }
  using Repairs = std::map<std::tuple<std::size_t, double, bool>, std::array<ArrayId, 3>>;
  void emit_states() {
    auto& to = result_.programs;
    std::map<std::size_t, ArrayId> newer;
    Repairs repairs;
    MomentWriter moments(scratch_, algebra_, to);
    for (const auto& centre : found_.centres) moments.carry(centre);
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      to.state.push_back({found_.all[i].array, found_.all[i].reduction});
      to.init.push_back(
          {found_.all[i].array, scratch_.intern(Constant{found_.all[i].reduction->identity}), nullptr, {}, {}, {}});
      to.other.push_back(twin(scratch_, found_.all[i].array, "'"));
    }
    for (const auto& state : found_.all)
      if (state.reference) newer.emplace(state.reference->state, ArrayId{});
    for (const auto& chain : found_.chains) newer.emplace(index_of(chain.levels[0]), ArrayId{});
    for (auto& [index, array] : newer) emit_maximum(index, array);
    emit_moments(moments);
    RankWriter ranks(scratch_, algebra_, to, [this](ArrayId state) { return other(index_of(state)); });
    for (const auto& chain : found_.chains) ranks.move(chain, newer.at(index_of(chain.levels[0])));
    for (const auto& fold : found_.ranked) ranks.update(fold);
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (!newer.contains(i) && !found_.all[i].moment && !found_.all[i].ranked) emit_state(i, newer, repairs);
    for (const auto& [index, array] : newer) {
      const Column update{found_.all[index].array, read_whole(scratch_, array), nullptr, {}, {}, {}};
      to.absorb.push_back(update);
      to.merge.push_back(update);
    }
    ranks.settle();
    moments.settle();
    for (const auto& column : to.absorb) note_update(column);
    to.absorb = tidy(scratch_, std::move(to.absorb));
  }
  std::size_t index_of(ArrayId state) const {
    const auto found = std::ranges::find(found_.all, state, &State::array);
    return static_cast<std::size_t>(found - found_.all.begin());
  }
  // The higher powers first: they are repaired by the old lower ones.
  void emit_moments(MomentWriter& writer) {
    for (const auto& centre : found_.centres) writer.move(centre);
    std::vector<const State*> all;
    for (const auto& state : found_.all)
      if (state.moment) all.push_back(&state);
    std::ranges::stable_sort(all, [](const State* a, const State* b) { return a->moment->power > b->moment->power; });
    for (const auto* state : all) writer.update(state->array, state->body[0], *state->moment, state->over);
  }
  // How a state takes a piece is the last step of what became of its reduction.
  void note_update(const Column& column) {
    if (!column.fold || !column.carried) return;
    const Column plain{column.output, column.value, column.fold, column.over, {}, {}};
    result_.programs.trace.push_back(
        {column.repair ? Rule::cascade : Rule::reduction, column.output, as_expression(scratch_, plain),
         as_expression(scratch_, column),
         column.repair ? "what is carried was made with an older state: it is repaired, then a piece joins it"
                       : "a piece joins what is carried"});
  }
  void emit_maximum(std::size_t index, ArrayId& array) {
    auto& to = result_.programs;
    const auto& state = found_.all[index];
    array = new_array(scratch_, "n", scratch_.at(state.array).type, scratch_.at(state.array).wires);
    to.absorb.push_back({array, algebra_.build(state.body), state.reduction, state.over, state.array, {}});
    to.merge.push_back({array, join(state.reduction, state.array, other(index)), nullptr, {}, {}, {}});
  }
  void emit_state(std::size_t i, const std::map<std::size_t, ArrayId>& newer, Repairs& repairs) {
    auto& to = result_.programs;
    const auto& state = found_.all[i];
    if (!state.reference) {
      to.absorb.push_back({state.array, algebra_.build(state.body), state.reduction, state.over, state.array, {}});
      to.merge.push_back({state.array, join(state.reduction, state.array, other(i)), nullptr, {}, {}, {}});
      return;
    }
    const auto key = std::tuple{state.reference->state, state.reference->ratio, state.reference->base.empty()};
    if (!repairs.contains(key)) repairs[key] = emit_repair(*state.reference, newer.at(state.reference->state));
    const auto& [mine, theirs, unused] = repairs.at(key);
    const ExprId repair = read_whole(scratch_, mine);
    const ExprId piece = relative(state, newer.at(state.reference->state));
    const bool extreme = opposite(*state.reduction) != nullptr;
    if (extreme) to.absorb.push_back({state.array, scaled_extreme(state, repair, state.array), nullptr, {}, {}, {}});
    to.absorb.push_back(
        {state.array, piece, state.reduction, state.over, state.array, extreme ? std::nullopt : std::optional(repair)});
    const auto scaled = [&](ExprId factor, ArrayId array) {
      return extreme ? scaled_extreme(state, factor, array)
                     : algebra_.apply("*", {factor, read_whole(scratch_, array)});
    };
    const ExprId merged = algebra_.apply(state.reduction->combine->name,
                                         {scaled(repair, state.array), scaled(read_whole(scratch_, theirs), other(i))});
    to.merge.push_back({state.array, merged, nullptr, {}, {}, {}});
  }
  // An extreme of nothing stays what it is: infinity times a factor that is zero would be no number.
  ExprId scaled_extreme(const State& state, ExprId factor, ArrayId array) {
    const ExprId old = read_whole(scratch_, array), nothing = scratch_.intern(Constant{state.reduction->identity});
    const ExprId empty = algebra_.apply("==", {old, nothing});
    return algebra_.apply("where", {empty, nothing, algebra_.apply("*", {factor, old})});
  }
  // r = exp(old - new), or (old / new)^k, for the state and, in merge, for the other one.
  std::array<ArrayId, 3> emit_repair(const Reference& reference, ArrayId newer) {
    auto& to = result_.programs;
    const auto array = found_.all[reference.state].array;
    const auto mine = new_array(scratch_, "r", repair_type(reference), scratch_.at(array).wires);
    const auto theirs = twin(scratch_, mine, "'");
    const auto factor = [&](ArrayId old) {
      if (!reference.base.empty()) return shrunk(old, reference, newer);
      return algebra_.apply("expdiff", {level(old, reference.ratio), level(newer, reference.ratio)});
    };
    to.absorb.push_back({mine, factor(array), nullptr, {}, {}, {}});
    to.merge.push_back({mine, factor(array), nullptr, {}, {}, {}});
    to.merge.push_back({theirs, factor(other(reference.state)), nullptr, {}, {}, {}});
    return {mine, theirs, array};
  }
  // As wide as what it repairs.
  Datatype repair_type(const Reference& reference) const {
    const auto wide = [&](const State& s) {
      return s.reference == reference && scratch_.at(s.array).type == Datatype::f64;
    };
    return std::ranges::any_of(found_.all, wide) ? Datatype::f64 : Datatype::f32;
  }
  ExprId level(ArrayId maximum, double ratio) {
    const ExprId read = read_whole(scratch_, maximum);
    return ratio == 1 ? read : algebra_.apply("*", {scratch_.intern(Constant{ratio}), read});
  }
  // (old / new)^k. A maximum of nothing, and one of zeros, scales what is zero anyway.
  ExprId shrunk(ArrayId old, const Reference& reference, ArrayId newer) {
    const ExprId zero = scratch_.intern(Constant{0});
    Term share;
    const ExprId greatest = algebra_.apply("max", {read_whole(scratch_, old), zero});
    share.factors = {{algebra_.apply("/", {greatest, divisor(newer)}), reference.ratio}};
    return algebra_.build(share);
  }
  // What is divided by in place of a maximum that is not above zero: one. A column of its own.
  ExprId divisor(ArrayId maximum) {
    auto& to = result_.programs;
    if (!divisors_.contains(maximum)) {
      const ExprId read = read_whole(scratch_, maximum);
      const ExprId zero = scratch_.intern(Constant{0}), one = scratch_.intern(Constant{1});
      const auto& array = scratch_.at(maximum);
      const auto made = new_array(scratch_, "scale", array.type, array.wires);
      const Column column{
          made, algebra_.apply("where", {algebra_.apply(">", {read, zero}), read, one}), nullptr, {}, {}, {}};
      to.absorb.push_back(column);
      to.merge.push_back(column);
      divisors_[maximum] = made;
    }
    return read_whole(scratch_, divisors_.at(maximum));
  }
  // u with exp(g) written exp(g - maximum), or a^k written (a / maximum)^k.
  ExprId relative(const State& state, ArrayId newer) {
    if (!state.reference->base.empty())
      return algebra_.build(relative_to(algebra_, state.body[0], *state.reference, divisor(newer)));
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
  // The second state of a merge; counts and means stand in front.
  ArrayId other(std::size_t state) const { return result_.programs.other.at(2 * found_.centres.size() + state); }
  void emit_finish() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto& column = columns_[i];
      if (found_.kinds[i] != ColumnKind::reduction && found_.kinds[i] != ColumnKind::finish) continue;
      if (const auto late = found_.late_folds.find(column.output); late != found_.late_folds.end())
        for (const auto& fold : late->second) finish_.emplace_back(i, fold);
      const auto found = found_.finished.find(column.output);
      if (found == found_.finished.end()) {
        finish_.emplace_back(i, column);
      } else if (!found_.arrays.contains(column.output)) {
        const ExprId value = stored(column.output, algebra_.build(found->second));
        finish_.emplace_back(i, Column{column.output, value, nullptr, {}, {}, {}});
        note_finish(column, value);
      }
    }
  }
  // A copy shows nothing.
  void note_finish(const Column& column, ExprId value) {
    const auto copies = [&](ExprId e) { return std::holds_alternative<Access>(scratch_.at(e).node); };
    if (value == column.value || copies(value) || (!column.fold && copies(column.value))) return;
    result_.programs.trace.push_back({Rule::finish, column.output, as_expression(scratch_, column), value,
                                      "after the last piece, in terms of what was carried"});
  }
  // Storing rounds already.
  ExprId stored(ArrayId output, ExprId value) const {
    const auto* cast = std::get_if<Cast>(&scratch_.at(value).node);
    return cast && cast->type == scratch_.at(output).type ? cast->value : value;
  }
  // Columns free of the wire: in front of the loop if a column inside needs them, else after it. An update that columns
  // before it must not see yet, `m = n`, comes after unless a later one needs it.
  void split_free() {
    auto& to = result_.programs;
    std::set<ArrayId> inside, later;
    for (const auto* list : {&to.piece, &to.absorb})
      for (const auto& column : *list)
        for (const auto array : reads(scratch_, column)) inside.insert(array);
    std::vector<bool> early(columns_.size());
    for (std::size_t i = columns_.size(); i-- > 0;) {
      const auto kind = found_.kinds[i];
      if (kind == ColumnKind::finish) continue;
      early[i] = kind == ColumnKind::free && (updates(i) ? later : inside).contains(columns_[i].output);
      if (kind == ColumnKind::free && !early[i]) continue;
      for (const auto array : reads(scratch_, columns_[i])) {
        later.insert(array);
        if (early[i]) inside.insert(array);
      }
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (found_.kinds[i] != ColumnKind::free) continue;
      if (early[i])
        result_.before.push_back(columns_[i]);
      else
        finish_.emplace_back(i, columns_[i]);
    }
  }
  bool updates(std::size_t i) const {
    return std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(i), [&](const Column& c) {
      const auto all = reads(scratch_, c);
      return std::ranges::find(all, columns_[i].output) != all.end();
    });
  }
  // What follows the last piece, in the order of the columns.
  void write_finish() {
    std::ranges::stable_sort(finish_, {}, [](const auto& numbered) { return numbered.first; });
    auto& finish = result_.programs.finish;
    for (auto& [number, column] : finish_) finish.push_back(std::move(column));
    drop_unused(scratch_, finish, needed_);
    finish = tidy(scratch_, std::move(finish));
  }
  void name_rules() {
    auto& to = result_.programs;
    const bool reduces = !found_.all.empty();
    if (!reduces)
      found_.rules = {Rule::weave};
    else if (!found_.rules.contains(Rule::cascade) && !found_.rules.contains(Rule::invariant))
      found_.rules.insert(Rule::reduction);
    if (reduces && !to.piece.empty()) found_.rules.insert(Rule::composition);
    const bool finishes = std::ranges::any_of(to.finish, [&](const Column& c) {
      return c.fold || !std::holds_alternative<Access>(scratch_.at(c.value).node);
    });
    if (reduces && finishes && !found_.rules.contains(Rule::invariant)) found_.rules.insert(Rule::finish);
    to.rules.assign(found_.rules.begin(), found_.rules.end());
    result_.rules = found_.rules;
  }

  Diagram& scratch_;
  const std::vector<Column>& columns_;
  const std::set<ArrayId>& needed_;
  States found_;
  Algebra algebra_;
  Absorbed result_;
  std::map<ArrayId, ArrayId> divisors_;                 // by the maximum
  std::vector<std::pair<std::size_t, Column>> finish_;  // with the number of the column that each stands for
};

// True where an expression holds the exponential of a maximum.
bool leaks(const Diagram& scratch, ExprId e, ArrayId maximum, bool inside) {
  const auto* access = std::get_if<Access>(&scratch.at(e).node);
  if (access) return inside && access->array == maximum;
  if (const auto* cast = std::get_if<Cast>(&scratch.at(e).node)) return leaks(scratch, cast->value, maximum, inside);
  const auto* apply = std::get_if<Apply>(&scratch.at(e).node);
  if (!apply) return false;
  const bool exponential = inside || apply->function->role == Role::exponential;
  return std::ranges::any_of(apply->arguments, [&](ExprId a) { return leaks(scratch, a, maximum, exponential); });
}

// True where a sum holds the exponential of the maximum itself, without a weight: a weight may be zero there, and what
// it leaves be lost beside it.
bool sums_greatest(const States& found, std::size_t maximum) {
  return std::ranges::any_of(found.all, [&](const State& state) {
    return state.reference && state.reference->state == maximum && state.reduction->combine->role == Role::add &&
           state.body[0].factors.empty() && state.body[0].rounded.empty();
  });
}

// Exponents whose added maximum does not cancel in what is needed, so that carrying it buys nothing, or may be that of
// what counts for nothing.
std::vector<std::string> useless_references(Diagram& scratch, const States& found, const Absorbed& written) {
  Algebra algebra(scratch, {});
  std::vector<std::string> all;
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    const auto& state = found.all[i];
    const auto leaking = [&](const Column& c) { return leaks(scratch, c.value, state.array, false); };
    if (state.added && (!sums_greatest(found, i) || std::ranges::any_of(written.programs.finish, leaking)))
      all.push_back(to_text(scratch, algebra.build(state.body)));
  }
  return all;
}

// True where there are centres that this attempt did not yet know of when it came to their sums.
bool learn_centres(Diagram& scratch, const States& found, Learnt& learnt) {
  Algebra algebra(scratch, {});
  const auto known = learnt.centred.size();
  for (const auto& centre : found.centres) {
    const auto key = centre_key(scratch, algebra, centre.body, centre.over);
    if (std::ranges::find(learnt.centred, key) == learnt.centred.end()) learnt.centred.push_back(key);
  }
  return learnt.centred.size() > known;
}

// A state of an outer stream that folds over this wire too: its piece is reduced by itself and then joins it.
std::vector<Column> parted(Diagram& scratch, const std::vector<Column>& columns, WireId wire) {
  std::vector<Column> all;
  for (const auto& column : columns) {
    const bool folds = std::ranges::find(column.over, wire) != column.over.end();
    const auto writers = std::ranges::count_if(columns, [&](const Column& c) { return c.output == column.output; });
    if (!folds || !column.carried || writers > 1) {
      all.push_back(column);
      continue;
    }
    const auto& array = scratch.at(column.output);
    const auto piece = new_array(scratch, array.name, array.type, array.wires);
    all.push_back({piece, column.value, column.fold, column.over, {}, {}});
    all.push_back({column.output, joined(scratch, column, read_whole(scratch, piece)), nullptr, {}, {}, {}});
  }
  return all;
}

}  // namespace

std::variant<Absorbed, Refused> absorb(Diagram& scratch, const std::vector<Column>& all, WireId wire,
                                       const std::set<ArrayId>& needed, const std::set<WireId>& around) {
  Trial trial(scratch);
  Learnt learnt;
  learnt.around = around;
  for (;;) {
    const auto columns = parted(scratch, all, wire);
    const States found = find_states(scratch, columns, wire, needed, learnt);
    if (found.refused) return trial.take_back(), *found.refused;
    if (learn_centres(scratch, found, learnt)) {
      trial.take_back();
      continue;
    }
    Absorbed written = Writer(scratch, columns, needed, found).run();
    const auto more = useless_references(scratch, found, written);
    if (more.empty()) return written;
    trial.take_back();
    learnt.unreferenced.insert(learnt.unreferenced.end(), more.begin(), more.end());
  }
}

}  // namespace napkin
