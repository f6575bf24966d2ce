// Evaluates columns under the assumption that a condition fails everywhere on a piece. If every state that outlives the
// piece is then unchanged, the loop may skip pieces on which the condition holds nowhere.
//
// Expressions are rewritten under the assumption: masked entries become constants, products with zero vanish, and a
// reduction of identities leaves the old state. Whatever remains unknown becomes an opaque array.
#include "derive/masks.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "derive/algebra/conditions.hpp"
#include "derive/algebra/terms.hpp"
#include "derive/algebra/trial.hpp"
#include "derive/columns.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

// ---- one assumption ----

class Assumption {
 public:
  // The destructor removes again what the rewriting adds to the diagram.
  Assumption(Diagram& diagram, ExprId condition, bool holds)
      : diagram_(diagram), trial_(diagram), condition_(condition), holds_(holds) {}
  Assumption(const Assumption&) = delete;
  ~Assumption() { trial_.take_back(); }

  void run(const std::vector<Step>& steps) {
    for (const auto& step : steps)
      match(
          step, [&](const Column& column) { run(column); }, [&](const Loop& loop) { run(loop.body); });
  }
  // Whether the array still holds its old value.
  bool unchanged(ArrayId array) const {
    const auto found = known_.find(array);
    return found == known_.end() || is_old(found->second, array);
  }

 private:
  // None: the value is unknown.
  using Known = std::optional<ExprId>;

