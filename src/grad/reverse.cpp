// Walks the sums of products of a statement from its result to its reads. Each factor a^k of a term receives
// cotangent * k * term / a, summed over the wires that a lacks.
#include "grad/reverse.hpp"

#include <algorithm>

#include "diagram/index.hpp"
#include "diagram/match.hpp"
#include "diagram/operands.hpp"
#include "grad/derivative.hpp"
#include "grad/reads.hpp"
#include "grad/spread.hpp"

namespace napkin::grad {
namespace {

// A statement solved for one of its factors: V = c * f / rest gives f = V * rest / c, so that f need not be recomputed.
struct Known {
  ExprId factor;
  Product instead;
};

class Walk {
 public:
  Walk(Reverse& reverse, const Statement& statement, std::map<ArrayId, Sum>& to)
      : all_(reverse), algebra_(reverse.algebra), diagram_(algebra_.diagram()), to_(to) {
    const auto& wires = diagram_.at(statement.output).wires;
    const std::set<WireId> scope(wires.begin(), wires.end());
    value_ = algebra_.sum_of(statement.value);
    scope_ = scope;
    known_ = known(statement.output);
  }

  void run(const Sum& cotangent) {
    order(value_);
    pass(value_, scope_, cotangent);
    for (auto at = order_.rbegin(); at != order_.rend(); ++at)
      if (const auto found = received_.find(*at); found != received_.end()) step(*at, Sum(found->second));
  }

 private:
  bool matters(ExprId id) {
    if (algebra_.is_condition(id)) return false;
    const auto [found, first] = matters_.try_emplace(id);
    if (first)
      found->second =
          std::ranges::any_of(arrays_read(diagram_, id), [&](ArrayId a) { return all_.active.contains(a); });
    return found->second;
  }

  bool is_exponential(ExprId id) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(id).node);
    return apply && apply->function->role == Role::exponential;
  }
  // The factor that is solved for must vary along all wires, and the other factors must never be 0.
  std::optional<Known> known(ArrayId output) {
    if (value_.size() != 1) return std::nullopt;
    std::optional<ExprId> factor;
    for (const auto& [one, exponent] : value_[0].factors) {
      const bool whole = algebra_.free(one) == scope_ && std::holds_alternative<Apply>(diagram_.at(one).node);
      if (algebra_.is_condition(one)) return std::nullopt;
      if (!factor && whole && (exponent == 1 || is_exponential(one))) {
        factor = one;
      } else if (exponent > 0 && !is_exponential(one)) {
        return std::nullopt;
      }
    }
    if (!factor || !matters(*factor)) return std::nullopt;
    auto rest = value_[0];
    const auto exponent = rest.factors.at(*factor);
    rest.factors.erase(*factor);
    const auto power = times({1, {{algebra_.read(output), 1}}}, to_power(rest, -1));
    if (exponent != 1 && power.coefficient < 0) return std::nullopt;
    return Known{*factor, to_power(power, 1 / exponent)};
  }
  Product with_known(Product product) const {
    if (!known_) return product;
    const auto found = product.factors.find(known_->factor);
    if (found == product.factors.end()) return product;
    const auto exponent = found->second;
    product.factors.erase(found);
    return times(product, to_power(known_->instead, exponent));
  }

  // Orders the expressions so that, in reverse, each one comes after all those that read it.
  void order(const Sum& sum) {
    for (const auto& product : sum)
      for (const auto& [factor, exponent] : product.factors) order(factor);
  }
  void order(ExprId id) {
    if (!matters(id) || !seen_.insert(id).second) return;
    for (const auto& sum : below(id)) order(sum);
    order_.push_back(id);
  }

