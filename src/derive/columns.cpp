// Turns statements into columns: every reduction gets an array of its own, and every shared subexpression is computed
// once.
#include "derive/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "derive/algebra/invariant.hpp"
#include "derive/operands.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

constexpr char numbering = '#';  // separates a name from the number that makes it unique until names are settled

ExprId replaced(Diagram& diagram, ExprId e, const std::map<ExprId, ExprId>& by) {
  if (const auto found = by.find(e); found != by.end()) return found->second;
  const Expr old = diagram.at(e);
  return match(
      old.node,
      [&](const Apply& a) {
        Apply copy = a;
        for (auto& argument : copy.arguments) argument = replaced(diagram, argument, by);
        return diagram.intern(copy, old.span);
      },
      [&](const Cast& c) {
        return diagram.intern(Cast{c.type, replaced(diagram, c.value, by)}, old.span);
      },
      [&](const auto&) { return e; });
}

class Flattener {
 public:
  Flattener(Diagram& scratch, std::vector<Rewriting>& trace) : scratch_(scratch), trace_(trace) {}

  void add(const Statement& statement) {
    const auto output = statement.output;
    const ExprId whole = invariants_outside(scratch_, statement.value, trace_, output);
    const auto& array = scratch_.at(output);
    name_.clear(), type_ = array.type, order_ = array.wires, span_ = array.span;
    const auto* reduce = std::get_if<Reduce>(&scratch_.at(whole).node);
    if (reduce && accumulator(scratch_, array.type, reduce->body) == array.type && !folded_.contains(whole)) {
      fold(output, Reduce(*reduce));
      // If the array repeats the reduction along further wires, it does not replace other uses of the reduction.
      if (ordered(free_wires(scratch_, whole)) == order_) folded_[whole] = read_whole(scratch_, output);
      return;
    }
    name_ = array.name;
    const ExprId value = flat(whole);
    columns_.push_back({output, value, nullptr, {}, {}, {}});
  }
  std::vector<Column> take() { return std::move(columns_); }

 private:
  // The expression with its reductions replaced by arrays.
  ExprId flat(ExprId e) {
    if (const auto* reduce = std::get_if<Reduce>(&scratch_.at(e).node)) return folded(e, Reduce(*reduce));
    return with_operands(scratch_, e, [&](ExprId operand) { return flat(operand); });
  }
  ExprId folded(ExprId e, const Reduce& reduce) {
    if (const auto found = folded_.find(e); found != folded_.end()) return found->second;
    const auto array = accumulator_of(reduce, ordered(free_wires(scratch_, e)));
    fold(array, reduce);
    return folded_[e] = read_whole(scratch_, array);
  }
  // The first reduction with the wires of its statement is the statement's accumulator and gets its name.
  ArrayId accumulator_of(const Reduce& reduce, std::vector<WireId> wires) {
    const auto type = accumulator(scratch_, type_, reduce.body);
    if (wires != order_ || name_.empty())
      return new_array(scratch_, std::string(reduce.reduction->state_name), type, std::move(wires), span_);
    scratch_.arrays.push_back({std::exchange(name_, ""), type, std::move(wires), {}, span_});
    return {static_cast<std::uint32_t>(scratch_.arrays.size() - 1)};
  }
  void fold(ArrayId output, const Reduce& reduce) {
    const ExprId body = flat(reduce.body);
    columns_.push_back({output, body, reduce.reduction, reduce.over, {}, {}});
  }
  std::vector<WireId> ordered(std::vector<WireId> wires) const {
    std::stable_sort(wires.begin(), wires.end(), [&](WireId a, WireId b) { return place(a) < place(b); });
    return wires;
  }
  std::size_t place(WireId wire) const {
    return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), wire) - order_.begin());
  }

  Diagram& scratch_;
  std::vector<Rewriting>& trace_;
  std::vector<Column> columns_;
  std::map<ExprId, ExprId> folded_;
  std::string name_;
  Span span_;
  Datatype type_ = Datatype::f32;
  std::vector<WireId> order_;
};

bool plain_access(const Diagram& diagram, ExprId e) { return std::holds_alternative<Access>(diagram.at(e).node); }

void flatten_product(const Diagram& diagram, ExprId e, std::vector<ExprId>& factors) {
  const auto* apply = std::get_if<Apply>(&diagram.at(e).node);
  if (apply && apply->function->role == Role::multiply)
    for (const auto argument : apply->arguments) flatten_product(diagram, argument, factors);
  else
    factors.push_back(e);
}

