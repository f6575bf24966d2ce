// Reductions over earlier positions as the carried state of a loop that takes positions in order; see in_order.hpp.
#include "derive/streams/in_order.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "derive/algebra/trial.hpp"
#include "derive/prefixes/prefix.hpp"
#include "derive/streams/begun.hpp"
#include "derive/trace.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

const Index at_wire(WireId wire) { return {{{wire, 1}}, 0, 1}; }

class InOrder {
 public:
  InOrder(Diagram& scratch, const std::vector<Column>& columns, WireId wire) : scratch_(scratch), wire_(wire) {
    for (const auto& column : columns) producer_[column.output] = &column;
    for (const auto& column : columns) take(column);
  }

  std::optional<Absorbed> run(const std::set<ArrayId>& needed, const std::set<WireId>& around) {
    if (!possible_ || !computed_here() || reads_elsewhere()) return std::nullopt;
    auto read = needed;
    for (const auto& column : earlier_)
      for (const auto array : reads(scratch_, column)) read.insert(array);
    drop_unused(scratch_, others_, read);
    auto now = absorb(scratch_, others_, wire_, read, around);
    auto before = absorb(scratch_, earlier_, wire_, states_, around);
    auto* of_now = std::get_if<Absorbed>(&now);
    auto* of_before = std::get_if<Absorbed>(&before);
    if (!of_now || !of_before) return std::nullopt;
    auto made = joined(std::move(*of_now), std::move(*of_before), needed);
    return possible_ ? std::optional(std::move(made)) : std::nullopt;
  }

 private:
  // ---- which columns reduce over earlier positions ----
  void take(const Column& column) {
    const auto edge = edge_of(column);
    if (!edge) return others_.push_back(column);
    const auto& array = scratch_.at(column.output);
    auto wires = array.wires;
    std::erase(wires, wire_);
    const auto state = new_array(scratch_, array.name, array.type, std::move(wires), array.span);
    prefixes_[column.output] = state;
    const auto kept = scratch_.at(edge->kept).axis, reduced = scratch_.at(edge->reduced).axis;
    if (kept != reduced) same_size_.emplace_back(kept, reduced);
    states_.insert(state);
    const ExprId value =
        added_at(std::get<Apply>(scratch_.at(column.value).node).arguments[1], *edge, state, *column.fold);
    trace_.push_back({Rule::prefix, column.output, as_expression(scratch_, column), whole(state),
                      "positions are taken in order, and the carried value has taken all those before"});
    earlier_.push_back({state, value, column.fold, {wire_}, {}, {}});
  }
  std::optional<PrefixEdge> edge_of(const Column& column) {
    if (!column.fold || column.carried || column.over.size() != 1 || column.over.front() == wire_) return {};
    if (!contains(scratch_.at(column.output).wires, wire_)) return {};
    const auto edge = prefix_edge(scratch_, {column.fold, column.over, column.value});
    const bool fits = edge && edge->kept == wire_ && edge->before && !edge->with && edge->offset == 0;
    return fits && leaves_out_others(column, *edge) ? edge : std::nullopt;
  }
  // Recognizes `where(b < c, e, identity)`, in which all positions except earlier ones contribute nothing.
  bool leaves_out_others(const Column& column, const PrefixEdge& edge) const {
    const auto* choice = std::get_if<Apply>(&scratch_.at(column.value).node);
    if (!choice || choice->function->role != Role::choose || choice->arguments[0] != edge.condition) return false;
    const auto* otherwise = std::get_if<Constant>(&scratch_.at(choice->arguments[2]).node);
    return otherwise && otherwise->value == column.fold->identity;
  }

