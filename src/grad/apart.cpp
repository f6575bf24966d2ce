// Finds reductions that are recomputed along wires that they do not vary along, and gives them statements of their own.
#include <fmt/format.h>

#include <algorithm>

#include "grad/backward.hpp"

namespace napkin::grad {
namespace {

int digits(Datatype type) {
  switch (type) {
    case Datatype::f64:
      return 53;
    case Datatype::f32:
      return 24;
    case Datatype::tf32:
    case Datatype::f16:
      return 11;
    default:
      return 8;
  }
}

class Apart {
 public:
  explicit Apart(Backward& all) : all_(all), diagram_(all.diagram), algebra_(all.algebra) {
    for (const auto& statement : all.forward) know(statement);
    for (const auto& statement : all.diagram.statements)
      if (std::ranges::find(all.saved, statement.output) != all.saved.end()) know(statement);
  }

  void run() {
    const auto before = std::move(all_.made);
    all_.made.clear();
    for (auto statement : before) {
      const auto& wires = diagram_.at(statement.output).wires;
      statement.value = rebuilt(statement.value, {wires.begin(), wires.end()});
      all_.made.push_back(statement);
    }
  }

 private:
  // Remembers a statement that consists only of a reduction.
  void know(const Statement& statement) {
    const Sum value = algebra_.sum_of(statement.value);
    if (value.size() != 1 || value[0].coefficient != 1 || value[0].factors.size() != 1) return;
    const auto [factor, exponent] = *value[0].factors.begin();
    const auto* reduce = std::get_if<Reduce>(&diagram_.at(factor).node);
    const bool whole = algebra_.free(factor).size() == diagram_.at(statement.output).wires.size();
    if (reduce && whole && exponent == 1 && may_store(*reduce, diagram_.at(statement.output).type))
      known_[factor] = algebra_.read(statement.output);
  }

  // An extreme is compared with the values that it was taken from, so storing it must not change it.
  bool may_store(const Reduce& reduce, Datatype type) const {
    const auto role = reduce.reduction->combine->role;
    if (role == Role::add || role == Role::multiply) return digits(type) >= 24;
    const auto* access = std::get_if<Access>(&diagram_.at(reduce.body).node);
    if (!access) return false;
    const auto read = diagram_.at(access->array).type;
    return type == read || digits(type) >= 2 * digits(read);
  }

  ExprId rebuilt(ExprId id, const std::set<WireId>& scope) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    auto node = diagram_.at(id).node;
    if (auto* apply = std::get_if<Apply>(&node)) {
      for (auto& argument : apply->arguments) argument = rebuilt(argument, scope);
    } else if (auto* cast = std::get_if<Cast>(&node)) {
      cast->value = rebuilt(cast->value, scope);
    } else if (auto* reduce = std::get_if<Reduce>(&node)) {
      const auto wires = algebra_.free(id);
      const bool apart = wires.size() < scope.size() && may_store(*reduce, Datatype::f32);
      auto inner = apart ? wires : scope;
      inner.insert(reduce->over.begin(), reduce->over.end());
      reduce->body = rebuilt(reduce->body, inner);
      if (apart) return known_[id] = named(*reduce, wires);
    } else {
      return id;
    }
    return diagram_.intern(std::move(node));
  }

  ExprId named(const Reduce& reduce, const std::set<WireId>& wires) {
    const auto array = all_.array(all_.unused(name_of(reduce, wires)), Datatype::f32, {wires.begin(), wires.end()});
    all_.made.push_back({array, diagram_.intern(reduce), nowhere});
    return algebra_.read(array);
  }

  // The name of a stored reduction. A sum of a product of few arrays is named after them: O_dO, or sum_X for one array.
  // Others are named after the reduction and its wires: sum_q.
  std::string name_of(const Reduce& reduce, const std::set<WireId>& wires) const {
    auto arrays = arrays_in(reduce.body);
    std::ranges::sort(arrays);
    std::string name(reduce.reduction->name);
    if (reduce.reduction->combine->role == Role::add && !arrays.empty() && arrays.size() < 4) {
      if (arrays.size() > 1) name.clear();
      for (const auto array : arrays) name += (name.empty() ? "" : "_") + diagram_.at(array).name;
      return name;
    }
    const auto* choice = std::get_if<Apply>(&diagram_.at(reduce.body).node);
    if (choice && choice->function->role == Role::choose && choice->arguments[1] == algebra_.number(1)) return "count";
    if (wires.size() > 2) return name + "_part";
    for (const auto wire : wires) name += "_" + diagram_.at(diagram_.at(wire).axis).name;
    return name;
  }
  std::vector<ArrayId> arrays_in(ExprId id) const {
    const auto& node = diagram_.at(id).node;
    if (const auto* access = std::get_if<Access>(&node)) return {access->array};
    const auto* apply = std::get_if<Apply>(&node);
    if (!apply || apply->function->role != Role::multiply) return {};
    auto arrays = arrays_in(apply->arguments[0]);
    const auto more = arrays_in(apply->arguments[1]);
    if (arrays.empty() || more.empty()) return {};
    arrays.insert(arrays.end(), more.begin(), more.end());
    return arrays;
  }

  Backward& all_;
  Diagram& diagram_;
  Algebra& algebra_;
  std::map<ExprId, ExprId> known_;  // reductions, and reads of the arrays that store them
};

}  // namespace

void set_apart(Backward& all) { Apart(all).run(); }

}  // namespace napkin::grad
