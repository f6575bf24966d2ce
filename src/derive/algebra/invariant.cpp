// Moves constant factors out of sums; see invariant.hpp.
//
// A sum distributes over a factor that is the same for all its terms. Only factors without arrays move here: they
// cannot overflow, and the plain sum of products that remains suits a matrix unit. Factors that vary wait until it is
// known which wire is streamed (rule S6).
#include "derive/algebra/invariant.hpp"

#include <cmath>

#include "diagram/operands.hpp"

namespace napkin {
namespace {

class Mover {
 public:
  Mover(Diagram& diagram, std::vector<Rewriting>& trace, ArrayId of) : diagram_(diagram), trace_(trace), of_(of) {}

  ExprId moved(ExprId e) {
    const ExprId plain = with_operands(diagram_, e, [&](ExprId operand) { return moved(operand); });
    const Expr made = diagram_.at(plain);
    const auto* reduce = std::get_if<Reduce>(&made.node);
    return reduce && reduce->reduction->combine->role == Role::add ? reduced(plain, *reduce, made.span) : plain;
  }

 private:
  struct Factors {
    std::vector<ExprId> varying_over, varying_under, constant_over, constant_under;
  };

  ExprId reduced(ExprId plain, const Reduce& reduce, Span span) {
    const ExprId body = reduce.body;
    Factors factors;
    collect(body, true, factors);
    if (factors.varying_over.empty() || (factors.constant_over.empty() && factors.constant_under.empty())) return plain;
    const ExprId inside = quotient(factors.varying_over, factors.varying_under, diagram_.at(body).span);
    auto over = factors.constant_over;
    over.push_back(diagram_.intern(Reduce{reduce.reduction, reduce.over, inside}, span));
    const ExprId after = quotient(over, factors.constant_under, span);
    trace_.push_back({Rule::invariant, of_, plain, after, "the factor is the same in every term of the sum"});
    return after;
  }
  void collect(ExprId e, bool over, Factors& factors) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(e).node);
    const auto role = apply ? apply->function->role : Role::other;
    if (role == Role::multiply || role == Role::divide) {
      collect(apply->arguments[0], over, factors);
      collect(apply->arguments[1], role == Role::multiply ? over : !over, factors);
    } else if (!is_infinite(e) && free_wires(diagram_, e).empty() && arrays_read(diagram_, e).empty()) {
      (over ? factors.constant_over : factors.constant_under).push_back(e);
    } else {
      (over ? factors.varying_over : factors.varying_under).push_back(e);
    }
  }
  // An infinite factor stays inside, because the sum of the terms may be zero.
  bool is_infinite(ExprId e) const {
    const auto* constant = std::get_if<Constant>(&diagram_.at(e).node);
    return constant && std::isinf(constant->value);
  }
  ExprId quotient(const std::vector<ExprId>& over, const std::vector<ExprId>& under, Span span) {
    ExprId value = over[0];
    for (std::size_t i = 1; i < over.size(); ++i) value = apply("*", {value, over[i]}, span);
    if (under.empty()) return value;
    ExprId divisor = under[0];
    for (std::size_t i = 1; i < under.size(); ++i) divisor = apply("*", {divisor, under[i]}, span);
    return apply("/", {value, divisor}, span);
  }
  ExprId apply(std::string_view function, std::vector<ExprId> arguments, Span span) {
    return diagram_.intern(Apply{find_pointwise(function), std::move(arguments)}, span);
  }

  Diagram& diagram_;
  std::vector<Rewriting>& trace_;
  ArrayId of_;
};

}  // namespace

ExprId invariants_outside(Diagram& diagram, ExprId e, std::vector<Rewriting>& trace, ArrayId of) {
  return Mover(diagram, trace, of).moved(e);
}

}  // namespace napkin
