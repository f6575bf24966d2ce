// A row contains only the arrays that it reads; an array enters at the row that reads it. The operands of a function
// are gathered where they cross the fewest other wires.
#include "scene/rows.hpp"

#include <algorithm>
#include <map>

#include "diagram/contains.hpp"

namespace napkin::scene {
namespace {

using Values = std::vector<std::size_t>;

class Rows {
 public:
  explicit Rows(const Circuit& circuit) : circuit_(circuit) {
    for (std::size_t f = 0; f < circuit.functions.size(); ++f) {
      made_[circuit.functions[f].makes] = f;
      for (const auto value : circuit.functions[f].reads) last_read_[value] = f;
    }
  }

  Row row(std::size_t begin, std::size_t end) {
    Row row;
    begin_ = begin, end_ = end;
    stack_ = start(begin, end);
    row.start = column(stack_);
    for (auto f = begin; f < end; ++f) row.steps.push_back(step(f));
    return row;
  }

 private:
  bool made_before(std::size_t value, std::size_t f) const {
    const auto found = made_.find(value);
    return found == made_.end() || found->second < f;
  }
  // Whether an array that later rows read ends in this row and enters the later one by its name. An output is saved at
  // the end of the row that makes it, so a later row only reads it.
  bool stays_from(std::size_t value, std::size_t f) const {
    const bool was_saved = made_.contains(value) && made_before(value, begin_);
    if (contains(circuit_.outputs, value) && !was_saved) return true;
    const auto found = last_read_.find(value);
    if (found == last_read_.end() || found->second < f) return false;
    return circuit_.values[value].name.empty() || read_between(value, f, end_);
  }
  bool read_between(std::size_t value, std::size_t begin, std::size_t end) const {
    for (auto f = begin; f < end; ++f)
      if (contains(circuit_.functions[f].reads, value)) return true;
    return false;
  }

  // The values that the row reads, in the order of their first use.
  Values start(std::size_t begin, std::size_t end) const {
    Values values;
    for (auto f = begin; f < end; ++f)
      for (const auto value : circuit_.functions[f].reads)
        if (made_before(value, begin) && !contains(values, value)) values.push_back(value);
    return values;
  }

  void add_lanes(Lanes& column, std::size_t value, bool copy, const std::vector<WireId>& wires) const {
    if (wires.empty()) column.push_back({value, std::nullopt, copy});
    for (const auto wire : wires) column.push_back({value, wire, copy});
  }
  Lanes column(const Values& values) const {
    Lanes column;
    for (const auto value : values) add_lanes(column, value, false, circuit_.values[value].wires);
    return column;
  }

  // Woven wires come first, the others below. In the second operand of a cup, the wires that the cup joins come first
  // and in the opposite order, so that the wires that meet are nested.
  std::vector<WireId> gathered(const Function& function, const Values& operands, std::size_t operand) const {
    auto wires = circuit_.values[operands[operand]].wires;
    if (function.kind == MarkKind::reindexing) return wires;
    const bool turned = function.kind == MarkKind::cup && operand > 0;
    const auto acts = [&](WireId wire) { return contains(function.acts, wire); };
    const auto middle = std::stable_partition(wires.begin(), wires.end(), [&](WireId w) { return acts(w) == turned; });
    if (!turned) return wires;
    const auto& first = circuit_.values[operands[0]].wires;
    const auto place = [&](WireId wire) { return std::find(first.begin(), first.end(), wire) - first.begin(); };
    std::stable_sort(wires.begin(), middle, [&](WireId a, WireId b) { return place(a) > place(b); });
    return wires;
  }

  // The operands in the order of the stack, or in the order of the words if only the order tells them apart.
  Values as_they_stand(const Function& function) const {
    auto values = function.reads;
    const auto nameless = [&](std::size_t value) { return circuit_.values[value].name.empty(); };
    if (function.kind == MarkKind::cup || std::count_if(values.begin(), values.end(), nameless) < 2)
      std::sort(values.begin(), values.end(),
                [&](std::size_t a, std::size_t b) { return place_in_stack(a) < place_in_stack(b); });
    return values;
  }

  // The place in the remaining stack at which the operands are gathered.
  std::size_t gathering_place(const Function& function, const Values& stays) const {
    std::size_t best = stays.size();
    double least = -1;
    for (std::size_t at = 0; at <= stays.size(); ++at) {
      const auto cost = crossings(function, stays, at);
      if (least < 0 || cost < least) least = cost, best = at;
    }
    return best;
  }

  std::size_t place_in_stack(std::size_t value) const {
    return static_cast<std::size_t>(std::find(stack_.begin(), stack_.end(), value) - stack_.begin());
  }

  // The number of wires that the operands cross on their way to `at`.
  double crossings(const Function& function, const Values& stays, std::size_t at) const {
    double count = 0;
    for (const auto operand : function.reads) {
      const auto from = place_in_stack(operand);
      const auto weight = static_cast<double>(std::max<std::size_t>(1, circuit_.values[operand].wires.size()));
      for (std::size_t i = 0; i < stays.size(); ++i) {
        const auto other = place_in_stack(stays[i]);
        const auto wires = static_cast<double>(std::max<std::size_t>(1, circuit_.values[stays[i]].wires.size()));
        if (other == from) count += i < at ? 0 : 0.5;  // a copy is below the wire that it branches off
        if ((other < from) != (i < at) && other != from) count += weight * wires;
      }
    }
    return count;
  }

  Step step(std::size_t f) {
    const auto& function = circuit_.functions[f];
    Step step;
    step.function = f;
    step.makes = function.makes;
    Values stays;
    for (const auto value : stack_)
      if (stays_from(value, f + 1)) stays.push_back(value);
    const auto at = gathering_place(function, stays);
    Values after;
    for (std::size_t i = 0; i <= stays.size(); ++i) {
      if (i == at) {
        add_group(step, function, stays);
        after.push_back(function.makes);
      }
      if (i == stays.size()) break;
      add_lanes(step.in, stays[i], false, circuit_.values[stays[i]].wires);
      after.push_back(stays[i]);
    }
    stack_ = after;
    step.out = column(stack_);
    return step;
  }

  void add_group(Step& step, const Function& function, const Values& stays) const {
    step.begin = step.in.size();
    const auto operands = as_they_stand(function);
    for (std::size_t i = 0; i < operands.size(); ++i)
      add_lanes(step.in, operands[i], contains(stays, operands[i]), gathered(function, operands, i));
    step.end = step.in.size();
  }

  const Circuit& circuit_;
  std::map<std::size_t, std::size_t> made_, last_read_;  // by value: the function that makes it; the last reader
  Values stack_;
  std::size_t begin_ = 0, end_ = 0;  // the functions of the row
};

}  // namespace

std::vector<Row> rows(const Circuit& circuit, const std::vector<std::size_t>& breaks) {
  std::vector<Row> all;
  Rows rows(circuit);
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) all.push_back(rows.row(breaks[i], breaks[i + 1]));
  return all;
}

}  // namespace napkin::scene
