// The arguments of logarithms, and the logarithms of their quotients; see logarithms.hpp.
#include "derive/states/logarithms.hpp"

#include <algorithm>

#include "derive/states/scales.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

// The logarithm that a term consists of, except for its coefficient.
const Apply* sole_logarithm(const Diagram& diagram, const Term& term) {
  const bool single = term.factors.size() == 1 && term.factors[0].second == 1 && term.exponent.empty() && !term.cast;
  const auto* apply = single ? std::get_if<Apply>(&diagram.at(term.factors[0].first).node) : nullptr;
  return apply && apply->function->role == Role::logarithm ? apply : nullptr;
}

// Takes a logarithm that belongs to the extreme out of the offset, if possible one that reads it. Returns its argument.
std::optional<ExprId> take_logarithm(const StreamAttempt& attempt, const Centre::Extreme& extreme, Sum& offset) {
  const auto& scratch = attempt.scratch;
  const auto* function = sole_logarithm(scratch, extreme.of[0])->function;
  const auto matches = [&](const Term& term) {
    const auto* log = sole_logarithm(scratch, term);
    return log && log->function == function && term.coefficient == extreme.factor;
  };
  const auto reads = [&](const Term& term) {
    return matches(term) &&
           contains(arrays_read(scratch, term.factors[0].first), attempt.found.all[extreme.state].array);
  };
  auto at = std::ranges::find_if(offset, reads);
  if (at == offset.end()) at = std::ranges::find_if(offset, matches);
  if (at == offset.end()) return {};
  const ExprId argument = sole_logarithm(scratch, *at)->arguments[0];
  offset.erase(at);
  return argument;
}

// If a mask leaves out every position there is no maximum, and the result is 0.
Sum quotient_logarithm(StreamAttempt& attempt, const Centre::Extreme& extreme, std::optional<ExprId> beside) {
  auto& algebra = attempt.algebra;
  const Term greatest = read_term(attempt.scratch, attempt.found.all[extreme.state].array);
  Sum product = {greatest};
  if (beside) {
    const Sum other = normal(algebra, *beside);
    product = other.size() == 1 ? times(product, other[0]) : times(as_factor(*beside), greatest);
  }
  if (product.size() == 1 && trivial(product[0])) return {};
  const ExprId argument = build(attempt.scratch, product), zero = attempt.scratch.intern(Constant{0});
  const ExprId log =
      applied(attempt.scratch, sole_logarithm(attempt.scratch, extreme.of[0])->function->name, {argument});
  const ExprId above = applied(attempt.scratch, ">", {greatest.factors[0].first, zero});
  return scale(as_factor(applied(attempt.scratch, "where", {above, log, zero})), extreme.factor);
}

}  // namespace

std::vector<Centre::Extreme> logarithms_in(StreamAttempt& attempt, const Column& column, const Shifted& found,
                                           const Shifted::Part& part) {
  const auto is_logarithm = [&](const Term& term) { return sole_logarithm(attempt.scratch, term) != nullptr; };
  if (!std::ranges::all_of(part.body, is_logarithm) || std::ranges::none_of(part.offset, is_logarithm)) return {};
  std::vector<Centre::Extreme> all;
  for (const auto& term : part.body) {
    const ExprId argument = sole_logarithm(attempt.scratch, term)->arguments[0];
    const ExprId magnitude = magnitude_where_counted(attempt, argument, found.piece);
    const auto greatest = greatest_of(attempt, column, magnitude, column.over);
    all.push_back({term.coefficient, greatest, scale({term}, 1 / term.coefficient), {}, argument});
  }
  return all;
}

Sum off_logarithms(StreamAttempt& attempt, const Centre& centre, Sum offset) {
  Sum all;
  for (const auto& extreme : centre.extremes)
    all = add(all, quotient_logarithm(attempt, extreme, take_logarithm(attempt, extreme, offset)));
  return add(all, offset);
}

}  // namespace napkin
