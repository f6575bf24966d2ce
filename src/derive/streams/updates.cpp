// Writes the updates of states: maxima, weights, means, moments and sums, in the order of their dependences; see
// updates.hpp.
#include "derive/streams/updates.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "diagram/order.hpp"

namespace napkin {
namespace {

class UpdateWriter {
 public:
  UpdateWriter(Diagram& scratch, const States& found, Streamable& to) : scratch_(scratch), found_(found), to_(to) {}

  void run() {
    carry();
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (is_compared(i)) extreme(i);
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (is_total(i)) total(i);
    for (const auto& centre : found_.centres) move(centre);
    for (const auto* state : moments()) moment(*state);
    RankWriter ranks(scratch_, to_, [this](ArrayId state) { return other(state); });
    for (const auto& chain : found_.chains) ranks.move(chain, newer_.at(index_of(chain.levels[0])));
    for (const auto& fold : found_.ranked) ranks.update(fold);
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (!newer_.contains(i) && !found_.all[i].moment && !found_.all[i].ranked) plain(found_.all[i]);
    ranks.settle();
    settle();
  }

 private:
  // The same expression for the state and, in merge, for the other state.
  struct Pair {
    ExprId mine, theirs;
  };
  // A reference value near a part of the body, the distance of the body from it, and its coefficient.
  struct Level {
    Sum of;
    ExprId value, distance;
    double factor = 1;
  };
  struct Moved {
    std::vector<Level> levels;  // the values that now make up the centre
    Pair shift;                 // old centre - new centre
  };

  void carry() {
    for (const auto& centre : found_.centres)
      if (centre.mean) carry(*centre.mean, nullptr, 0);
    for (const auto& state : found_.all) carry(state.array, state.reduction, state.reduction->identity);
  }
  void carry(ArrayId array, const Reduction* combine, double identity) {
    to_.state.push_back({array, combine});
    to_.init.push_back({array, scratch_.intern(Constant{identity}), nullptr, {}, {}, {}});
    to_.other.push_back(twin(scratch_, array, "'"));
  }
  // Whether other updates need the old and the new value of this state at once.
  bool is_compared(std::size_t i) const {
    const auto refers = [&](const State& s) { return s.reference && s.reference->state == i; };
    const auto subtracts = [&](const Centre& c) {
      return std::ranges::any_of(c.extremes, [&](const auto& extreme) { return extreme.state == i; });
    };
    const auto ranks = [&](const Chain& c) { return c.levels[0] == found_.all[i].array; };
    const auto scales = [&](const State& s) {
      return s.moment && std::ranges::find(s.moment->scales, std::optional(i)) != s.moment->scales.end();
    };
    return std::ranges::any_of(found_.all, refers) || std::ranges::any_of(found_.all, scales) ||
           std::ranges::any_of(found_.centres, subtracts) || std::ranges::any_of(found_.chains, ranks);
  }
  std::size_t index_of(ArrayId state) const {
    const auto found = std::ranges::find(found_.all, state, &State::array);
    return static_cast<std::size_t>(found - found_.all.begin());
  }
  bool is_total(std::size_t i) const {
    return std::ranges::any_of(found_.centres, [&](const Centre& c) { return c.mean && c.total == i; });
  }

  void extreme(std::size_t index) {
    const auto& state = found_.all[index];
    const auto array = newer_[index] = next(state.array, "n");
    to_.absorb.push_back({array, build(scratch_, state.body), state.reduction, state.over, state.array, {}});
    to_.merge.push_back(pointwise(array, join(state.reduction, both(state.array))));
  }
  void total(std::size_t index) {
    const auto& state = found_.all[index];
    const auto array = next(state.array, scratch_.at(state.array).name);
    sum_into(array, state);
    newer_[index] = array;
  }
  void plain(const State& state) {
    if (state.reference) return sum_into(state.array, state);
    to_.absorb.push_back({state.array, build(scratch_, state.body), state.reduction, state.over, state.array, {}});
    to_.merge.push_back(pointwise(state.array, join(state.reduction, both(state.array))));
  }
  void sum_into(ArrayId array, const State& state) {
    const auto repair = repair_of(state);
    if (repair && opposite(*state.reduction) != nullptr) return extreme_into(array, state, *repair);
    const auto mine = repair ? std::optional(repair->mine) : std::nullopt;
    to_.absorb.push_back({array, relative(state, state.body), state.reduction, state.over, state.array, mine});
    to_.merge.push_back(pointwise(array, join(state.reduction, repaired(repair, both(state.array)))));
  }

