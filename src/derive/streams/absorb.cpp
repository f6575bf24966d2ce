// Writes the four programs of a stream from its carried states (rules S1 to S6 of docs/theory.md).
#include "derive/streams/absorb.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "derive/algebra/trial.hpp"
#include "derive/states/states.hpp"
#include "derive/streams/in_order.hpp"
#include "derive/streams/updates.hpp"
#include "derive/trace.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

class Writer {
 public:
  Writer(Diagram& scratch, const std::vector<Column>& columns, const std::set<ArrayId>& needed, States found)
      : scratch_(scratch), columns_(columns), needed_(needed), found_(std::move(found)) {
    result_.programs.notes = found_.notes;
    result_.programs.trace = found_.trace;
  }

  Absorbed run() {
    auto& to = result_.programs;
    result_.before = found_.extents;
    emit_pieces();
    emit_states();
    append_late();
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
      if (found_.kinds[i] == ColumnKind::piece && !is_late(i)) result_.programs.piece.push_back(columns_[i]);
  }
  // Whether an earlier reduction reads this column's output as it was before the column updates it.
  bool is_late(std::size_t i) const {
    const auto reads_it = [&](std::size_t other) {
      return found_.kinds[other] == ColumnKind::reduction &&
             contains(reads(scratch_, columns_[other]), columns_[i].output);
    };
    for (std::size_t other = 0; other < i; ++other)
      if (reads_it(other)) return true;
    return false;
  }
  void append_late() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (found_.kinds[i] == ColumnKind::piece && is_late(i)) result_.programs.absorb.push_back(columns_[i]);
  }
  void emit_states() {
    auto& to = result_.programs;
    write_updates(scratch_, found_, to);
    for (const auto& column : to.absorb) note_update(column);
    to.absorb = tidy(scratch_, std::move(to.absorb));
  }
  // Adds the update of a state as the last step that the report shows for its reduction.
  void note_update(const Column& column) {
    if (!column.fold || !column.carried) return;
    const Column plain{column.output, column.value, column.fold, column.over, {}, {}};
    result_.programs.trace.push_back(
        {column.repair ? Rule::cascade : Rule::reduction, column.output, as_expression(scratch_, plain),
         as_expression(scratch_, column),
         column.repair ? "the carried value refers to an older state: it is rescaled, then absorbs the piece"
                       : "the carried value absorbs the piece"});
  }
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
        const ExprId value = stored(column.output, as_written(column).value_or(build(scratch_, found->second)));
        finish_.emplace_back(i, Column{column.output, value, nullptr, {}, {}, {}});
        note_finish(column, value);
      }
    }
  }
  // The result in the file's own order of factors and brackets, which keeps numbers within range. Possible if all
  // values that it reads are carried unchanged, and no other column reads the result.
  std::optional<ExprId> as_written(const Column& column) {
    const auto is_read = [&](const Column& other) {
      const auto all = reads(scratch_, other);
      return std::ranges::find(all, column.output) != all.end();
    };
    if (column.fold || std::ranges::any_of(columns_, is_read)) return {};
    bool plain = true;
    const std::function<ExprId(ExprId)> replaced = [&](ExprId e) -> ExprId {
      if (std::holds_alternative<Access>(scratch_.at(e).node)) {
        const auto finished = is_made_before(e, column) ? finished_as(e) : std::optional(e);
        plain = plain && finished;
        return finished.value_or(e);
      }
      return with_operands(scratch_, e, replaced);
    };
    const ExprId value = replaced(column.value);
    return plain ? std::optional(value) : std::nullopt;
  }
  // Whether an earlier column makes the array. If not, the array is an input, or is read before this list changes it.
  bool is_made_before(ExprId access, const Column& reader) const {
    const auto array = std::get<Access>(scratch_.at(access).node).array;
    return std::any_of(columns_.begin(), columns_.begin() + (&reader - columns_.data()),
                       [&](const Column& c) { return c.output == array; });
  }
  // The value after the last piece that replaces an access. None if it has a waiting exponential, which belongs next to
  // other exponentials, where large ones cancel.
  std::optional<ExprId> finished_as(ExprId access) {
    const auto array = std::get<Access>(scratch_.at(access).node).array;
    const auto found = found_.finished.find(array);
    if (found == found_.finished.end()) return stands(array) ? std::optional(access) : std::nullopt;
    const auto waits = [](const Term& term) { return !term.exponent.empty() || term.cast || !term.guards.empty(); };
    if (std::ranges::any_of(found->second, waits) || read_whole(scratch_, array) != access) return {};
    return build(scratch_, found->second);
  }
  // Whether the array is an input, or made before or after the sweep.
  bool stands(ArrayId array) const {
    const auto made = std::ranges::find(columns_, array, &Column::output);
    if (made == columns_.end()) return true;
    const auto kind = found_.kinds[static_cast<std::size_t>(made - columns_.begin())];
    return kind == ColumnKind::free || kind == ColumnKind::finish;
  }
  // Skips copies, which show nothing.
  void note_finish(const Column& column, ExprId value) {
    const auto copies = [&](ExprId e) { return std::holds_alternative<Access>(scratch_.at(e).node); };
    if (value == column.value || copies(value) || (!column.fold && copies(column.value))) return;
    result_.programs.trace.push_back({Rule::finish, column.output, as_expression(scratch_, column), value,
                                      "after the last piece, from the carried values"});
  }
  // Removes a cast that storing makes redundant.
  ExprId stored(ArrayId output, ExprId value) const {
    const auto* cast = std::get_if<Cast>(&scratch_.at(value).node);
    return cast && cast->type == scratch_.at(output).type ? cast->value : value;
  }
  // Places columns that do not depend on the wire: before the loop if a column inside needs them, else after it. An
  // update such as `m = n`, which earlier columns must not see, comes after the loop unless a later column needs it.
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
  // Writes the columns after the last piece, in their original order.
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
  Absorbed result_;
  std::vector<std::pair<std::size_t, Column>> finish_;  // each with the number of the column that it replaces
};

