// Replaces expressions by reads of saved arrays.
#include <algorithm>

#include "grad/backward.hpp"
#include "grad/expression.hpp"
#include "grad/substitute.hpp"

namespace napkin::grad {
namespace {

const Pointwise* logarithm_of(const Pointwise& exponential) {
  for (const auto& function : pointwise_functions())
    if (function.role == Role::logarithm && function.scale == exponential.scale) return &function;
  return nullptr;
}

bool is_positive(const Diagram& diagram, ExprId id) {
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  return apply && apply->function->positive;
}

// The exponential in the terms of a sum, alone or with factors that are never negative.
const Pointwise* summed_exponential(Algebra& algebra, ExprId id) {
  const auto node = algebra.diagram().at(id).node;
  const auto* reduce = std::get_if<Reduce>(&node);
  if (!reduce || reduce->reduction->combine->role != Role::add) return nullptr;
  const auto body = algebra.single(Sum(algebra.sum_of(reduce->body)));
  const auto positive = [&](const auto& factor) { return is_positive(algebra.diagram(), factor.first); };
  if (body.coefficient < 0 || !std::ranges::all_of(body.factors, positive)) return nullptr;
  for (const auto& factor : body.factors) {
    const auto* apply = std::get_if<Apply>(&algebra.diagram().at(factor.first).node);
    const auto& free = algebra.free(factor.first);
    const bool varies = std::ranges::any_of(reduce->over, [&](WireId wire) { return free.contains(wire); });
    if (apply && apply->function->role == Role::exponential && varies) return apply->function;
  }
  return nullptr;
}

// The first sum of exponentials below an expression.
std::optional<ExprId> find_sum(Algebra& algebra, ExprId id) {
  if (summed_exponential(algebra, id)) return id;
  const auto node = algebra.diagram().at(id).node;
  if (const auto* apply = std::get_if<Apply>(&node)) {
    for (const auto argument : apply->arguments)
      if (const auto found = find_sum(algebra, argument)) return found;
  }
  if (const auto* cast = std::get_if<Cast>(&node)) return find_sum(algebra, cast->value);
  if (const auto* reduce = std::get_if<Reduce>(&node)) return find_sum(algebra, reduce->body);
  return std::nullopt;
}

// Replaces a sum of exponentials by exp(array) in every statement from the i-th on.
bool replace_sum(Backward& all, std::vector<Statement>& statements, std::size_t i, ExprId sum, ArrayId array) {
  const auto exponential = all.algebra.apply(*summed_exponential(all.algebra, sum), {all.algebra.read(array)});
  bool any = false;
  for (; i < statements.size(); ++i) {
    auto& statement = statements[i];
    const auto normal = expression(all.algebra, Sum(all.algebra.sum_of(statement.value)));
    const auto made = replaced(all.diagram, normal, {{sum, exponential}});
    if (made == normal) continue;
    statement.value = expression(all.algebra, Sum(all.algebra.sum_of(made)));
    all.rewritten.insert(statement.output);
    any = true;
  }
  return any;
}
void replace_sum(Backward& all, ExprId sum, ArrayId array) {
  replace_sum(all, all.forward, 0, sum, array);
  replace_sum(all, all.made, 0, sum, array);
}

// The sum of exponentials, if the statement is the logarithm of one.
std::optional<ExprId> logarithm_in(Algebra& algebra, const Statement& statement) {
  const Sum value = algebra.sum_of(statement.value);
  if (value.size() != 1 || value[0].factors.size() != 1 || value[0].coefficient != 1) return std::nullopt;
  const auto [factor, exponent] = *value[0].factors.begin();
  const auto* log = std::get_if<Apply>(&algebra.diagram().at(factor).node);
  if (exponent != 1 || !log || log->function->role != Role::logarithm) return std::nullopt;
  const auto sum = log->arguments[0];
  const auto scale = log->function->scale;
  const auto* exponential = summed_exponential(algebra, sum);
  const bool whole = algebra.free(sum).size() == algebra.diagram().at(statement.output).wires.size();
  return whole && exponential && exponential->scale == scale ? std::optional(sum) : std::nullopt;
}

bool save_statement(Backward& all, ArrayId array) {
  const auto at = std::ranges::find(all.forward, array, &Statement::output);
  if (at == all.forward.end()) return false;
  const auto sum = logarithm_in(all.algebra, *at);
  all.forward.erase(at);
  all.saved.push_back(array);
  if (sum) replace_sum(all, *sum, array);
  return true;
}

std::optional<ExprId> sum_in(Backward& all, const Statement& statement) {
  return find_sum(all.algebra, expression(all.algebra, Sum(all.algebra.sum_of(statement.value))));
}
ArrayId array_for(Backward& all, const std::string& name, ExprId sum) {
  const auto wires = all.algebra.free(sum);
  return all.array(name, Datatype::f32, {wires.begin(), wires.end()});
}
ExprId logarithm(Backward& all, ExprId sum) {
  return all.algebra.apply(*logarithm_of(*summed_exponential(all.algebra, sum)), {sum});
}

}  // namespace

bool save(Backward& all, const std::string& name) {
  const auto old = std::ranges::find(all.diagram.arrays, name, &Array::name);
  if (old != all.diagram.arrays.end())
    return save_statement(all, {static_cast<std::uint32_t>(old - all.diagram.arrays.begin())});
  for (const auto& statement : all.forward) {
    const auto sum = sum_in(all, statement);
    if (!sum) continue;
    const auto array = array_for(all, name, *sum);
    all.comments[array] = in_axes(all.diagram, logarithm(all, *sum));
    all.saved.push_back(array);
    replace_sum(all, *sum, array);
    return true;
  }
  return false;
}

void keep_logarithms(Backward& all) {
  for (std::size_t i = 0; i < all.made.size(); ++i) {
    const auto sum = sum_in(all, all.made[i]);
    if (!sum || logarithm_in(all.algebra, all.made[i])) continue;
    const auto same = std::ranges::find_if(
        all.forward, [&](const Statement& statement) { return logarithm_in(all.algebra, statement) == sum; });
    const bool known = same != all.forward.end();
    const auto array = known ? same->output : array_for(all, all.unused("log_sum"), *sum);
    replace_sum(all, all.made, i, *sum, array);
    if (!known)
      all.made.insert(all.made.begin() + static_cast<std::ptrdiff_t>(i), {array, logarithm(all, *sum), nowhere});
  }
}

}  // namespace napkin::grad