  // Scales an extreme and joins the piece to it. An extreme over nothing stays unscaled, because infinity times zero
  // would be NaN.
  void extreme_into(ArrayId array, const State& state, Pair repair) {
    const ExprId nothing = number(state.reduction->identity);
    const auto scaled = [&](ExprId factor, ExprId old) {
      return apply("where", apply("==", old, nothing), nothing, apply("*", factor, old));
    };
    const Pair old = both(state.array);
    const Pair all{scaled(repair.mine, old.mine), scaled(repair.theirs, old.theirs)};
    to_.absorb.push_back(pointwise(array, all.mine));
    to_.absorb.push_back({array, relative(state, state.body), state.reduction, state.over, array, {}});
    to_.merge.push_back(pointwise(array, join(state.reduction, all)));
  }

  // The mean moves by the weighted average of the piece's distances from it. If all weights are zero it stays.
  void move(const Centre& centre) {
    if (!centre.mean) return move_with_extremes(centre);
    const auto& weights = found_.all[centre.total];
    const auto beyond = next(*centre.mean, "t"), mean = next(*centre.mean, "mean");
    const Pair old = both(*centre.mean);
    to_.absorb.push_back(
        {beyond,
         relative(weights,
                  {weighted(centre.weight, distance(centre.body, {level(centre.body, old.mine)}, centre.weight))}),
         find_reduction("sum"),
         centre.over,
         {},
         {}});
    const ExprId total = read(newer_.at(centre.total));
    const ExprId divisor = apply("where", apply(">", total, number(0)), total, number(1));
    to_.absorb.push_back(pointwise(mean, apply("+", old.mine, apply("/", read(beyond), divisor))));
    const Pair share = repaired(repair_of(weights), both(weights.array));
    to_.merge.push_back(pointwise(mean, apply("+", apply("*", old.mine, apply("/", share.mine, divisor)),
                                              apply("*", old.theirs, apply("/", share.theirs, divisor)))));
    moved_.push_back({{level(centre.body, read(mean))},
                      shift(*centre.mean, apply("-", old.mine, read(mean)), apply("-", old.theirs, read(mean)))});
    means_.emplace_back(*centre.mean, mean);
  }
  void move_with_extremes(const Centre& centre) {
    Moved moved{};
    std::optional<Pair> all;
    for (const auto& extreme : centre.extremes) {
      const auto& state = found_.all[extreme.state];
      moved.levels.push_back(extreme.argument ? level_of_logarithm(extreme) : level_of(extreme));
      const auto beyond_new = [&](ExprId old) {
        const ExprId far = extreme.argument ? quotient_beyond(old, extreme) : beyond(old, extreme.state);
        return build(scratch_, term(far, extreme.factor));
      };
      const Pair old = both(state.array);
      const ExprId mine = beyond_new(old.mine), theirs = beyond_new(old.theirs);
      const Pair one{mine, theirs};
      all = all ? Pair{apply("+", all->mine, one.mine), apply("+", all->theirs, one.theirs)} : one;
    }
    const auto wires = free_wires(scratch_, all->mine);
    const auto extreme = scratch_.at(found_.all[centre.extremes[0].state].array);
    const auto array = new_array(scratch_, "shift", extreme.type, wires, extreme.span);
    moved.shift = named(array, all->mine, all->theirs);
    moved_.push_back(std::move(moved));
  }
  Level level_of(const Centre::Extreme& extreme) {
    const ExprId newer = read(newer_.at(extreme.state));
    const ExprId value = build(scratch_, add({term(newer, 1)}, scale(extreme.apart, -1)));
    const ExprId distance = apply("-", build(scratch_, found_.all[extreme.state].body), newer);
    return {extreme.of, value, distance, extreme.factor};
  }
  // Computes log(u / m) rather than log(u) - log(m).
  Level level_of_logarithm(const Centre::Extreme& extreme) {
    const ExprId newer = divisor(newer_.at(extreme.state));
    const ExprId value = logarithm(extreme, newer);
    return {extreme.of, value, logarithm(extreme, apply("/", *extreme.argument, newer)), extreme.factor};
  }
  ExprId logarithm(const Centre::Extreme& extreme, ExprId of) {
    const auto& log = std::get<Apply>(scratch_.at(extreme.of[0].factors[0].first).node);
    return applied(scratch_, log.function->name, {of});
  }
  // How far an old extreme is from the new one. An empty state contains no distances, so its shift is 0.
  ExprId beyond(ExprId old, std::size_t state) {
    const ExprId nothing = apply("==", old, number(found_.all[state].reduction->identity));
    const ExprId far = apply("-", old, read(newer_.at(state)));
    return apply("where", nothing, number(0), far);
  }
  ExprId quotient_beyond(ExprId old, const Centre::Extreme& extreme) {
    const ExprId far = logarithm_of_share(scratch_, extreme, old, divisor(newer_.at(extreme.state)));
    const ExprId nothing = number(0), seen = apply(">", old, nothing);
    return apply("where", seen, far, nothing);
  }
  Pair shift(ArrayId mean, ExprId mine, ExprId theirs) { return named(next(mean, "shift"), mine, theirs); }
  Pair named(ArrayId mine, ExprId of_mine, ExprId of_theirs) {
    const auto theirs = twin(scratch_, mine, "'");
    for (auto* program : {&to_.absorb, &to_.merge}) program->push_back(pointwise(mine, of_mine));
    to_.merge.push_back(pointwise(theirs, of_theirs));
    return {read(mine), read(theirs)};
  }