// The name of an unnamed intermediate: "p" for an exponential, which is a weight, and "t" for any other.
std::string temporary_name(const Diagram& diagram, ExprId e) {
  const auto& node = diagram.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node))
    return fmt::format("{}_{}", temporary_name(diagram, cast->value), row(cast->type).name);
  const auto* apply = std::get_if<Apply>(&node);
  const bool weight = apply && (apply->function->role == Role::exponential || !apply->function->callable);
  return weight ? "p" : "t";
}

class Tidier {
 public:
  Tidier(Diagram& scratch, std::vector<Column> columns) : scratch_(scratch), columns_(std::move(columns)) {}

  std::vector<Column> run() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].fold) i += split_operands(i);
    while (name_shared()) {
    }
    drop_copies();
    return std::move(columns_);
  }

 private:
  // Splits the operands of a fold over a product: factors that are not plain accesses, and vary along fewer wires than
  // the product, are computed once in a column before it. Returns the number of columns inserted.
  std::size_t split_operands(std::size_t at) {
    std::vector<ExprId> factors, plain, rest, scalars;
    flatten_product(scratch_, columns_[at].value, factors);
    for (const auto factor : factors)
      (plain_access(scratch_, factor)         ? plain
       : free_wires(scratch_, factor).empty() ? scalars
                                              : rest)
          .push_back(factor);
    if (factors.size() < 2 || (rest.empty() && plain.size() <= 2)) return 0;
    if (plain.size() > 1) {
      std::vector<ExprId> all = rest;
      all.insert(all.end(), plain.begin(), plain.end());
      if (auto two = two_operands(scratch_, columns_[at], all))
        return hoist_operand(at, two->computed, {two->read}, scalars);
    }
    // The widest access stays outside; all factors that vary only along the wires of the others form one operand.
    std::vector<ExprId> inside = rest, outside;
    std::set<WireId> inner;
    for (const auto factor : rest) insert_wires(factor, inner);
    for (const auto factor : plain) {
      const auto wires = free_wires(scratch_, factor);
      const bool within = std::ranges::all_of(wires, [&](WireId w) { return inner.contains(w); });
      (within ? inside : outside).push_back(factor);
    }
    if (rest.empty()) inside.assign(plain.begin(), plain.end() - 1), outside = {plain.back()};
    if (outside.empty() || inside.empty()) return 0;
    return hoist_operand(at, inside, std::move(outside), scalars);
  }
  std::size_t hoist_operand(std::size_t at, const std::vector<ExprId>& inside, std::vector<ExprId> outside,
                            const std::vector<ExprId>& scalars) {
    const ExprId operand = hoist(at, product(inside));
    outside.insert(outside.begin(), operand);
    outside.insert(outside.end(), scalars.begin(), scalars.end());
    columns_[at + 1].value = product(outside);
    return 1;
  }
  void insert_wires(ExprId e, std::set<WireId>& into) {
    for (const auto wire : free_wires(scratch_, e)) into.insert(wire);
  }
  ExprId product(const std::vector<ExprId>& factors) {
    ExprId value = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i)
      value = scratch_.intern(Apply{find_pointwise("*"), {value, factors[i]}});
    return value;
  }
  // Computes an expression in a column of its own before column `at`; returns the read of it.
  ExprId hoist(std::size_t at, ExprId value) {
    const auto* cast = std::get_if<Cast>(&scratch_.at(value).node);
    const auto type = cast ? cast->type : type_of(value);
    const auto array = new_array(scratch_, temporary_name(scratch_, value), type, wires_for(at, value),
                                 scratch_.at(columns_[at].output).span);
    hoisted_.insert(array);
    columns_.insert(columns_.begin() + static_cast<std::ptrdiff_t>(at),
                    {array, cast ? cast->value : value, nullptr, {}, {}, {}});
    return read_whole(scratch_, array);
  }
  // A value that an f64 column needs is kept in f64.
  Datatype type_of(ExprId value) const {
    const bool wide = std::ranges::any_of(columns_, [&](const Column& column) {
      return scratch_.at(column.output).type == Datatype::f64 &&
             (holds(column.value, value) || (column.repair && holds(*column.repair, value)));
    });
    return wide ? Datatype::f64 : held_as(scratch_, value);
  }
  bool holds(ExprId e, ExprId value) const {
    if (e == value) return true;
    const auto& node = scratch_.at(e).node;
    if (const auto* cast = std::get_if<Cast>(&node)) return holds(cast->value, value);
    const auto* apply = std::get_if<Apply>(&node);
    return apply && std::ranges::any_of(apply->arguments, [&](ExprId a) { return holds(a, value); });
  }
  // The wires in the order of the column's output, then of its fold.
  std::vector<WireId> wires_for(std::size_t at, ExprId value) {
    const auto free = free_wires(scratch_, value);
    std::vector<WireId> order = scratch_.at(columns_[at].output).wires;
    order.insert(order.end(), columns_[at].over.begin(), columns_[at].over.end());
    std::erase_if(order, [&](WireId w) { return std::ranges::find(free, w) == free.end(); });
    for (const auto wire : free)
      if (std::ranges::find(order, wire) == order.end()) order.push_back(wire);
    return order;
  }
  // Finds one subexpression that has several parents and names it; false if there is none.
  bool name_shared() {
    std::map<ExprId, int> parents;
    std::map<ExprId, std::size_t> first;
    std::set<ExprId> seen;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      count(columns_[i].value, i, parents, first, seen);
      if (columns_[i].repair) count(*columns_[i].repair, i, parents, first, seen);
    }
    // The outermost shared one comes first: the highest id is no part of another candidate.
    for (auto it = parents.rbegin(); it != parents.rend(); ++it)
      if (it->second > 1 && worth_naming(it->first)) return name(it->first, first.at(it->first)), true;
    return false;
  }
  void count(ExprId e, std::size_t at, std::map<ExprId, int>& parents, std::map<ExprId, std::size_t>& first,
             std::set<ExprId>& seen) {
    ++parents[e];
    first.emplace(e, at);
    if (!seen.insert(e).second) return;
    match(
        scratch_.at(e).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {}, [](const Access&) {},
        [](const Reduce&) {},
        [&](const Apply& a) {
          for (const auto argument : std::set<ExprId>(a.arguments.begin(), a.arguments.end()))
            count(argument, at, parents, first, seen);
        },
        [&](const Cast& c) { count(c.value, at, parents, first, seen); });
  }
  bool worth_naming(ExprId e) const {
    const auto& node = scratch_.at(e).node;
    if (!std::holds_alternative<Apply>(node) && !std::holds_alternative<Cast>(node)) return false;
    return !arrays_read(scratch_, e).empty();
  }
  void name(ExprId e, std::size_t at) {
    const auto& output = scratch_.at(columns_[at].output);
    const bool is_column = !columns_[at].fold && !columns_[at].repair && columns_[at].value == e &&
                           output.type == type_of(e) && output.wires.size() == free_wires(scratch_, e).size();
    const ExprId read = is_column ? read_whole(scratch_, columns_[at].output) : hoist(at, e);
    for (std::size_t i = at + 1; i < columns_.size(); ++i) {
      columns_[i].value = replaced(scratch_, columns_[i].value, {{e, read}});
      if (columns_[i].repair) columns_[i].repair = replaced(scratch_, *columns_[i].repair, {{e, read}});
    }
  }

  // Drops hoisted columns that have become a plain read of another array of the same type.
  void drop_copies() {
    for (std::size_t i = 0; i < columns_.size();) {
      const auto* access = std::get_if<Access>(&scratch_.at(columns_[i].value).node);
      const bool copies = access && !columns_[i].fold && hoisted_.contains(columns_[i].output) &&
                          columns_[i].value == read_whole(scratch_, access->array) &&
                          scratch_.at(access->array).type == scratch_.at(columns_[i].output).type;
      if (!copies) {
        ++i;
        continue;
      }
      const std::map<ExprId, ExprId> by = {{read_whole(scratch_, columns_[i].output), columns_[i].value}};
      columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& column : columns_) column.value = replaced(scratch_, column.value, by);
    }
  }

  Diagram& scratch_;
  std::vector<Column> columns_;
  std::set<ArrayId> hoisted_;
};

}  // namespace

