// Sums of powers of a difference become moments about a running mean; see moments.hpp.
#include <algorithm>

#include "derive/analysis.hpp"

namespace napkin {

std::optional<Sum> StateAnalysis::mean_of(const Column& column, const Sum& body) {
  if (body.empty() || algebra_.dependence(body).state || !algebra_.dependence(body).piece) return {};
  const bool flips = body[0].coefficient < 0;
  const Sum upright = flips ? scale(body, -1) : body;
  const auto over = within(column.over, free_of(upright));
  if (std::ranges::find(learnt_.centred, centre_key(scratch_, algebra_, upright, over)) == learnt_.centred.end())
    return {};
  Term sum;
  sum.coefficient = flips ? -1 : 1;
  sum.factors = {{read_whole(scratch_, found_.centres.at(centre_for(upright, over)).mean), 1}};
  for (const auto wire : column.over) sum.factors = combined(sum.factors, size_of(wire));
  found_.rules.insert(Rule::moments);
  step(Rule::moments, column, body, {sum}, "a sum is its running mean, once for every term");
  return Sum{sum};
}

std::optional<Sum> StateAnalysis::about_means(const Column& column) {
  algebra_.keep_shifts(true);
  const Sum body = algebra_.normal(column.value);
  Sum plain;
  std::vector<Shifted> shifts;
  bool fine = true;
  for (const auto& term : body) {
    const auto separated = algebra_.separate(term);
    const auto* parts = std::get_if<Algebra::Separated>(&separated);
    if (parts && !parts->shift) {
      plain.push_back(term);
      continue;
    }
    auto found = shifted(algebra_, term);
    fine = fine && found && worth_centring(column, *found);
    if (fine) shifts.push_back(std::move(*found));
  }
  algebra_.keep_shifts(false);
  if (!fine || shifts.empty()) return {};
  auto value = plain.empty() ? std::optional(Sum{}) : summed(column, plain, false);
  if (!value) return {};
  show_written_out(column, body);
  for (const auto& shift : shifts) *value = add(*value, about_mean(column, shift));
  found_.rules.insert({Rule::moments, Rule::cascade});
  step(Rule::moments, column, body, *value, "about the running mean nothing large cancels");
  return value;
}

bool StateAnalysis::worth_centring(const Column& column, const Shifted& found) {
  const auto over = within(column.over, free_of(found.body));
  if (std::ranges::find(over, wire_) == over.end()) return false;
  if (!within(column.over, free_of({found.state})).empty() || !within(column.over, free_of(found.offset)).empty())
    return false;
  return found.power > 1 || !plain_weight(found);
}

Sum StateAnalysis::about_mean(const Column& column, const Shifted& found) {
  if (!rounds_alike(column, {found.piece}, {})) return {};
  const auto centre = centre_for(found.body, within(column.over, free_of(found.body)));
  auto along = free_of(found.body);
  along.merge(free_of({found.piece}));
  std::vector<std::optional<ArrayId>> moments;
  for (int power = 0; power <= found.power; ++power)
    moments.push_back(moment_for(column, found, centre, within(column.over, along), moments));
  Term mean;
  mean.factors = {{read_whole(scratch_, found_.centres[centre].mean), 1}};
  const Sum off = add({mean}, found.offset);
  Sum value;
  for (int power = found.power; power >= (off.empty() ? found.power : 0); --power) {
    const auto& moment = moments[static_cast<std::size_t>(power)];
    if (!moment) continue;
    Term term = found.state;
    term.coefficient *= choose(found.power, power);
    term.factors = combined(term.factors, {{read_whole(scratch_, *moment), 1}});
    if (power < found.power)
      term.factors = combined(term.factors, {{algebra_.build(off), static_cast<double>(found.power - power)}});
    for (const auto wire : column.over)
      if (!along.contains(wire)) term.factors = combined(term.factors, size_of(wire));
    value = add(value, {term});
  }
  note_casts(found.piece);
  return value;
}

std::optional<ArrayId> StateAnalysis::moment_for(const Column& column, const Shifted& found, std::size_t centre,
                                                 const std::vector<WireId>& over,
                                                 const std::vector<std::optional<ArrayId>>& lower) {
  const auto power = static_cast<int>(lower.size());
  const bool plain = plain_weight(found) && !found.rounded;
  if (plain && power < 2) return power == 0 ? std::optional(found_.centres[centre].count) : std::nullopt;
  Term body = found.piece;
  if (power == 0) {
    if (body.rounded.empty()) body.cast.reset();
    return found_.all[state_for(column, {body}, over, {}, false, false)].array;
  }
  for (const auto& s : found_.all)
    if (s.moment && s.moment->centre == centre && s.moment->power == power && s.moment->rounded == found.rounded &&
        s.over == over && napkin::equal(s.body, Sum{body}))
      return s.array;
  Sum varies = found.body;
  varies.push_back(body);
  const auto array = state_array(column, varies, over, power == found.power);
  is_state(array);
  if (power % 2 == 0 && algebra_.positive(body)) positive_.insert(array);
  found_.all.push_back({array, column.fold, over, {body}, {}, false, Moment{centre, power, found.rounded, lower}});
  return array;
}

std::size_t StateAnalysis::centre_for(const Sum& body, const std::vector<WireId>& over) {
  for (std::size_t i = 0; i < found_.centres.size(); ++i)
    if (found_.centres[i].over == over && napkin::equal(found_.centres[i].body, body)) return i;
  std::vector<WireId> kept;
  for (const auto wire : free_of(body))
    if (std::ranges::find(over, wire) == over.end()) kept.push_back(wire);
  found_.centres.push_back(new_centre(scratch_, body, over, std::move(kept), count_type()));
  for (const auto array : {found_.centres.back().count, found_.centres.back().mean}) is_state(array);
  positive_.insert(found_.centres.back().count);
  return found_.centres.size() - 1;
}

std::vector<WireId> StateAnalysis::within(const std::vector<WireId>& wires, const std::set<WireId>& set) {
  std::vector<WireId> all;
  for (const auto wire : wires)
    if (set.contains(wire)) all.push_back(wire);
  return all;
}

}  // namespace napkin
