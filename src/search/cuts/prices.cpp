// Lower bounds of the prices of kernels: bytes from the accesses of their statements, operations from their sums of
// products.
//
// Streaming rewrites a sum of products by moving factors behind the sum, and could thereby make it smaller. It cannot
// if each of the two operands contains something, once, that varies along all of the operand's wires. That part stays
// inside the sum, in one term with the other operand, and the term runs over as many positions as before.
#include "search/cuts/prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagram/match.hpp"

namespace napkin {
namespace {

bool includes(std::vector<WireId> all, std::vector<WireId> some) {
  std::ranges::sort(all);
  std::ranges::sort(some);
  return std::ranges::includes(all, some);
}

// Counts how often each access and each reduction is written outside reductions.
void collect_leaves(const Diagram& diagram, ExprId id, std::map<ExprId, int>& leaves, int& narrowest) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access&) { ++leaves[id]; },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect_leaves(diagram, argument, leaves, narrowest);
      },
      [&](const Cast& c) {
        narrowest = std::min(narrowest, row(c.type).bytes);
        collect_leaves(diagram, c.value, leaves, narrowest);
      },
      [&](const Reduce&) { ++leaves[id]; });
}

double seconds(double amount, const std::optional<Rate>& rate, Model model) {
  const double per_second = !rate ? 0 : model == Model::ideal ? rate->peak() : rate->reached();
  return per_second > 0 ? amount / per_second : 0;
}

}  // namespace

Price Price::never() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {infinity, infinity};
}

LeastPrices::LeastPrices(const Diagram& diagram, const Hardware& hardware, const Goal& goal)
    : diagram_(diagram),
      hardware_(hardware),
      goal_(goal),
      masks_(diagram),
      reads_(diagram.statements.size()),
      contractions_(diagram.statements.size()),
      reduced_(diagram.statements.size()) {
  for (std::size_t i = 0; i < diagram.statements.size(); ++i) {
    producer_[diagram.statements[i].output] = i;
    read(i, diagram.statements[i].value);
  }
}

void LeastPrices::read(std::size_t statement, ExprId id) {
  match(
      diagram_.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access& a) {
        auto& reading = reads_[statement][a.array];
        reading.values = std::max(reading.values, reached(a));
        for (const auto wire : free_wires(diagram_, id)) reading.wires.push_back(wire);
      },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) read(statement, argument);
      },
      [&](const Cast& c) { read(statement, c.value); },
      [&](const Reduce& r) {
        read(statement, r.body);
        for (const auto wire : free_wires(diagram_, r.body))
          if (std::ranges::find(r.over, wire) != r.over.end()) reduced_[statement].insert(wire);
        const auto* product = std::get_if<Apply>(&diagram_.at(r.body).node);
        if (r.reduction->combine->role != Role::add || !product || product->function->role != Role::multiply) return;
        const auto *a = std::get_if<Access>(&diagram_.at(product->arguments[0]).node),
                   *b = std::get_if<Access>(&diagram_.at(product->arguments[1]).node);
        if (!a || !b) return;
        for (const auto factor : product->arguments)
          if (!includes(free_wires(diagram_, factor), r.over)) return;
        Contraction made{a->array, b->array, free_wires(diagram_, r.body), 2};
        for (const auto wire : made.wires) made.operations *= static_cast<double>(diagram_.size(wire).value_or(1));
        contractions_[statement].push_back(made);
      });
}

// Returns how many values an access reaches. Of indices that share a wire, only the longest counts.
double LeastPrices::reached(const Access& access) const {
  double product = 1, longest = 1;
  std::set<WireId> seen;
  bool shared = false;
  for (std::size_t i = 0; i < access.at.size(); ++i) {
    std::int64_t span = 0;
    for (const auto& [wire, coefficient] : access.at[i].terms) {
      span += std::abs(coefficient) * (diagram_.size(wire).value_or(1) - 1);
      shared = !seen.insert(wire).second || shared;
    }
    const auto size = diagram_.size(diagram_.at(access.array).wires[i]).value_or(1);
    const auto values = static_cast<double>(std::min(size, span / access.at[i].divisor + 1));
    product *= values;
    longest = std::max(longest, values);
  }
  return shared ? longest : product;
}

std::optional<LeastPrices::Root> LeastPrices::root(ArrayId array, const Statements& computed) const {
  const auto& wires = diagram_.at(array).wires;
  const int bytes = row(diagram_.at(array).type).bytes;
  const auto made = producer_.find(array);
  if (made == producer_.end() || !computed[made->second]) return Root{array, {}, bytes};
  std::map<ExprId, int> leaves;
  int narrowest = bytes;
  collect_leaves(diagram_, diagram_.statements[made->second].value, leaves, narrowest);
  for (const auto& [leaf, times] : leaves) {
    if (times > 1 || !includes(free_wires(diagram_, leaf), wires)) continue;
    const auto* access = std::get_if<Access>(&diagram_.at(leaf).node);
    if (!access) return Root{array, leaf, narrowest};
    if (auto further = root(access->array, computed)) {
      further->bytes = std::min(further->bytes, narrowest);
      return further;
    }
  }
  return std::nullopt;
}