std::vector<Column> columns_of(Diagram& scratch, const std::vector<StatementId>& statements,
                               std::vector<Rewriting>& trace) {
  Flattener flattener(scratch, trace);
  for (const auto statement : statements) flattener.add(Statement(scratch.at(statement)));
  return tidy(scratch, flattener.take());
}

std::vector<Column> tidy(Diagram& scratch, std::vector<Column> columns) {
  return Tidier(scratch, std::move(columns)).run();
}

std::vector<ArrayId> reads(const Diagram& diagram, const Column& column) {
  std::set<ArrayId> all;
  for (const auto array : arrays_read(diagram, column.value)) all.insert(array);
  if (column.repair)
    for (const auto array : arrays_read(diagram, *column.repair)) all.insert(array);
  if (column.carried) all.insert(*column.carried);
  return {all.begin(), all.end()};
}

std::vector<const Column*> columns_in(const std::vector<Step>& steps) {
  std::vector<const Column*> all;
  for (const auto& step : steps)
    if (const auto* column = std::get_if<Column>(&step)) {
      all.push_back(column);
    } else {
      const auto inner = columns_in(std::get<Loop>(step).body);
      all.insert(all.end(), inner.begin(), inner.end());
    }
  return all;
}

std::set<WireId> wires_of(const Diagram& diagram, const Column& column) {
  const auto& kept = diagram.at(column.output).wires;
  std::set<WireId> all(kept.begin(), kept.end());
  all.insert(column.over.begin(), column.over.end());
  for (const auto wire : free_wires(diagram, column.value)) all.insert(wire);
  return all;
}