  bool is_opaque(ExprId id) {
    const auto& sum = algebra_.sum_of(id);
    return sum.size() == 1 && sum[0].coefficient == 1 && sum[0].factors == std::map<ExprId, double>{{id, 1}};
  }
  std::vector<Sum> below(ExprId id) {
    if (!is_opaque(id)) return {algebra_.sum_of(id)};
    std::vector<Sum> all;
    const auto node = diagram_.at(id).node;
    if (const auto* apply = std::get_if<Apply>(&node))
      for (const auto argument : apply->arguments) all.push_back(algebra_.sum_of(argument));
    if (const auto* cast = std::get_if<Cast>(&node)) all.push_back(algebra_.sum_of(cast->value));
    if (const auto* reduce = std::get_if<Reduce>(&node)) all.push_back(algebra_.sum_of(reduce->body));
    return all;
  }

  void pass(const Sum& value, const std::set<WireId>& scope, const Sum& cotangent) {
    for (const auto& term : value) {
      for (const auto& [factor, exponent] : term.factors) {
        if (!matters(factor)) continue;
        const auto slope = times(term, {exponent, {{factor, -1}}});
        for (const auto& product : cotangent) give(factor, scope, times(product, slope));
      }
    }
  }
  void give(ExprId factor, const std::set<WireId>& scope, const Product& product) {
    std::vector<WireId> over;
    std::ranges::set_difference(scope, algebra_.free(factor), std::back_inserter(over));
    add(received_[factor], all_.summed(over, with_known(product)));
  }

  static Sum each_times(const Sum& sum, const Product& product) {
    Sum made;
    for (const auto& term : sum) add(made, times(term, product));
    return made;
  }

  void step(ExprId id, const Sum& cotangent) {
    if (!is_opaque(id)) return pass(Sum(algebra_.sum_of(id)), algebra_.free(id), cotangent);
    const auto node = diagram_.at(id).node;
    match(
        node, [&](const Access& access) { back(id, access, cotangent); },
        [&](const Cast& cast) { pass(Sum(algebra_.sum_of(cast.value)), algebra_.free(id), cotangent); },
        [&](const Apply& apply) { pointwise(id, apply, cotangent); },
        [&](const Reduce& reduce) { reduction(id, reduce, cotangent); }, [](const auto&) {});
  }

  void pointwise(ExprId id, const Apply& apply, const Sum& cotangent) {
    for (std::size_t i = 0; i < apply.arguments.size(); ++i) {
      const auto slope = matters(apply.arguments[i]) ? derivative(diagram_, apply, i) : std::nullopt;
      if (!slope) continue;
      const auto product = algebra_.single(Sum(algebra_.sum_of(*slope)));
      pass(Sum(algebra_.sum_of(apply.arguments[i])), algebra_.free(id), each_times(cotangent, product));
    }
  }

  void reduction(ExprId id, const Reduce& reduce, const Sum& cotangent) {
    auto scope = algebra_.free(id);
    scope.insert(reduce.over.begin(), reduce.over.end());
    const Sum body = algebra_.sum_of(reduce.body);
    const auto role = reduce.reduction->combine->role;
    if (role == Role::add) return pass(body, scope, cotangent);
    for (const auto& slope : role == Role::multiply ? of_product(id, reduce) : of_extreme(id, reduce))
      pass(body, scope, each_times(cotangent, slope));
  }

  ExprId count(const Reduce& reduce, ExprId condition) {
    const auto one = algebra_.apply("where", {condition, algebra_.number(1), algebra_.number(0)});
    return diagram_.intern(Reduce{find_reduction("sum"), reduce.over, one});
  }
  // All positions that attain the extreme share its cotangent equally.
  Sum of_extreme(ExprId id, const Reduce& reduce) {
    const auto equal = algebra_.apply("==", {reduce.body, id});
    return {{1, {{equal, 1}, {count(reduce, equal), -1}}}};
  }
  // The product of the other factors: the whole product divided by this factor. If this factor is the only 0, it is the
  // product of the others instead.
  Sum of_product(ExprId id, const Reduce& reduce) {
    const auto zero = algebra_.number(0), one = algebra_.number(1);
    const auto is_zero = algebra_.apply("==", {reduce.body, zero});
    const auto others = algebra_.apply("where", {is_zero, one, reduce.body});
    const auto product = diagram_.intern(Reduce{reduce.reduction, reduce.over, others});
    const auto zeros = count(reduce, is_zero);
    const auto none = algebra_.apply("==", {zeros, zero}), single = algebra_.apply("==", {zeros, one});
    Product quotient =
        times({1, {{none, 1}, {id, 1}}}, to_power(algebra_.single(Sum(algebra_.sum_of(reduce.body))), -1));
    return {quotient, {1, {{single, 1}, {is_zero, 1}, {product, 1}}}};
  }

