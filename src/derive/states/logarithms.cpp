// Sums of log(a / r), where r is a finished reduction: the logarithm of a quotient near one is small, while log(a) and
// log(r) are large. So logarithms of quotients by the running maximum are carried (docs/theory.md, moments).
#include <algorithm>

#include "derive/states/analysis.hpp"

namespace napkin {

// log(a / b) near a = b. There the rounded quotient has lost the leading digits of its logarithm, and a - b has not.
// With x = (a - b) / b, log(1 + x) is x * log(w) / (w - 1), where w is 1 + x rounded; the rounding error of w cancels.
ExprId logarithm_of_share(Algebra& algebra, Diagram& diagram, const Centre::Extreme& extreme, ExprId a, ExprId b) {
  const auto& log = *std::get<Apply>(diagram.at(extreme.of[0].factors[0].first).node).function;
  const ExprId one = diagram.intern(Constant{1}), half = diagram.intern(Constant{0.5});
  const ExprId scale = diagram.intern(Constant{log.scale});
  const ExprId difference = algebra.apply("-", {a, b});
  const ExprId x = algebra.apply("/", {difference, b});
  const ExprId w = algebra.apply("+", {one, x});
  const ExprId least = log.scale == 1 ? x : algebra.apply("/", {x, scale});
  const ExprId of_w = algebra.apply(log.name, {w}), beyond = algebra.apply("-", {w, one});
  const ExprId ratio = algebra.apply("/", {x, beyond});
  const ExprId corrected = algebra.apply("*", {of_w, ratio}), rounded = algebra.apply("==", {w, one});
  const ExprId close = algebra.apply("where", {rounded, least, corrected});
  const ExprId quotient = algebra.apply("/", {a, b});
  const ExprId far = algebra.apply(log.name, {quotient}), half_b = algebra.apply("*", {half, b});
  const ExprId near_one = algebra.apply(">", {a, half_b});
  return algebra.apply("where", {near_one, close, far});
}

std::optional<ExprId> StateAnalysis::logarithm_of(const Term& term) const {
  const bool single = term.factors.size() == 1 && term.factors[0].second == 1 && term.exponent.empty() && !term.cast;
  const auto* apply = single ? std::get_if<Apply>(&scratch_.at(term.factors[0].first).node) : nullptr;
  return apply && apply->function->role == Role::logarithm ? std::optional(apply->arguments[0]) : std::nullopt;
}

std::vector<Centre::Extreme> StateAnalysis::logarithms_in(const Column& column, const Shifted& found,
                                                          const Shifted::Part& part) {
  const auto is_logarithm = [&](const Term& term) { return logarithm_of(term).has_value(); };
  if (!std::ranges::all_of(part.body, is_logarithm) || std::ranges::none_of(part.offset, is_logarithm)) return {};
  std::vector<Centre::Extreme> all;
  for (const auto& term : part.body) {
    const auto argument = *logarithm_of(term);
    const ExprId magnitude = magnitude_where_counted(argument, found.piece);
    const auto greatest = greatest_of(column, magnitude, column.over);
    all.push_back({term.coefficient, greatest, scale({term}, 1 / term.coefficient), {}, argument});
  }
  return all;
}

// log(m) + log(v) = log(m * v). Nothing remains if v divides by m.
Sum StateAnalysis::off_logarithms(const Centre& centre, Sum offset) {
  Sum all;
  for (const auto& extreme : centre.extremes) {
    const auto matching = [&](const Term& term) {
      const auto argument = logarithm_of(term);
      const auto& name = std::get<Apply>(scratch_.at(extreme.of[0].factors[0].first).node).function;
      return argument && term.coefficient == extreme.factor &&
             std::get<Apply>(scratch_.at(term.factors[0].first).node).function == name;
    };
    const auto reads = [&](const Term& term) {
      const auto arrays = arrays_read(scratch_, term.factors.empty() ? ExprId{} : term.factors[0].first);
      return matching(term) && std::ranges::find(arrays, found_.all[extreme.state].array) != arrays.end();
    };
    auto at = std::ranges::find_if(offset, reads);
    if (at == offset.end()) at = std::ranges::find_if(offset, matching);
    const auto beside = at == offset.end() ? std::nullopt : logarithm_of(*at);
    if (at != offset.end()) offset.erase(at);
    all = add(all, quotient_logarithm(extreme, beside));
  }
  return add(all, offset);
}

// If a mask leaves out every position there is no maximum, and the result is 0.
Sum StateAnalysis::quotient_logarithm(const Centre::Extreme& extreme, std::optional<ExprId> beside) {
  Sum product = {read_term(found_.all[extreme.state].array)};
  if (beside) {
    const Sum other = algebra_.normal(*beside);
    product = other.size() == 1 ? times(product, other[0]) : times(as_factor(*beside), product[0]);
  }
  if (product.size() == 1 && trivial(product[0])) return {};
  const auto& function = std::get<Apply>(scratch_.at(extreme.of[0].factors[0].first).node).function;
  const ExprId argument = algebra_.build(product), zero = scratch_.intern(Constant{0});
  const ExprId log = algebra_.apply(function->name, {argument});
  const ExprId above = algebra_.apply(">", {read_whole(scratch_, found_.all[extreme.state].array), zero});
  return scale(as_factor(algebra_.apply("where", {above, log, zero})), extreme.factor);
}

}  // namespace napkin