// Returns the seconds of all contractions. Equal contractions count once.
double LeastPrices::contracting(const Statements& computed, const MaskedWires& masked) const {
  double all = 0;
  std::set<std::pair<Root, Root>> done;
  for (auto i = computed._Find_first(); i < computed.size(); i = computed._Find_next(i))
    for (const auto& contraction : contractions_[i]) {
      if (masks_.may_skip(masked, contraction.wires)) continue;
      const auto a = root(contraction.a, computed), b = root(contraction.b, computed);
      if (!a || !b || !done.insert(std::minmax(*a, *b)).second) continue;
      if (const double fastest = rate(std::min(a->bytes, b->bytes)); fastest > 0)
        all += contraction.operations / fastest;
    }
  return all;
}

// Returns the rate of both units together.
double LeastPrices::rate(int bytes) const {
  double all = 0;
  for (const auto unit : {Unit::tensor, Unit::fma}) {
    double best = 0;
    if (const auto* found = hardware_.find(unit))
      for (const auto& [type, rate] : found->rates)
        if (row(type).bytes >= bytes) best = std::max(best, goal_.model == Model::ideal ? rate.peak() : rate.reached());
    all += best;
  }
  return all;
}

double LeastPrices::busy(const Cut& cut) const {
  if (!hardware_.core || goal_.model != Model::machine || !goal_.fixed.splits.empty() || cut.saved.none()) return 1;
  std::map<WireId, std::size_t> results;  // that have it
  for (auto i = cut.saved._Find_first(); i < cut.saved.size(); i = cut.saved._Find_next(i))
    for (const auto wire : diagram_.at(diagram_.statements[i].output).wires) ++results[wire];
  for (auto i = cut.computed._Find_first(); i < cut.computed.size(); i = cut.computed._Find_next(i))
    for (const auto wire : reduced_[i]) results.erase(wire);
  double blocks = 1;
  for (const auto& [wire, count] : results)
    if (count == cut.saved.count()) blocks *= static_cast<double>(diagram_.size(wire).value_or(1));
  return std::min(1.0, blocks / static_cast<double>(hardware_.total(*hardware_.core)));
}

Price LeastPrices::of(const Cut& cut) const {
  const auto masked = masks_.of(cut.computed);
  return price(moved(cut, masked), contracting(cut.computed, masked) / busy(cut));
}

// Plans are worth their bytes, also on machines whose levels count values.
double LeastPrices::worth_of_transfers(const Cut& cut) const {
  const auto moved = this->moved(cut, masks_.of(cut.computed));
  return goal_.objective == Objective::transfers ? moved.bytes : price(moved, 0).objective;
}

// Returns what the kernel reads from outside or saves, without what masks may leave out.
LeastPrices::Moved LeastPrices::moved(const Cut& cut, const MaskedWires& masked) const {
  std::map<ArrayId, double> crossing;
  for (auto i = cut.computed._Find_first(); i < cut.computed.size(); i = cut.computed._Find_next(i)) {
    const auto output = diagram_.statements[i].output;
    for (const auto& [array, reading] : reads_[i]) {
      const auto made = producer_.find(array);
      const bool outside = made == producer_.end() || !cut.computed[made->second];
      if (outside && !masks_.may_skip(masked, reading.wires))
        crossing[array] = std::max(crossing[array], reading.values);
    }
    if (!cut.saved[i]) continue;
    crossing[output] = 1;
    for (const auto wire : diagram_.at(output).wires)
      crossing[output] *= static_cast<double>(diagram_.size(wire).value_or(1));
  }
  Moved all;
  for (const auto& [array, count] : crossing) {
    all.values += count;
    all.bytes += count * diagram_.at(array).width();
  }
  return all;
}

Price LeastPrices::price(const Moved& moved, double seconds_contracting) const {
  Price least{0, hardware_.levels.at(1).in_values ? moved.values : moved.bytes};
  double time = seconds_contracting, joules = 0;
  bool priced = true;
  for (std::size_t level = 1; level < hardware_.levels.size(); ++level) {
    const double crossing = hardware_.levels[level - 1].together ? 0 : moved.bytes;  // all may be at home
    time = std::max(time, seconds(crossing, hardware_.levels[level].bandwidth, goal_.model));
    const auto& energy = hardware_.levels[level].energy_per_byte;
    if (level <= hardware_.core.value_or(level)) joules += crossing * (energy ? energy->value : 0);
    priced = priced && energy;
  }
  if (time > 0 && goal_.model == Model::machine && hardware_.limits.launch_seconds)
    time += hardware_.limits.launch_seconds->value;
  if (hardware_.idle_watts) joules += hardware_.idle_watts->value * time;
  constexpr double rounding = 1 - 1e-9;  // other sums of the same numbers may end a little lower
  if (goal_.objective == Objective::time) least.objective = time * rounding;
  if (goal_.objective == Objective::energy && priced) least.objective = joules * rounding;
  return least;
}

double least_worth(const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  Cut all{needed_statements(diagram), {}};
  for (std::size_t i = 0; i < diagram.statements.size(); ++i)
    all.saved[i] = std::ranges::find(diagram.outputs, diagram.statements[i].output) != diagram.outputs.end();
  return LeastPrices(diagram, hardware, goal).worth_of_transfers(all);
}

}  // namespace napkin