  bool is_old(const Known& known, ArrayId array) const {
    const auto* access = known ? std::get_if<Access>(&diagram_.at(*known).node) : nullptr;
    return access && access->array == array && at_own_place(*access);
  }
  bool at_own_place(const Access& access) const {
    const auto& wires = diagram_.at(access.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (access.at[i] != Index{.terms = {{wires[i], 1}}}) return false;
    return true;
  }
  std::optional<double> number(ExprId id) const {
    const auto* constant = std::get_if<Constant>(&diagram_.at(id).node);
    return constant ? std::optional(constant->value) : std::nullopt;
  }
  bool is(ExprId id, double value) const { return number(id) == std::optional(value); }
  ExprId constant(double value) { return diagram_.intern(Constant{value}); }

  Known old(ArrayId array) {
    const auto found = known_.find(array);
    return found == known_.end() ? read_whole(diagram_, array) : found->second;
  }

  void run(const Column& column) {
    const ExprId value = simplified(column.value);
    if (!column.fold) {
      known_[column.output] = worth_knowing(value) ? Known(value) : std::nullopt;
      return;
    }
    const bool nothing_new = is(value, column.fold->identity);
    const bool repaired = column.repair && !is(simplified(*column.repair), 1);
    Known known;
    if (nothing_new && !repaired) known = column.carried ? old(*column.carried) : constant(column.fold->identity);
    known_[column.output] = known;
  }
  // Only constants and copies of other states are recorded.
  bool worth_knowing(ExprId value) const {
    const auto* access = std::get_if<Access>(&diagram_.at(value).node);
    return number(value) || (access && at_own_place(*access) && !changed_.contains(access->array));
  }

  ExprId simplified(ExprId id) {
    if (id == condition_) return constant(holds_ ? 1 : 0);
    const auto node = diagram_.at(id).node;
    return match(
        node, [&](const Constant&) { return id; }, [&](const Position&) { return id; }, [&](const Size&) { return id; },
        [&](const Access& a) { return simplified(a, id); }, [&](const Apply& a) { return simplified(a); },
        [&](const Cast& c) { return simplified(c); }, [&](const Reduce&) { return id; });
  }
  ExprId simplified(const Access& access, ExprId id) {
    const auto found = known_.find(access.array);
    if (found == known_.end()) return id;
    if (!found->second) return opaque(access.array);
    const ExprId known = *found->second;
    if (number(known)) return known;
    return at_own_place(access) ? known : opaque(access.array);
  }
  // A new array for a value that has changed; no two of them are equal.
  ExprId opaque(ArrayId array) {
    const auto fresh = new_array(diagram_, "changed", diagram_.at(array).type, {}, diagram_.at(array).span);
    changed_.insert(fresh);
    return read_whole(diagram_, fresh);
  }
  ExprId simplified(const Cast& cast) {
    const ExprId value = simplified(cast.value);
    const auto known = number(value);
    return known ? constant(row(cast.type).round(*known)) : diagram_.intern(Cast{cast.type, value});
  }
  ExprId simplified(const Apply& apply) {
    std::vector<ExprId> arguments;
    for (const auto argument : apply.arguments) arguments.push_back(simplified(argument));
    if (const auto known = by_role(*apply.function, arguments)) return *known;
    if (const auto known = by_value(*apply.function, arguments)) return constant(*known);
    return diagram_.intern(Apply{apply.function, std::move(arguments)});
  }
  // A masked entry contributes nothing, whatever it is multiplied by.
  std::optional<ExprId> by_role(const Pointwise& function, const std::vector<ExprId>& arguments) {
    const auto any_is = [&](double value) {
      return std::ranges::any_of(arguments, [&](ExprId a) { return is(a, value); });
    };
    switch (function.role) {
      case Role::choose:
        if (const auto condition = number(arguments[0])) return *condition != 0 ? arguments[1] : arguments[2];
        return arguments[1] == arguments[2] ? std::optional(arguments[1]) : std::nullopt;
      case Role::multiply:
        if (any_is(0)) return constant(0);
        return without(arguments, 1);
      case Role::divide:
        return is(arguments[0], 0) ? std::optional(constant(0)) : std::nullopt;
      case Role::add:
        for (const double extreme : {-infinity, infinity})
          if (any_is(extreme)) return constant(extreme);
        return without(arguments, 0);
      case Role::subtract:
        if (is(arguments[0], -infinity) || is(arguments[0], infinity) || is(arguments[1], 0)) return arguments[0];
        return arguments[0] == arguments[1] ? std::optional(constant(0)) : std::nullopt;
      default:
        break;
    }
    if (function.role != Role::exponential_of_difference) return std::nullopt;
    if (is(arguments[0], -infinity)) return constant(0);
    // A state that is still empty is zero, so its factor does not matter, even if it is NaN.
    return arguments[0] == arguments[1] ? std::optional(constant(1)) : std::nullopt;
  }
  // Returns the other argument if one of the two is the identity.
  std::optional<ExprId> without(const std::vector<ExprId>& arguments, double identity) const {
    if (is(arguments[0], identity)) return arguments[1];
    return is(arguments[1], identity) ? std::optional(arguments[0]) : std::nullopt;
  }
  // The value of a function of constants; of a logic function also if every value of its unknown arguments gives the
  // same result.
  std::optional<double> by_value(const Pointwise& function, const std::vector<ExprId>& arguments) const {
    std::vector<double> values;
    std::vector<std::size_t> unknown;
    for (const auto argument : arguments) {
      const auto known = number(argument);
      if (!known) unknown.push_back(values.size());
      values.push_back(known.value_or(0));
    }
    if (!unknown.empty() && function.role != Role::logic) return std::nullopt;
    std::set<double> answers;
    for (unsigned choice = 0; choice < 1U << unknown.size(); ++choice) {
      for (std::size_t i = 0; i < unknown.size(); ++i) values[unknown[i]] = choice >> i & 1U;
      answers.insert(function.value(values.data()));
    }
    return answers.size() == 1 ? std::optional(*answers.begin()) : std::nullopt;
  }

  Diagram& diagram_;
  Trial trial_;
  ExprId condition_;
  bool holds_;
  std::map<ArrayId, Known> known_;
  std::set<ArrayId> changed_;
};

// ---- programs ----

// Collects comparisons of positions, and reads of masks.
void collect_conditions(const Diagram& diagram, ExprId id, std::set<ExprId>& found) {
  const auto& node = diagram.at(id).node;
  if (const auto* access = std::get_if<Access>(&node))
    if (diagram.at(access->array).type == Datatype::boolean) found.insert(id);
  if (const auto* cast = std::get_if<Cast>(&node)) collect_conditions(diagram, cast->value, found);
  const auto* apply = std::get_if<Apply>(&node);
  if (!apply) return;
  if (apply->function->role == Role::compare && condition(diagram, id)) found.insert(id);
  for (const auto argument : apply->arguments) collect_conditions(diagram, argument, found);
}

class Needs {
 public:
  explicit Needs(Program& program) : program_(program) {
    for (const auto* column : columns_in(program.steps))
      for (const auto array : touched(*column)) ++uses_[array];
    for (const auto output : program.outputs) ++uses_[output];
  }
  void run(std::vector<Step>& steps) {
    for (auto& step : steps)
      if (auto* loop = std::get_if<Loop>(&step)) {
        find(*loop);
        run(loop->body);
      }
  }