  // ---- extremes that rise with every position: max over b < c of v(b) + d * (c - b - 1) ----
  // What the current position adds, after the state has risen by d.
  ExprId added_at(ExprId e, const PrefixEdge& edge, ArrayId state, const Reduction& fold) {
    const auto rising = opposite(fold) ? rise_in(e, edge) : std::nullopt;
    if (!rising) return of_each_position(at_position(e, edge));
    rises_[state] = rising->second;
    return of_this_position(at_position(rising->first, edge));
  }
  // Splits `v + d * (c - b - 1)` into v and d. If v is the least number, which stands for nothing, the result is that
  // number again.
  std::optional<std::pair<ExprId, ExprId>> rise_in(ExprId e, const PrefixEdge& edge) {
    const auto* sum = std::get_if<Apply>(&scratch_.at(e).node);
    if (sum && sum->function->role == Role::choose) {
      const auto [condition, risen, nothing] = std::tuple(sum->arguments[0], sum->arguments[1], sum->arguments[2]);
      const auto rising = rise_in(risen, edge);
      const auto* least = std::get_if<Constant>(&scratch_.at(nothing).node);
      if (!rising || !least || least->value != std::numeric_limits<float>::lowest()) return std::nullopt;
      const ExprId some = scratch_.intern(Apply{find_pointwise(">"), {rising->first, nothing}});
      return some == condition ? rising : std::nullopt;
    }
    if (!sum || sum->function->role != Role::add) return std::nullopt;
    const auto arguments = sum->arguments;
    const auto rise = of_one_more(arguments[1], edge);
    if (!rise) return std::nullopt;
    return std::pair(arguments[0], *rise);
  }
  // For a product of `c - b - 1` and of factors that depend on neither position: the increase per position.
  std::optional<ExprId> of_one_more(ExprId e, const PrefixEdge& edge) {
    const auto* apply = std::get_if<Apply>(&scratch_.at(e).node);
    if (!apply) return std::nullopt;
    const auto arguments = apply->arguments;
    if (apply->function->role == Role::subtract) {
      const ExprId one = scratch_.intern(Constant{1}), c = scratch_.intern(Position{wire_}),
                   b = scratch_.intern(Position{edge.reduced});
      const bool between = arguments[1] == one && arguments[0] == scratch_.intern(Apply{apply->function, {c, b}});
      return between ? std::optional(one) : std::nullopt;
    }
    if (apply->function->role != Role::multiply) return std::nullopt;
    const auto wires = free_wires(scratch_, arguments[0]);
    if (contains(wires, wire_) || contains(wires, edge.reduced)) return std::nullopt;
    const auto rest = of_one_more(arguments[1], edge);
    if (!rest) return std::nullopt;
    const auto* one = std::get_if<Constant>(&scratch_.at(*rest).node);
    return one && one->value == 1 ? arguments[0] : scratch_.intern(Apply{find_pointwise("*"), {arguments[0], *rest}});
  }
  // Rewrites exp(v(b) + d * (c - b - 1) - m(c)). m also rises by d, so the difference stays the same.
  std::optional<ExprId> beside_extreme(ExprId e, const PrefixEdge& edge) {
    const auto* difference = std::get_if<Apply>(&scratch_.at(e).node);
    if (!difference || difference->function->role != Role::subtract) return std::nullopt;
    const auto arguments = difference->arguments;
    const auto state = extreme_read(arguments[1]);
    const auto rising = rise_in(arguments[0], edge);
    if (!state || !rising || rises_.at(*state) != rising->second) return std::nullopt;
    const ExprId own = of_this_position(at_position(rising->first, edge));
    return scratch_.intern(Apply{find_pointwise("-"), {own, whole(*state)}});
  }
  std::optional<ArrayId> extreme_read(ExprId e) const {
    const auto* read = std::get_if<Access>(&scratch_.at(e).node);
    const auto found = read ? prefixes_.find(read->array) : prefixes_.end();
    if (found == prefixes_.end() || !rises_.contains(found->second)) return std::nullopt;
    return found->second;
  }
  // A value that is the same for all positions must not be taken out of the sum, because the carried value has taken as
  // many of it as there are positions before. One that reads a carried value differs at each position.
  ExprId of_each_position(ExprId e) {
    const auto carried = [&](ExprId part) {
      const auto* read = std::get_if<Access>(&scratch_.at(part).node);
      return read && states_.contains(read->array);
    };
    return any_part(scratch_, e, carried) ? e : of_this_position(e);
  }
  // Makes a value depend on the position even if it is the same for all positions. The state rises from one position to
  // the next, so a value relative to it differs at each and must not be taken out of sums.
  ExprId of_this_position(ExprId e) {
    auto wires = free_wires(scratch_, e);
    if (contains(wires, wire_)) return e;
    wires.push_back(wire_);
    const auto [known, fresh] = at_each_.try_emplace(e);
    if (fresh) {
      const auto type = accumulator(scratch_, Datatype::f32, e);
      known->second = new_array(scratch_, "v", type, std::move(wires), {});
      others_.push_back({known->second, e, nullptr, {}, {}, {}});
    }
    return whole(known->second);
  }
  // Writes the risen state into an array of its own, which absorbs the current position, possibly piece by piece. Until
  // it is complete, other columns may read the old state.
  void rise(ArrayId state, std::vector<Column>& absorb) {
    const auto& array = scratch_.at(state);
    const auto risen = new_array(scratch_, array.name, array.type, array.wires, array.span);
    for (auto& column : absorb) {
      column.value = read_in_place(column.value, state, risen);
      if (column.repair) column.repair = read_in_place(*column.repair, state, risen);
      if (column.output == state) column.output = risen;
      if (column.carried == state) column.carried = risen;
    }
    const ExprId value = scratch_.intern(Apply{find_pointwise("+"), {whole(state), rises_.at(state)}});
    absorb.insert(absorb.begin(), {risen, value, nullptr, {}, {}, {}});
    absorb.push_back({state, whole(risen), nullptr, {}, {}, {}});
  }
  ExprId read_in_place(ExprId e, ArrayId array, ArrayId other) {
    if (e == whole(array)) return whole(other);
    return with_operands(scratch_, e, [&](ExprId operand) { return read_in_place(operand, array, other); });
  }