  // Whether an equation from `first` on has a wire of the index, which then must stay in the sum.
  static bool is_left(const std::vector<std::pair<Index, WireId>>& equations, std::size_t first, const Index& index) {
    return std::any_of(equations.begin() + static_cast<std::ptrdiff_t>(first), equations.end(), [&](const auto& other) {
      return std::ranges::any_of(index.terms, [&](const auto& term) { return moves(other.first, term.first); });
    });
  }

  // Whether an array is read along the wire where it has the axis, so that sizes at which the wire leaves the axis are
  // refused.
  bool is_bounded(const Product& product, const Return::Instead& instead) const {
    const auto bounds = [&](ExprId part) {
      const auto* access = std::get_if<Access>(&diagram_.at(part).node);
      for (std::size_t i = 0; access && i < access->at.size(); ++i)
        if (rises_along(access->at[i], instead.wire) && axis_of(access->array, i) == instead.axis) return true;
      return false;
    };
    return std::ranges::any_of(product.factors,
                               [&](const auto& factor) { return any_part(diagram_, factor.first, bounds); });
  }
  AxisId axis_of(ArrayId array, std::size_t place) const { return diagram_.at(diagram_.at(array).wires[place]).axis; }
  static bool rises_along(const Index& index, WireId wire) {
    return index.divisor == 1 && index.offset >= 0 && moves(index, wire) &&
           std::ranges::all_of(index.terms, [](const auto& term) { return term.second > 0; });
  }

  void back(ExprId id, const Access& access, const Sum& cotangent) {
    const auto way = way_back(diagram_, access, algebra_.free(id));
    for (const auto& product : cotangent) {
      Product moved{product.coefficient};
      for (const auto& [factor, exponent] : product.factors)
        moved = times(moved, {1, {{substituted(diagram_, factor, way.places), exponent}}});
      Terms terms{moved, way.over};
      if (!way.unsolved.empty()) open(algebra_, diagram_.at(access.array).wires, terms);
      for (std::size_t i = 0; i < way.unsolved.size(); ++i) {
        const auto& [index, at] = way.unsolved[i];
        if (!is_left(way.unsolved, i + 1, index) && spread(all_, index, at, terms)) continue;
        for (const auto condition : conditions(algebra_, index, at)) terms.product.factors[condition] = 1;
      }
      all_.measured.insert(way.measured.begin(), way.measured.end());
      for (const auto& instead : way.instead)
        if (!is_bounded(terms.product, instead)) all_.measured.insert({instead.axis, instead.own});
      add(to_[access.array], all_.summed(terms.over, terms.product));
    }
  }

  Reverse& all_;
  Algebra& algebra_;
  Diagram& diagram_;
  std::map<ArrayId, Sum>& to_;
  Sum value_;
  std::set<WireId> scope_;
  std::optional<Known> known_;
  std::map<ExprId, bool> matters_;
  std::set<ExprId> seen_;
  std::vector<ExprId> order_;
  std::map<ExprId, Sum> received_;
};

}  // namespace

void Reverse::through(const Statement& statement, const Sum& cotangent, std::map<ArrayId, Sum>& to) {
  Walk(*this, statement, to).run(cotangent);
}

}  // namespace napkin::grad