 private:
  std::set<ArrayId> touched(const Column& column) const {
    std::set<ArrayId> all{column.output};
    for (const auto array : reads(program_.scratch, column)) all.insert(array);
    return all;
  }
  // Arrays that the body writes and that are used outside of it.
  std::set<ArrayId> outliving(const Loop& loop) const {
    std::map<ArrayId, int> inside;
    std::set<ArrayId> written;
    for (const auto* column : columns_in(loop.body)) {
      for (const auto array : touched(*column)) ++inside[array];
      written.insert(column->output);
    }
    std::erase_if(written, [&](ArrayId array) { return inside.at(array) == uses_.at(array); });
    return written;
  }
  void find(Loop& loop) const {
    std::set<ExprId> found;
    for (const auto* column : columns_in(loop.body)) collect_conditions(program_.scratch, column->value, found);
    std::erase_if(found, [&](ExprId id) { return !may_be_asked(loop, id); });
    if (found.empty()) return;
    const auto state = outliving(loop);
    for (const auto id : found)
      for (const bool holds : {false, true}) {
        Assumption assumption(program_.scratch, id, holds);
        assumption.run(loop.body);
        if (std::ranges::all_of(state, [&](ArrayId a) { return assumption.unchanged(a); })) ask(loop, id, !holds);
      }
  }
  // Comparisons of positions can always be tested. A mask can be tested only if it is an input, because others are not
  // computed yet, and only by a loop whose wire the mask varies along.
  bool may_be_asked(const Loop& loop, ExprId id) const {
    const auto* access = std::get_if<Access>(&program_.scratch.at(id).node);
    if (!access) return true;
    const auto wires = free_wires(program_.scratch, id);
    return std::ranges::find(program_.inputs, access->array) != program_.inputs.end() &&
           std::ranges::find(wires, loop.wire) != wires.end();
  }
  void ask(Loop& loop, ExprId id, bool wanted) const {
    const auto asked = condition(program_.scratch, id);
    if (!asked) return loop.asks.push_back({id, wanted});
    const auto needed = wanted ? *asked : asked->negated();
    if (!needed.spares_one()) loop.needs.push_back(needed);
  }

  Program& program_;
  std::map<ArrayId, int> uses_;  // number of columns that read the array, plus 1 for an output
};

// ---- values under the condition that their masks hold ----

// Collects the comparisons that must all hold for the condition to hold. False if the condition is not such a
// conjunction.
bool conjuncts(const Diagram& diagram, ExprId id, std::vector<Condition>& found) {
  if (const auto one = condition(diagram, id)) return found.push_back(*one), !one->spares_one();
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  if (!apply || !is_conjunction(*apply->function)) return false;
  return std::ranges::all_of(apply->arguments, [&](ExprId a) { return conjuncts(diagram, a, found); });
}

ExprId without_masks(Diagram& diagram, ExprId id, std::vector<Condition>& found) {
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  if (apply && apply->function->role == Role::choose) {
    std::vector<Condition> needed;
    const ExprId kept = apply->arguments[1];
    if (conjuncts(diagram, apply->arguments[0], needed)) {
      found.insert(found.end(), needed.begin(), needed.end());
      return without_masks(diagram, kept, found);
    }
  }
  return with_operands(diagram, id, [&](ExprId operand) { return without_masks(diagram, operand, found); });
}

}  // namespace

void find_needs(Program& program) { Needs(program).run(program.steps); }

std::optional<Unmasked> unmasked(Diagram& diagram, ExprId value) {
  Unmasked result;
  result.value = without_masks(diagram, value, result.conditions);
  if (result.conditions.empty()) return std::nullopt;
  std::ranges::sort(result.conditions);
  result.conditions.erase(std::unique(result.conditions.begin(), result.conditions.end()), result.conditions.end());
  return result;
}

}  // namespace napkin
