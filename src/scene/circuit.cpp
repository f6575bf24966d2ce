// Builds a circuit from the statements, walking each from its value down. A call of the user becomes one function, a
// sum of products becomes a contraction, and everything between them becomes a box.
#include "scene/circuit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin::scene {
namespace {

void append_new(std::vector<WireId>& to, const std::vector<WireId>& wires) {
  for (const auto wire : wires)
    if (!contains(to, wire)) to.push_back(wire);
}

class Builder {
 public:
  explicit Builder(const Diagram& diagram) : diagram_(diagram) {}

  Circuit run() {
    for (const auto& call : diagram_.calls) calls_.emplace(call.result, &call);
    for (const auto id : diagram_.inputs) circuit_.inputs.push_back(array_value(id));
    for (std::size_t i = 0; i < diagram_.statements.size(); ++i) add_statement(i);
    for (const auto id : diagram_.outputs) circuit_.outputs.push_back(arrays_.at(id));
    return std::move(circuit_);
  }

 private:
  std::size_t array_value(ArrayId id) {
    const auto& array = diagram_.at(id);
    circuit_.values.push_back({array.name, id, array.wires});
    return arrays_[id] = circuit_.values.size() - 1;
  }

  void add_statement(std::size_t index) {
    const auto& statement = diagram_.statements[index];
    statement_ = index;
    made_.clear();
    const auto before = circuit_.functions.size();
    auto value = value_of(statement.value);
    const auto& array = diagram_.at(statement.output);
    const bool fresh = circuit_.functions.size() > before && circuit_.functions.back().makes == value;
    const bool whole = circuit_.values[value].wires.size() == array.wires.size() ||
                       (fresh && circuit_.functions.back().kind == MarkKind::pointwise);
    if (!fresh || !whole) value = copy(value, array);
    circuit_.values[value] = {array.name, statement.output, array.wires};
    arrays_[statement.output] = value;
  }

  // A value that is repeated along new wires, cast, or copied.
  std::size_t copy(std::size_t value, const Array& to) {
    const auto& from = circuit_.values[value];
    const bool repeated = from.wires.size() < to.wires.size();
    const bool cast = from.array && diagram_.at(*from.array).type != to.type;
    const auto name = repeated ? "repeat" : cast ? row(to.type).name : "copy";
    return add(MarkKind::pointwise, std::string(name), fmt::format("{} is copied", names({value})), {value}, {},
               to.wires);
  }

  std::size_t add(MarkKind kind, std::string name, const std::string& about, std::vector<std::size_t> reads,
                  std::vector<WireId> acts, std::vector<WireId> wires) {
    std::vector<std::size_t> once;
    for (const auto read : reads)
      if (!contains(once, read)) once.push_back(read);
    circuit_.values.push_back({"", std::nullopt, std::move(wires)});
    const auto makes = circuit_.values.size() - 1;
    circuit_.functions.push_back({kind, std::move(name), about, std::move(once), std::move(acts), makes, statement_});
    return makes;
  }

  std::size_t value_of(ExprId id) {
    const auto found = made_.find(id);
    if (found != made_.end()) return found->second;
    const auto value = make(id);
    made_.emplace(id, value);
    return value;
  }

  std::size_t make(ExprId id) {
    const auto call = calls_.find(id);
    if (call != calls_.end() && !contains(call->second->arguments, id)) return make_call(id, *call->second);
    if (const auto* access = std::get_if<Access>(&diagram_.at(id).node)) return make_access(id, *access);
    if (const auto* reduce = std::get_if<Reduce>(&diagram_.at(id).node)) return make_reduce(*reduce);
    if (is_mask(id)) return make_mask(id);
    return make_box(id, to_text(diagram_, id));
  }

  bool constant(ExprId id) const { return free_wires(diagram_, id).empty() && arrays_read(diagram_, id).empty(); }