  // ---- what one position adds: the value at b, which becomes the current position c ----
  ExprId at_position(ExprId e, const PrefixEdge& edge) {
    const auto node = scratch_.at(e).node;
    if (const auto* read = std::get_if<Access>(&node)) return at_position(*read, edge);
    if (const auto* position = std::get_if<Position>(&node)) {
      if (position->wire == wire_) possible_ = false;
      return position->wire == edge.reduced ? scratch_.intern(Position{wire_}) : e;
    }
    if (std::holds_alternative<Reduce>(node)) possible_ = false;
    if (const auto difference = beside_extreme(e, edge)) return *difference;
    return with_operands(scratch_, e, [&](ExprId operand) { return at_position(operand, edge); });
  }
  ExprId at_position(Access read, const PrefixEdge& edge) {
    const bool here = moves(read.at, wire_), there = moves(read.at, edge.reduced);
    if (here && there) return of_both(read, edge);
    if (here) return state_of(read, edge);
    if (!there) return scratch_.intern(std::move(read));
    return instance(napkin::renamed(std::move(read), {{edge.reduced, wire_}}));
  }
  // Writes out a pointwise column that depends on the kept position, or on both.
  ExprId of_both(const Access& read, const PrefixEdge& edge) {
    const auto made = producer_.find(read.array);
    const bool plain = made != producer_.end() && !made->second->fold && !made->second->carried &&
                       scratch_.intern(read) == whole(read.array);
    if (plain) return at_position(made->second->value, edge);
    return possible_ = false, scratch_.intern(read);
  }
  ExprId renamed(ExprId e, const Renaming& to) {
    const auto node = scratch_.at(e).node;
    if (const auto* read = std::get_if<Access>(&node)) return instance(napkin::renamed(*read, to));
    if (const auto* position = std::get_if<Position>(&node))
      return to.contains(position->wire) ? scratch_.intern(Position{to.at(position->wire)}) : e;
    return with_operands(scratch_, e, [&](ExprId operand) { return renamed(operand, to); });
  }
  // A read of a column's array along other wires is computed by a copy of the column with those wires.
  ExprId instance(const Access& read) {
    const ExprId own = scratch_.intern(read);
    const auto made = producer_.find(read.array);
    if (made == producer_.end() || own == whole(read.array)) return own;
    if (const auto known = instances_.find(own); known != instances_.end()) return known->second;
    const auto to = renaming(scratch_, read);
    const auto& column = *made->second;
    if (!to || column.carried || column.repair || contains(column.over, wire_)) return possible_ = false, own;
    std::vector<WireId> wires;
    for (const auto& index : read.at) wires.push_back(*plain_wire(index));
    const auto& array = scratch_.at(read.array);
    const auto array_there = new_array(scratch_, array.name, array.type, std::move(wires), array.span);
    others_.push_back({array_there, renamed(column.value, *to), column.fold, column.over, {}, {}});
    return instances_[own] = whole(array_there);
  }
  // At the kept position, only the carried states and pointwise columns that follow from them may be read.
  ExprId state_of(const Access& read, const PrefixEdge& edge) {
    const auto found = prefixes_.find(read.array);
    if (found != prefixes_.end() && rises_.contains(found->second)) possible_ = false;
    if (found != prefixes_.end() && scratch_.intern(read) == whole(read.array)) return whole(found->second);
    return of_both(read, edge);
  }
  ExprId whole(ArrayId array) { return read_whole(scratch_, array); }