  // States of high powers come first, because rescaling them needs the old values of the lower ones.
  std::vector<const State*> moments() const {
    std::vector<const State*> all;
    for (const auto& state : found_.all)
      if (state.moment) all.push_back(&state);
    std::ranges::stable_sort(all,
                             [](const auto* a, const auto* b) { return a->moment->degree() > b->moment->degree(); });
    return all;
  }
  void moment(const State& state) {
    const auto& moment = *state.moment;
    const Pair about{about_new(state.array, moment, false), about_new(state.array, moment, true)};
    const Pair all = repaired(repair_of(state), about);
    to_.absorb.push_back(pointwise(state.array, all.mine));
    Term body = state.body[0];
    Factors distances;
    for (std::size_t i = 0; i < moment.centres.size(); ++i) {
      const auto& centre = found_.centres[moment.centres[i]];
      ExprId far = distance(centre.body, moved_.at(moment.centres[i]).levels, state.body[0]);
      if (const auto scale = scale_of(moment, i)) far = apply("/", far, divisor(newer_.at(*scale)));
      distances = combined(distances, {{far, static_cast<double>(moment.powers[i])}});
    }
    body = weighted(body, distances, moment.rounded);
    to_.absorb.push_back({state.array, relative(state, {body}), state.reduction, state.over, state.array, {}});
    to_.merge.push_back(pointwise(state.array, apply("+", all.mine, all.theirs)));
  }
  // The moment about the new centres, computed from moments about the old ones.
  ExprId about_new(ArrayId array, const Moment& of, bool theirs) {
    std::optional<ExprId> all;  // summed before the large moment is added, which saves one rounding of a large number
    for (auto lower = of.lower.rbegin(); lower != of.lower.rend(); ++lower) {
      const auto& [powers, below] = *lower;
      ExprId part = relative_to_new(below, of, powers, theirs);
      for (std::size_t i = powers.size(); i-- > 0;)
        for (int k = powers[i]; k < of.powers[i]; ++k) part = apply("*", moved_by(of, i, theirs), part);
      if (const double times = choose(of.powers, powers); times != 1) part = apply("*", number(times), part);
      all = all ? apply("+", *all, part) : part;
    }
    const ExprId own = relative_to_new(array, of, of.powers, theirs);
    return apply("+", own, *all);
  }
  std::optional<std::size_t> scale_of(const Moment& moment, std::size_t i) const {
    return moment.scales.empty() ? std::nullopt : moment.scales[i];
  }
  // The shift of a centre, relative to its scale.
  ExprId moved_by(const Moment& of, std::size_t i, bool theirs) {
    const auto& shift = moved_.at(of.centres[i]).shift;
    const ExprId by = theirs ? shift.theirs : shift.mine;
    const auto scale = scale_of(of, i);
    return scale ? apply("/", by, divisor(newer_.at(*scale))) : by;
  }
  // A moment of these powers relative to the new scales. A moment of degree one was stored without a scale.
  ExprId relative_to_new(ArrayId array, const Moment& of, const Powers& powers, bool theirs) {
    ExprId value = theirs ? both(array).theirs : both(array).mine;
    const bool single = std::accumulate(powers.begin(), powers.end(), 0) == 1;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      const auto scale = scale_of(of, i);
      if (!scale || powers[i] == 0) continue;
      if (single) return apply("/", value, divisor(newer_.at(*scale)));
      const Pair repair = repair_by({*scale, 1, {{value, 1}}}, scratch_.at(array).type);
      for (int k = 0; k < powers[i]; ++k) value = apply("*", theirs ? repair.theirs : repair.mine, value);
    }
    return value;
  }
  Level level(const Sum& of, ExprId value) { return {of, value, apply("-", build(scratch_, of), value)}; }
  // The distance of the body from the levels, or 0 where the term is masked out.
  ExprId distance(Sum body, const std::vector<Level>& levels, const Term& weight) {
    // Each extreme is subtracted from its own expression, so that small differences of large numbers are added.
    Sum apart, beyond;
    for (const auto& level : levels) {
      const Sum rest = add(body, scale(level.of, -level.factor));
      const bool within = rest.size() + level.of.size() == body.size();
      if (within) body = rest;
      if (within) apart.push_back(term(level.distance, level.factor));
      if (!within) beyond.push_back(term(level.value, level.factor));
    }
    ExprId value = build(scratch_, add(add(apart, body), scale(beyond, -1)));
    for (const auto condition : conditions_of(scratch_, weight)) value = apply("where", condition, value, number(0));
    return value;
  }
  Term weighted(const Term& term, const Factors& distances, bool rounded = false) {
    Term weight = without_counting(scratch_, term);
    Factors& factors = rounded ? weight.rounded : weight.factors;
    factors = combined(factors, distances);
    return weight;
  }
  Term weighted(const Term& weight, ExprId distance) { return weighted(weight, Factors{{distance, 1}}); }