  // The wires of the values in order, without those in `less`.
  std::vector<WireId> wires_of(const std::vector<std::size_t>& values, const std::vector<WireId>& less) const {
    std::vector<WireId> wires;
    for (const auto value : values) append_new(wires, circuit_.values[value].wires);
    std::erase_if(wires, [&](WireId wire) { return contains(less, wire); });
    return wires;
  }
  // The wires of the values along which the expression varies, then its other wires.
  std::vector<WireId> wires_of(const std::vector<std::size_t>& values, ExprId id) const {
    const auto free = free_wires(diagram_, id);
    auto wires = wires_of(values, std::vector<WireId>{});
    std::erase_if(wires, [&](WireId wire) { return !contains(free, wire); });
    append_new(wires, free);
    return wires;
  }

  // ---- calls

  void reduced_below(ExprId id, const Call& call, std::vector<WireId>& wires) const {
    if (contains(call.arguments, id)) return;
    match(
        diagram_.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {}, [](const Access&) {},
        [&](const Apply& a) {
          for (const auto argument : a.arguments) reduced_below(argument, call, wires);
        },
        [&](const Cast& c) { reduced_below(c.value, call, wires); },
        [&](const Reduce& r) {
          append_new(wires, r.over);
          reduced_below(r.body, call, wires);
        });
  }

  // A call that keeps the wires that it reduces is a normalisation; a call that reduces nothing is pointwise.
  std::size_t make_call(ExprId id, const Call& call) {
    std::vector<std::size_t> reads;
    std::string constants;
    std::set<ExprId> seen;
    for (const auto argument : call.arguments) {
      if (!seen.insert(argument).second) continue;
      if (constant(argument))
        constants += ", " + to_short_text(diagram_, argument);
      else
        reads.push_back(value_of(argument));
    }
    std::vector<WireId> acts;
    reduced_below(id, call, acts);
    const auto wires = wires_of(reads, id);
    const bool keeps = std::any_of(acts.begin(), acts.end(), [&](WireId wire) { return contains(wires, wire); });
    const auto kind = acts.empty() ? MarkKind::pointwise : keeps ? MarkKind::normalisation : MarkKind::reduction;
    const auto name = constants.empty() ? call.def : call.def + constants;
    return add(kind, name, fmt::format("{}{} of {}", call.def, over(acts), names(reads)), reads, acts, wires);
  }

  // ---- accesses

  // An array read at its own place is its own value. Otherwise a reindexing turns its wires into the wires of the read.
  std::size_t make_access(ExprId id, const Access& access) {
    const auto value = arrays_.at(access.array);
    const auto own = circuit_.values[value].wires;
    const auto& declared = diagram_.at(access.array).wires;
    std::vector<WireId> acts;
    std::vector<std::pair<WireId, std::vector<WireId>>> become;
    std::string name;
    std::set<WireId> seen;
    std::map<WireId, WireId> as;
    for (std::size_t i = 0; i < access.at.size(); ++i) {
      std::vector<WireId> to;
      for (const auto& term : access.at[i].terms)
        if (seen.insert(term.first).second) to.push_back(term.first);
      become.emplace_back(declared[i], to);
      if (plain_wire(access.at[i]) == declared[i]) continue;
      acts.push_back(declared[i]);
      if (const auto other = plain_wire(access.at[i])) as[declared[i]] = *other;
      name += (name.empty() ? "" : ", ") + index_words(access, i);
    }
    if (acts.empty()) return value;
    std::vector<WireId> wires;
    for (const auto wire : own)
      for (const auto& [from, to] : become)
        if (from == wire) append_new(wires, to);
    const auto made =
        add(MarkKind::reindexing, name,
            fmt::format("{} is read at {}", circuit_.values[value].name, to_text(diagram_, id)), {value}, acts, wires);
    circuit_.functions.back().as = std::move(as);
    return made;
  }

