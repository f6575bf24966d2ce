// The four programs of a stream, written from what it carries (rules S1 to S6 of docs/theory.md).
//
// A change of the maximum that exponentials are kept relative to repairs their sums by one factor; merging two states
// is the same repair on both sides.
#include "derive/absorb.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "derive/states.hpp"

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
  }

  Absorbed run() {
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
    return std::move(result_);
  }

 private:
  void emit_pieces() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (found_.kinds[i] == ColumnKind::piece) result_.programs.piece.push_back(columns_[i]);
  }
  void emit_states() {
    auto& to = result_.programs;
    std::map<std::size_t, ArrayId> newer;
    std::map<std::pair<std::size_t, double>, std::array<ArrayId, 3>> repairs;
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      to.state.push_back({found_.all[i].array, found_.all[i].reduction});
      to.init.push_back(
          {found_.all[i].array, scratch_.intern(Constant{found_.all[i].reduction->identity}), nullptr, {}, {}, {}});
      to.other.push_back(twin(found_.all[i].array, "'"));
    }
    for (const auto& state : found_.all)
      if (state.reference) newer.emplace(state.reference->state, ArrayId{});
    for (auto& [index, array] : newer) emit_maximum(index, array);
    std::vector<Column> repaired;
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (!newer.contains(i)) emit_state(i, newer, repairs);
    for (const auto& [index, array] : newer) {
      const Column update{found_.all[index].array, read_whole(scratch_, array), nullptr, {}, {}, {}};
      to.absorb.push_back(update);
      to.merge.push_back(update);
    }
    to.absorb = tidy(scratch_, std::move(to.absorb));
  }
  void emit_maximum(std::size_t index, ArrayId& array) {
    auto& to = result_.programs;
    const auto& state = found_.all[index];
    array = new_array(scratch_, "n", scratch_.at(state.array).type, scratch_.at(state.array).wires);
    to.absorb.push_back({array, algebra_.build(state.body), state.reduction, state.over, state.array, {}});
    to.merge.push_back({array, join(state.reduction, state.array, to.other[index]), nullptr, {}, {}, {}});
  }
  void emit_state(std::size_t i, const std::map<std::size_t, ArrayId>& newer,
                  std::map<std::pair<std::size_t, double>, std::array<ArrayId, 3>>& repairs) {
    auto& to = result_.programs;
    const auto& state = found_.all[i];
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
    const auto array = found_.all[reference.state].array;
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
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto& column = columns_[i];
      if (found_.kinds[i] != ColumnKind::reduction && found_.kinds[i] != ColumnKind::finish) continue;
      if (const auto late = found_.late_folds.find(column.output); late != found_.late_folds.end())
        finish.insert(finish.end(), late->second.begin(), late->second.end());
      const auto found = found_.finished.find(column.output);
      if (found == found_.finished.end()) {
        finish.push_back(column);
      } else if (!found_.arrays.contains(column.output)) {
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
      early[i] = found_.kinds[i] == ColumnKind::free && read_inside.contains(columns_[i].output);
      if (early[i])
        for (const auto array : reads(scratch_, columns_[i])) read_inside.insert(array);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (found_.kinds[i] == ColumnKind::free) (early[i] ? result_.before : after).push_back(columns_[i]);
    to.finish.insert(to.finish.begin(), after.begin(), after.end());
    drop_unused(scratch_, to.finish, needed_);
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

// Exponents whose added maximum does not cancel in what is needed, so that carrying it buys nothing.
std::vector<std::string> useless_references(Diagram& scratch, const States& found, const Absorbed& written) {
  Algebra algebra(scratch, {});
  std::vector<std::string> all;
  for (const auto& state : found.all) {
    const auto leaking = [&](const Column& c) { return leaks(scratch, c.value, state.array, false); };
    if (state.added && std::ranges::any_of(written.programs.finish, leaking))
      all.push_back(to_text(scratch, algebra.build(state.body)));
  }
  return all;
}

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
  std::vector<std::string> useless;
  for (;;) {
    Diagram trial = scratch;
    const States found = find_states(trial, columns, wire, needed, useless);
    if (found.refused) return *found.refused;
    Absorbed written = Writer(trial, columns, needed, found).run();
    const auto more = useless_references(trial, found, written);
    if (more.empty()) {
      scratch = std::move(trial);
      return written;
    }
    useless.insert(useless.end(), more.begin(), more.end());
  }
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