  // r = exp(old - new), or (old / new)^k, for the state and, in merge, for the other one.
  std::optional<Pair> repair_of(const State& state) {
    if (!state.reference) return {};
    return repair_by(*state.reference, repair_type(*state.reference));
  }
  Pair repair_by(const Reference& reference, Datatype type) {
    const auto key = std::tuple{reference.state, reference.ratio, reference.base.empty()};
    if (const auto found = repairs_.find(key); found != repairs_.end()) return found->second;
    const auto array = found_.all[reference.state].array;
    const auto newer = newer_.at(reference.state);
    const auto factor = [&](ExprId old) {
      if (!reference.base.empty()) return shrunk(old, reference, newer);
      return apply("expdiff", times(old, reference.ratio), times(read(newer), reference.ratio));
    };
    const Pair old = both(array);
    const Pair all{factor(old.mine), factor(old.theirs)};
    const auto repair = new_array(scratch_, "r", type, scratch_.at(array).wires, scratch_.at(array).span);
    return repairs_[key] = named(repair, all.mine, all.theirs);
  }
  // f64 if a state that it rescales is.
  Datatype repair_type(const Reference& reference) const {
    const auto wide = [&](const State& s) {
      return s.reference == reference && scratch_.at(s.array).type == Datatype::f64;
    };
    return std::ranges::any_of(found_.all, wide) ? Datatype::f64 : Datatype::f32;
  }
  Pair repaired(const std::optional<Pair>& repair, Pair value) {
    return repair ? Pair{apply("*", repair->mine, value.mine), apply("*", repair->theirs, value.theirs)} : value;
  }
  // (old / new)^k. A maximum over nothing, or over zeros, only scales zeros, so its value does not matter.
  ExprId shrunk(ExprId old, const Reference& reference, ArrayId newer) {
    Term share;
    share.factors = {{apply("/", apply("max", old, number(0)), divisor(newer)), reference.ratio}};
    return build(scratch_, share);
  }
  // The maximum, or 1 if it is not above zero, as a column of its own.
  ExprId divisor(ArrayId maximum) {
    if (!divisors_.contains(maximum)) {
      const auto made = divisors_[maximum] = next(maximum, "scale");
      const ExprId value = apply("where", apply(">", read(maximum), number(0)), read(maximum), number(1));
      for (auto* program : {&to_.absorb, &to_.merge}) program->push_back(pointwise(made, value));
    }
    return read(divisors_.at(maximum));
  }
  // The body with exp(g) written as exp(g - maximum), or a^k as (a / maximum)^k.
  ExprId relative(const State& state, Sum body) {
    if (!state.reference) return build(scratch_, body);
    const auto newer = newer_.at(state.reference->state);
    if (!state.reference->base.empty())
      return build(scratch_, relative_to(scratch_, body[0], *state.reference, divisor(newer)));
    Term term = body[0];
    const ExprId weight =
        apply("expdiff", build(scratch_, std::exchange(term.exponent, {})), times(read(newer), state.reference->ratio));
    Factors& factors = term.cast ? term.rounded : term.factors;
    factors.push_back({weight, 1});
    std::ranges::sort(factors);
    return build(scratch_, term);
  }