// Whether an expression contains the exponential of a maximum.
bool leaks(const Diagram& scratch, ExprId e, ArrayId maximum, bool inside) {
  const auto* access = std::get_if<Access>(&scratch.at(e).node);
  if (access) return inside && access->array == maximum;
  if (const auto* cast = std::get_if<Cast>(&scratch.at(e).node)) return leaks(scratch, cast->value, maximum, inside);
  const auto* apply = std::get_if<Apply>(&scratch.at(e).node);
  if (!apply) return false;
  const bool exponential = inside || apply->function->role == Role::exponential;
  return std::ranges::any_of(apply->arguments, [&](ExprId a) { return leaks(scratch, a, maximum, exponential); });
}

// Whether a sum contains the exponential of the maximum itself without a weight. A weight may be zero at the maximum,
// and the remaining terms may then be lost relative to it.
bool sums_greatest(const States& found, std::size_t maximum) {
  return std::ranges::any_of(found.all, [&](const State& state) {
    return state.reference && state.reference->state == maximum && state.reduction->combine->role == Role::add &&
           state.body[0].factors.empty() && state.body[0].rounded.empty();
  });
}

// Exponents that gain nothing from an added maximum: it does not cancel in the results, or it may belong to a position
// that counts nothing.
std::vector<std::string> useless_references(Diagram& scratch, const States& found, const Absorbed& written) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    const auto& state = found.all[i];
    const auto leaking = [&](const Column& c) { return leaks(scratch, c.value, state.array, false); };
    if (state.added && (!sums_greatest(found, i) || std::ranges::any_of(written.programs.finish, leaking)))
      all.push_back(to_text(scratch, build(scratch, state.body)));
  }
  return all;
}

// Splits the update of an outer stream's state that folds over this wire too: its piece is reduced first and then joins
// the state.
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
    const auto piece = new_array(scratch, array.name, array.type, array.wires, array.span);
    all.push_back({piece, column.value, column.fold, column.over, {}, {}});
    all.push_back({column.output, joined(scratch, column, read_whole(scratch, piece)), nullptr, {}, {}, {}});
  }
  return all;
}

std::variant<Absorbed, Refused> absorb_in_any_order(Diagram& scratch, const std::vector<Column>& all, WireId wire,
                                                    const std::set<ArrayId>& needed, const std::set<WireId>& around) {
  Trial trial(scratch);
  Learnt learnt;
  learnt.around = around;
  for (;;) {
    const auto columns = parted(scratch, all, wire);
    const States found = find_states(scratch, columns, wire, needed, learnt);
    if (found.refused) return trial.take_back(), *found.refused;
    // The knowledge about centres refers to arrays of the scratch diagram, which stays.
    learnt.centred.insert(learnt.centred.end(), found.learnt.begin(), found.learnt.end());
    if (!found.learnt.empty()) continue;
    Absorbed written = Writer(scratch, columns, needed, found).run();
    const auto more = useless_references(scratch, found, written);
    if (more.empty()) return written;
    learnt.unreferenced.insert(learnt.unreferenced.end(), more.begin(), more.end());
  }
}

}  // namespace

std::variant<Absorbed, Refused> absorb(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                       const std::set<ArrayId>& needed, const std::set<WireId>& around) {
  if (auto in_order = absorb_in_order(scratch, columns, wire, needed, around)) return *std::move(in_order);
  return absorb_in_any_order(scratch, columns, wire, needed, around);
}

}  // namespace napkin