  // ---- the rest ----
  // Whether columns here compute the reduced values. If not, taking positions in order saves no recomputation.
  bool computed_here() const {
    return std::ranges::any_of(earlier_, [&](const Column& column) {
      const auto all = reads(scratch_, column);
      const auto made = [&](const Column& other) { return contains(all, other.output); };
      return std::ranges::any_of(others_, made);
    });
  }
  bool reads_elsewhere() const {
    const auto elsewhere = [&](ExprId e) {
      const auto* read = std::get_if<Access>(&scratch_.at(e).node);
      if (!read || !producer_.contains(read->array)) return false;
      const auto& wires = scratch_.at(read->array).wires;
      const auto at = std::ranges::find(wires, wire_) - wires.begin();
      return at < std::ssize(wires) && read->at[static_cast<std::size_t>(at)] != at_wire(wire_);
    };
    return std::ranges::any_of(others_,
                               [&](const Column& column) { return any_part(scratch_, column.value, elsewhere); });
  }
  Absorbed joined(Absorbed now, Absorbed before, const std::set<ArrayId>& needed) {
    auto& to = now.programs;
    std::vector<Column> piece;
    for (auto& column : before.programs.finish) shown_[column.output] = column.value;
    for (const auto& [array, state] : prefixes_)
      if (needed.contains(array)) piece.push_back({array, finished(state), nullptr, {}, {}, {}});
    for (auto* list : {&to.piece, &to.absorb})
      for (auto& column : *list) at_state(column);
    piece.insert(piece.end(), to.piece.begin(), to.piece.end());
    to.piece = std::move(piece);
    for (const auto& [state, by] : rises_) rise(state, before.programs.absorb);
    append(to.absorb, before.programs.piece), append(to.absorb, before.programs.absorb);
    for (auto& column : to.absorb) sum_at_once(column, to, needed);
    append(to.init, before.programs.init), append(to.state, before.programs.state);
    const auto made = made_here(to, now.before, before.before);
    for (const auto& [array, state] : prefixes_) begin_with_what_is_before(scratch_, to, state, wire_, needed, made);
    put_first(now, before.before), append(now.before, before.before);
    append(to.trace, trace_), append(to.trace, before.programs.trace);
    append(to.notes, before.programs.notes);
    to.merge.clear(), to.other.clear();
    to.in_order = true, to.same_size = same_size_;
    name_rules(now, before);
    return now;
  }
  std::set<ArrayId> made_here(const Streamable& all, const std::vector<Column>& first,
                              const std::vector<Column>& second) const {
    std::set<ArrayId> made;
    for (const auto& [array, column] : producer_) made.insert(array);
    for (const auto* list : {&all.piece, &all.absorb, &all.finish, &first, &second})
      for (const auto& column : *list) made.insert(column.output);
    return made;
  }
  // Columns that are computed once and that pieces read move before the first piece, even if they come from the finish
  // list.
  void put_first(Absorbed& now, const std::vector<Column>& before) {
    auto& to = now.programs;
    std::set<ArrayId> read, carried;
    const auto note = [&](const Column& column) {
      for (const auto array : reads(scratch_, column)) read.insert(array);
    };
    std::ranges::for_each(before, note);
    for (const auto* list : {&to.init, &to.piece, &to.absorb}) std::ranges::for_each(*list, note);
    for (const auto& state : to.state) carried.insert(state.array);
    std::vector<Column> first;
    for (auto column = to.finish.rbegin(); column != to.finish.rend(); ++column)
      if (read.contains(column->output)) note(*column), first.insert(first.begin(), *column);
    std::erase_if(to.finish, [&](const Column& column) { return read.contains(column.output); });
    for (const auto& column : first)
      if (std::ranges::any_of(reads(scratch_, column), [&](ArrayId array) { return carried.contains(array); }))
        possible_ = false;
    append(now.before, first);
  }
  // A reduction over the output of another reduction that nothing else reads becomes one reduction over the wires of
  // both.
  void sum_at_once(Column& outer, Streamable& all, const std::set<ArrayId>& needed) {
    const auto* read = std::get_if<Access>(&scratch_.at(outer.value).node);
    if (!outer.fold || !read || outer.value != whole(read->array) || needed.contains(read->array)) return;
    const auto array = read->array;
    const auto inner = std::ranges::find(all.piece, array, &Column::output);
    const auto reads_it = [&](const Column& column) { return contains(reads(scratch_, column), array); };
    if (inner == all.piece.end() || inner->fold != outer.fold || inner->carried ||
        std::ranges::any_of(all.piece, reads_it) || std::ranges::count_if(all.absorb, reads_it) > 1 ||
        scratch_.at(array).type != scratch_.at(outer.output).type)
      return;
    outer.value = inner->value;
    outer.over.insert(outer.over.end(), inner->over.begin(), inner->over.end());
    std::ranges::sort(outer.over);
    all.piece.erase(inner);
  }
  // The state itself, or the value that finish computes from it.
  ExprId finished(ArrayId state) {
    const auto found = shown_.find(state);
    return found == shown_.end() ? whole(state) : found->second;
  }
  void at_state(Column& column) {
    column.value = at_state(column.value);
    if (column.repair) column.repair = at_state(*column.repair);
  }
  ExprId at_state(ExprId e) {
    if (const auto* read = std::get_if<Access>(&scratch_.at(e).node)) {
      const auto found = prefixes_.find(read->array);
      return found == prefixes_.end() ? e : finished(found->second);
    }
    return with_operands(scratch_, e, [&](ExprId operand) { return at_state(operand); });
  }
  static void name_rules(Absorbed& to, const Absorbed& before) {
    to.rules.insert(before.rules.begin(), before.rules.end());
    to.rules.erase(Rule::weave), to.rules.insert(Rule::prefix);
    to.programs.rules.assign(to.rules.begin(), to.rules.end());
  }
  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  Diagram& scratch_;
  WireId wire_;
  std::map<ArrayId, const Column*> producer_;
  std::map<ArrayId, ArrayId> prefixes_;  // by array of a prefix reduction: the state without the wire
  std::set<ArrayId> states_;
  std::map<ExprId, ExprId> instances_;    // of columns at other wires
  std::vector<Column> earlier_, others_;  // reductions over earlier positions along the wire, and all other columns
  std::vector<Rewriting> trace_;
  std::vector<std::pair<AxisId, AxisId>> same_size_;
  std::map<ArrayId, ExprId> rises_;    // increase per position of extremes, by state
  std::map<ExprId, ArrayId> at_each_;  // values that are the same at each position
  std::map<ArrayId, ExprId> shown_;    // values of states that differ from the states themselves
  bool possible_ = true;
};

}  // namespace

std::optional<Absorbed> absorb_in_order(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                        const std::set<ArrayId>& needed, const std::set<WireId>& around) {
  Trial trial(scratch);
  auto made = InOrder(scratch, columns, wire).run(needed, around);
  if (!made) trial.take_back();
  return made;
}

}  // namespace napkin