bool involves(const Diagram& diagram, const Column& column, WireId wire) {
  return wires_of(diagram, column).contains(wire);
}

void drop_unused(const Diagram& diagram, std::vector<Column>& columns, const std::set<ArrayId>& needed) {
  const auto unused = [&](const Column& column) {
    if (needed.contains(column.output)) return false;
    return std::ranges::none_of(columns, [&](const Column& other) {
      const auto all = reads(diagram, other);
      return other.output != column.output && std::ranges::find(all, column.output) != all.end();
    });
  };
  for (auto at = std::ranges::find_if(columns, unused); at != columns.end(); at = std::ranges::find_if(columns, unused))
    columns.erase(at);
}

ArrayId new_array(Diagram& diagram, const std::string& name, Datatype type, std::vector<WireId> wires, Span span) {
  const auto taken = [&](const std::string& text) {
    return std::ranges::any_of(diagram.arrays, [&](const Array& a) { return a.name == text; });
  };
  std::string unique = name;
  for (int i = 2; taken(unique); ++i) unique = fmt::format("{}{}{}", name, numbering, i);
  diagram.arrays.push_back({unique, type, std::move(wires), {}, span});
  return {static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
}

Span origin(const Diagram& diagram, const Column& column) {
  const auto span = diagram.at(column.output).span;
  return span == Span() ? diagram.at(column.value).span : span;
}

ArrayId twin(Diagram& diagram, ArrayId array, const char* mark) {
  auto copy = diagram.at(array);
  copy.name += mark;
  copy.part_of.reset();
  diagram.arrays.push_back(std::move(copy));
  return {static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
}

ExprId read_whole(Diagram& diagram, ArrayId array) {
  Access access{array, {}};
  for (const auto wire : diagram.at(array).wires) access.at.push_back({{{wire, 1}}, 0, 1});
  return diagram.intern(access);
}

void settle_names(Diagram& diagram, std::size_t from_file, const std::vector<ArrayId>& used) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < from_file; ++i) taken.insert(diagram.arrays[i].name);
  const std::set<std::string> in_file = taken;
  for (const auto& wire : diagram.wires) taken.insert(wire.name);
  std::map<std::string, std::string> settled;
  const auto settle = [&](std::string& name, const std::string& marks) {
    const auto own = name.substr(0, name.size() - marks.size());
    const auto known = settled.find(own);
    const auto base = known == settled.end() ? own.substr(0, own.find(numbering)) : known->second;
    name = base + marks;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}{}{}", base, i, marks);
    if (marks.empty()) settled.emplace(own, name);
  };
  // The other state of a merge is named after the state that it joins, which is named first.
  for (const bool marked : {false, true})
    for (const auto id : used) {
      auto& name = diagram.at(id).name;
      const auto mark = name.find_first_of('\'');
      if (id.index < from_file || in_file.contains(name) || (mark != std::string::npos) != marked) continue;
      settle(name, marked ? name.substr(mark) : "");
    }
}

}  // namespace napkin
