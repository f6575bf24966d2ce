// Powers of differences found, and moments about a running mean written; see moments.hpp.
#include "derive/moments.hpp"

#include <algorithm>

namespace napkin {

std::optional<Shifted> shifted(Algebra& algebra, const Term& term) {
  auto separated = algebra.separate(term);
  auto* parts = std::get_if<Algebra::Separated>(&separated);
  if (!parts || !parts->shift) return {};
  Shifted found{parts->piece, parts->state, {}, {}, static_cast<int>(parts->shift->power), parts->shift->rounded};
  if (!found.piece.exponent.empty() || (found.rounded && found.power != 1)) return {};
  for (const auto& part : algebra.normal(parts->shift->base))
    (algebra.dependence(part).piece ? found.body : found.offset).push_back(part);
  if (found.body[0].coefficient < 0) {
    found.body = scale(found.body, -1), found.offset = scale(found.offset, -1);
    if (found.power % 2 != 0) found.state.coefficient *= -1;
  }
  return found;
}

double choose(int n, int k) {
  double all = 1;
  for (int i = 1; i <= k; ++i) all = all * (n - k + i) / i;
  return all;
}

Centre new_centre(Diagram& scratch, const Sum& body, std::vector<WireId> over, std::vector<WireId> wires,
                  Datatype type) {
  const auto count = new_array(scratch, "count", type, {});
  const auto mean = new_array(scratch, "mean", type, std::move(wires));
  return {count, mean, body, std::move(over)};
}

void MomentWriter::carry(const Centre& centre) {
  const auto* sum = find_reduction("sum");
  const ExprId zero = scratch_.intern(Constant{0});
  to_.state.push_back({centre.count, sum});
  to_.state.push_back({centre.mean, nullptr});
  for (const auto array : {centre.count, centre.mean}) {
    to_.init.push_back({array, zero, nullptr, {}, {}, {}});
    to_.other.push_back(twin(scratch_, array, "'"));
  }
}

// The mean moves by the average of what a piece has beyond it.
void MomentWriter::move(const Centre& centre) {
  const auto* sum = find_reduction("sum");
  const auto apply = [&](const char* f, ExprId a, ExprId b) { return algebra_.apply(f, {a, b}); };
  Moved moved{centre, next(centre.count, "count"), next(centre.mean, "mean"), next(centre.mean, "shift"), {}};
  moved.theirs = twin(scratch_, moved.shift, "'");
  const auto beyond = next(centre.mean, "t");
  const ExprId one = scratch_.intern(Constant{1});
  const ExprId mean = read(centre.mean), theirs = read(other(centre.mean)), count = read(moved.count);
  to_.absorb.push_back({moved.count, one, sum, centre.over, centre.count, {}});
  to_.absorb.push_back({beyond, apply("-", algebra_.build(centre.body), mean), sum, centre.over, {}, {}});
  to_.absorb.push_back({moved.mean, apply("+", mean, apply("/", read(beyond), count)), nullptr, {}, {}, {}});
  const ExprId their_count = read(other(centre.count));
  to_.merge.push_back({moved.count, apply("+", read(centre.count), their_count), nullptr, {}, {}, {}});
  // Each with its share; two states that have seen nothing have no mean.
  const auto part = [&](ExprId of, ExprId its) { return apply("*", of, apply("/", its, apply("max", count, one))); };
  const ExprId joint = apply("+", part(mean, read(centre.count)), part(theirs, their_count));
  to_.merge.push_back({moved.mean, joint, nullptr, {}, {}, {}});
  const Column shift{moved.shift, apply("-", mean, read(moved.mean)), nullptr, {}, {}, {}};
  to_.absorb.push_back(shift);
  to_.merge.push_back(shift);
  to_.merge.push_back({moved.theirs, apply("-", theirs, read(moved.mean)), nullptr, {}, {}, {}});
  moved_.push_back(moved);
}

void MomentWriter::update(ArrayId array, const Term& body, const Moment& moment, const std::vector<WireId>& over) {
  const auto& moved = moved_.at(moment.centre);
  const ExprId mine = repaired(read(array), moment, moved.shift, false);
  if (mine != read(array)) to_.absorb.push_back({array, mine, nullptr, {}, {}, {}});
  Term term = body;
  const ExprId distance = algebra_.apply("-", {algebra_.build(moved.centre.body), read(moved.mean)});
  Factors& factors = moment.rounded ? term.rounded : term.factors;
  factors = combined(factors, {{distance, static_cast<double>(moment.power)}});
  to_.absorb.push_back({array, algebra_.build(term), find_reduction("sum"), over, array, {}});
  const ExprId theirs = repaired(read(other(array)), moment, moved.theirs, true);
  to_.merge.push_back({array, algebra_.apply("+", {mine, theirs}), nullptr, {}, {}, {}});
}

void MomentWriter::settle() {
  for (const auto& moved : moved_)
    for (auto* program : {&to_.absorb, &to_.merge}) {
      program->push_back({moved.centre.count, read(moved.count), nullptr, {}, {}, {}});
      program->push_back({moved.centre.mean, read(moved.mean), nullptr, {}, {}, {}});
    }
}

ArrayId MomentWriter::other(ArrayId state) const {
  const auto at = std::ranges::find_if(to_.state, [&](const Carried& c) { return c.array == state; });
  return to_.other.at(static_cast<std::size_t>(at - to_.state.begin()));
}

ArrayId MomentWriter::next(ArrayId like, const char* name) {
  return new_array(scratch_, name, scratch_.at(like).type, scratch_.at(like).wires);
}

ExprId MomentWriter::power(ExprId base, int exponent) {
  ExprId value = base;
  for (int i = 1; i < exponent; ++i) value = algebra_.apply("*", {value, base});
  return value;
}

ExprId MomentWriter::repaired(ExprId moment, const Moment& of, ArrayId shift, bool theirs) {
  ExprId value = moment;
  for (int j = of.power; j-- > 0;) {
    const auto& lower = of.lower.at(static_cast<std::size_t>(j));
    if (!lower) continue;
    const ExprId below = read(theirs ? other(*lower) : *lower);
    ExprId part = algebra_.apply("*", {power(read(shift), of.power - j), below});
    if (const double times = choose(of.power, j); times != 1)
      part = algebra_.apply("*", {scratch_.intern(Constant{times}), part});
    value = algebra_.apply("+", {value, part});
  }
  return value;
}

}  // namespace napkin