  void settle() {
    for (auto* program : {&to_.absorb, &to_.merge}) {
      for (const auto& [index, array] : newer_) program->push_back(pointwise(found_.all[index].array, read(array)));
      for (const auto& [mean, now] : means_) program->push_back(pointwise(mean, read(now)));
    }
  }

  static Column pointwise(ArrayId array, ExprId value) { return {array, value, nullptr, {}, {}, {}}; }
  ArrayId next(ArrayId like, const std::string& name) {
    return new_array(scratch_, name, scratch_.at(like).type, scratch_.at(like).wires, scratch_.at(like).span);
  }
  ExprId read(ArrayId array) { return read_whole(scratch_, array); }
  ExprId number(double value) { return scratch_.intern(Constant{value}); }
  ExprId times(ExprId value, double factor) { return factor == 1 ? value : apply("*", number(factor), value); }
  static Term term(ExprId value, double factor) {
    Term one;
    one.coefficient = factor;
    one.factors = {{value, 1}};
    return one;
  }
  template <class... Arguments>
  ExprId apply(const char* function, Arguments... arguments) {
    return applied(scratch_, function, {arguments...});
  }
  ExprId join(const Reduction* reduction, Pair pair) {
    return applied(scratch_, reduction->combine->name, {pair.mine, pair.theirs});
  }
  ArrayId other(ArrayId state) const {
    const auto at = std::ranges::find(to_.state, state, &Carried::array);
    return to_.other.at(static_cast<std::size_t>(at - to_.state.begin()));
  }
  Pair both(ArrayId state) { return {read(state), read(other(state))}; }

  Diagram& scratch_;
  const States& found_;
  Streamable& to_;
  std::map<std::size_t, ArrayId> newer_;  // by state
  std::map<std::tuple<std::size_t, double, bool>, Pair> repairs_;
  std::map<ArrayId, ArrayId> divisors_;             // by maximum
  std::vector<Moved> moved_;                        // in the order of the centres
  std::vector<std::pair<ArrayId, ArrayId>> means_;  // old and new
};

}  // namespace

void write_updates(Diagram& scratch, const States& found, Streamable& to) { UpdateWriter(scratch, found, to).run(); }

}  // namespace napkin