  // `y = 2*u + i`
  std::string index_words(const Access& access, std::size_t i) const {
    auto one = diagram_;
    one.arrays.push_back({"", Datatype::f32, {diagram_.at(access.array).wires[i]}, std::nullopt, {}});
    const ArrayId scratch{static_cast<std::uint32_t>(one.arrays.size() - 1)};
    const auto text = to_text(one, one.intern(Access{scratch, {access.at[i]}}));
    return fmt::format("{} = {}", diagram_.at(diagram_.at(access.array).wires[i]).name,
                       text.substr(1, text.size() - 2));
  }

  // ---- reductions

  void factors(ExprId id, std::vector<ExprId>& all) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(id).node);
    if (apply == nullptr || apply->function->role != Role::multiply || calls_.contains(id))
      all.push_back(id);
    else
      for (const auto argument : apply->arguments) factors(argument, all);
  }

  // Whether every summed wire belongs to at least two different factors, and every factor has wires.
  bool meet(const std::vector<WireId>& over, const std::vector<ExprId>& product) const {
    const std::set<ExprId> different(product.begin(), product.end());
    const auto has_wires = [&](ExprId factor) {
      return !arrays_read(diagram_, factor).empty() && !free_wires(diagram_, factor).empty();
    };
    return std::all_of(different.begin(), different.end(), has_wires) &&
           std::all_of(over.begin(), over.end(), [&](WireId wire) {
             return std::count_if(different.begin(), different.end(),
                                  [&](ExprId factor) { return contains(free_wires(diagram_, factor), wire); }) > 1;
           });
  }

  std::size_t make_reduce(const Reduce& reduce) {
    std::vector<ExprId> product;
    if (reduce.reduction->combine->role == Role::add) factors(reduce.body, product);
    if (product.size() > 1 && meet(reduce.over, product)) return make_contraction(reduce, product);
    const auto body = value_of(reduce.body);
    return add(MarkKind::reduction, std::string(reduce.reduction->name),
               fmt::format("{}{} of {}", reduce.reduction->name, over(reduce.over), names({body})), {body}, reduce.over,
               wires_of({body}, reduce.over));
  }

  std::size_t make_contraction(const Reduce& reduce, const std::vector<ExprId>& product) {
    std::vector<std::size_t> reads;
    for (const auto factor : product) reads.push_back(value_of(factor));
    const auto about = fmt::format("{} are multiplied and added up{}", names(reads), over(reduce.over));
    return add(MarkKind::cup, std::string(reduce.reduction->name), about, reads, reduce.over,
               wires_of(reads, reduce.over));
  }

  // ---- masks and boxes

  bool decides_by_place(ExprId id) const {
    return match(
        diagram_.at(id).node, [](const Constant&) { return false; }, [](const Position&) { return true; },
        [](const Size&) { return false; }, [&](const Access& a) { return boolean(a); },
        [&](const Apply& a) {
          return std::any_of(a.arguments.begin(), a.arguments.end(), [&](ExprId e) { return decides_by_place(e); });
        },
        [&](const Cast& c) { return decides_by_place(c.value); }, [](const Reduce&) { return false; });
  }
  bool boolean(const Access& access) const { return diagram_.at(access.array).type == Datatype::boolean; }

  // `where` with a condition on positions, or on an array of conditions, and a constant for the other case.
  bool is_mask(ExprId id) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(id).node);
    if (apply == nullptr || apply->function->role != Role::choose) return false;
    const bool one = constant(apply->arguments[1]) != constant(apply->arguments[2]);
    return one && decides_by_place(apply->arguments[0]);
  }

  std::size_t make_mask(ExprId id) {
    const auto arguments = std::get<Apply>(diagram_.at(id).node).arguments;
    const bool first = !constant(arguments[1]);
    std::vector<std::size_t> reads = {value_of(arguments[first ? 1 : 2])};
    const auto condition = words(arguments[0], reads, {});
    return add(MarkKind::mask, first ? condition : "not (" + condition + ")",
               fmt::format("where {} {}, elsewhere {}", to_text(diagram_, arguments[0]),
                           first ? "holds" : "does not hold", to_text(diagram_, arguments[first ? 2 : 1])),
               reads, {}, wires_of(reads, id));
  }

  std::size_t make_box(ExprId id, const std::string& about) {
    std::vector<std::size_t> reads;
    const auto name = words(id, reads, id);
    return add(MarkKind::pointwise, name, about, reads, {}, wires_of(reads, id));
  }

  bool is_leaf(ExprId id, std::optional<ExprId> root) const {
    if (id == root) return false;
    const auto& node = diagram_.at(id).node;
    return std::holds_alternative<Access>(node) || std::holds_alternative<Reduce>(node) ||
           (calls_.contains(id) && !constant(id)) || is_mask(id);
  }

  // The expression as words, with the results of other functions by name, or as `·` within a statement.
  std::string words(ExprId id, std::vector<std::size_t>& reads, std::optional<ExprId> root) {
    auto shortened = diagram_;
    const auto shown = with_leaves(shortened, id, reads, root);
    return to_short_text(shortened, shown);
  }

  // An array that is only reindexed keeps its name.
  std::string word_of(std::size_t value) const {
    const auto& functions = circuit_.functions;
    const auto made = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.makes == value; });
    const auto origin = made != functions.end() && made->kind == MarkKind::reindexing ? made->reads.front() : value;
    const auto& name = circuit_.values[origin].name;
    return name.empty() ? "·" : name;
  }

  ExprId with_leaves(Diagram& shortened, ExprId id, std::vector<std::size_t>& reads, std::optional<ExprId> root) {
    if (!is_leaf(id, root))
      return with_operands(shortened, id, [&](ExprId part) { return with_leaves(shortened, part, reads, root); });
    reads.push_back(value_of(id));
    const auto& value = circuit_.values[reads.back()];
    Array shown{word_of(reads.back()), Datatype::f32, value.wires, std::nullopt, {}};
    Access access{{static_cast<std::uint32_t>(shortened.arrays.size())}, {}};
    for (const auto wire : value.wires) access.at.push_back({{{wire, 1}}, 0, 1});
    shortened.arrays.push_back(std::move(shown));
    return shortened.intern(std::move(access));
  }

  // ---- words

  std::string over(const std::vector<WireId>& wires) const {
    std::string text;
    for (const auto wire : wires) text += (text.empty() ? " over " : ", ") + diagram_.at(wire).name;
    return text;
  }
  std::string names(const std::vector<std::size_t>& values) const {
    std::string text;
    for (const auto value : values) {
      const auto& name = circuit_.values[value].name;
      text += (text.empty() ? "" : " and ") + (name.empty() ? "what comes before" : name);
    }
    return text;
  }

  const Diagram& diagram_;
  Circuit circuit_;
  std::map<ExprId, const Call*> calls_;
  std::map<ArrayId, std::size_t> arrays_;
  std::map<ExprId, std::size_t> made_;  // values of the current statement
  std::size_t statement_ = 0;
};

}  // namespace

Circuit circuit(const Diagram& diagram) { return Builder(diagram).run(); }

Circuit part(const Circuit& whole, const Derivation& derivation) {
  Circuit some{whole.values, {}, {}, {}};
  for (const auto& function : whole.functions)
    if (contains(derivation.statements, StatementId{static_cast<std::uint32_t>(function.statement)}))
      some.functions.push_back(function);
  for (std::size_t i = 0; i < whole.values.size(); ++i) {
    if (!whole.values[i].array) continue;
    if (contains(derivation.inputs, *whole.values[i].array)) some.inputs.push_back(i);
    if (contains(derivation.outputs, *whole.values[i].array)) some.outputs.push_back(i);
  }
  return some;
}

}  // namespace napkin::scene
