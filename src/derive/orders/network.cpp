#include "derive/orders/network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "derive/algebra/ranges.hpp"
#include "derive/columns.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"

namespace napkin::orders {
namespace {

const Apply* applied(const Diagram& diagram, ExprId e) { return std::get_if<Apply>(&diagram.at(e).node); }

const Statement* producer(const Diagram& diagram, ArrayId array) {
  const auto found = std::ranges::find(diagram.statements, array, &Statement::output);
  return found == diagram.statements.end() ? nullptr : &*found;
}

bool never_negative(const Diagram& diagram, ExprId e) {
  return Ranges(diagram, [](ArrayId) { return std::nullopt; }).of(e).least >= 0;
}

// The operations of the network, if the reduction is a sum or an extreme.
std::optional<Semiring> semiring(const Diagram& diagram, const Reduce& reduce) {
  const Semiring products{reduce.reduction, find_pointwise("*"), find_pointwise("/"), 1};
  if (reduce.reduction->combine->role == Role::add) return products;
  if (std::isfinite(reduce.reduction->identity)) return std::nullopt;
  const auto* body = applied(diagram, reduce.body);
  const auto role = body ? body->function->role : Role::other;
  if (role == Role::multiply || role == Role::divide) return products;
  return Semiring{reduce.reduction, find_pointwise("+"), find_pointwise("-"), 0};
}

// Whether any of the wires is bound anywhere in an expression.
bool binds(const Diagram& diagram, ExprId e, const std::set<WireId>& wires) {
  return any_part(diagram, e, [&](ExprId part) {
    const auto* reduce = std::get_if<Reduce>(&diagram.at(part).node);
    return reduce && std::ranges::any_of(reduce->over, [&](WireId wire) { return wires.contains(wire); });
  });
}

class Renaming {
 public:
  Renaming(Diagram& diagram, const std::map<WireId, WireId>& wires) : diagram_(diagram), wires_(wires) {}

  ExprId of(ExprId e) {
    const auto node = diagram_.at(e).node;
    if (const auto* at = std::get_if<Position>(&node)) return diagram_.intern(Position{of(at->wire)});
    if (const auto* access = std::get_if<Access>(&node)) {
      Access made{access->array, access->at};
      for (auto& index : made.at) rename(index);
      return diagram_.intern(std::move(made), diagram_.at(e).span);
    }
    return with_operands(diagram_, e, [&](ExprId operand) { return of(operand); });
  }

 private:
  WireId of(WireId wire) const {
    const auto found = wires_.find(wire);
    return found == wires_.end() ? wire : found->second;
  }
  void rename(Index& index) const {
    for (auto& [wire, factor] : index.terms) wire = of(wire);
    std::ranges::sort(index.terms);
  }

  Diagram& diagram_;
  const std::map<WireId, WireId>& wires_;
};

// The statement's value with the access's places in place of its wires. None if a place is not a single wire, or if
// such a wire is bound inside the value.
std::optional<ExprId> read_at(Diagram& diagram, const Statement& statement, const Access& access) {
  std::map<WireId, WireId> wires;
  std::set<WireId> targets;
  const auto own = diagram.at(access.array).wires;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto wire = plain_wire(access.at[i]);
    if (!wire || !targets.insert(*wire).second || diagram.size(*wire) != diagram.size(own[i])) return std::nullopt;
    if (wire != own[i]) wires.emplace(own[i], *wire);
  }
  if (wires.empty()) return statement.value;
  if (binds(diagram, statement.value, targets)) return std::nullopt;
  return Renaming(diagram, wires).of(statement.value);
}

class Gathering {
 public:
  Gathering(Diagram& diagram, ExprId root, bool through) : diagram_(diagram), through_(through) { made_.root = root; }

  std::optional<Network> run() {
    const auto reduce = std::get<Reduce>(diagram_.at(made_.root).node);
    const auto of = semiring(diagram_, reduce);
    if (!of) return std::nullopt;
    return run(*of, [&] { take_sum(reduce, 0, made_.root); });
  }
  // The network of the whole expression, including the factors outside of its sums.
  std::optional<Network> run(const Semiring& of) {
    return run(of, [&] { take_whole(); });
  }

 private:
  struct Gathered {
    ExprId value;
    bool under;
  };

  template <class Take>
  std::optional<Network> run(const Semiring& of, const Take& take) {
    made_.of = of;
    const auto kept = free_wires(diagram_, made_.root);
    used_.insert(kept.begin(), kept.end());
    take();
    if (!signs_allow()) return std::nullopt;
    sort_out();
    number_wires(kept);
    return std::move(made_);
  }

  // ---- the products of the file ----
  void take_whole() {
    const auto part = begin(0, positions(free_wires(diagram_, made_.root)));
    take(made_.root, false, part);
    made_.parts[part].end = gathered_.size();
  }
  void take(ExprId e, bool under, std::size_t part) {
    const auto node = diagram_.at(e).node;
    if (const auto* apply = std::get_if<Apply>(&node)) return take(*apply, e, under, part);
    const auto* reduce = std::get_if<Reduce>(&node);
    if (reduce && !under && reduce->reduction == made_.of.sum && is_fresh(reduce->over))
      return take_sum(*reduce, part, e);
    const auto* access = std::get_if<Access>(&node);
    if (access && !under)
      if (const auto* statement = producer(diagram_, access->array))
        if (const auto value = opened(*statement, *access)) return take_array(*access, *value, part);
    if (const auto* cast = std::get_if<Cast>(&node); cast && through_ && !under && sums(cast->value))
      return take_cast(*cast, e, part);
    leave(e, under, part);
  }
  void take(const Apply& apply, ExprId e, bool under, std::size_t part) {
    const bool product = apply.function == made_.of.product, quotient = apply.function == made_.of.quotient;
    if (product || quotient) {
      take(apply.arguments[0], under, part);
      return take(apply.arguments[1], under != quotient, part);
    }
    if (!changes_sign(apply)) return leave(e, under, part);
    gathered_.push_back({diagram_.intern(Constant{-1}), false});
    take(apply.arguments[0], under, part);
  }
  void leave(ExprId e, bool under, std::size_t part) {
    ++made_.parts[part].operands;
    gathered_.push_back({e, under});
  }
  std::size_t begin(std::size_t above, double positions) {
    const auto part = made_.parts.size();
    if (part > 0) ++made_.parts[above].operands;
    made_.parts.push_back({above, gathered_.size(), 0, false, {}, positions});
    return part;
  }
  void take_sum(const Reduce& reduce, std::size_t above, ExprId e) {
    const auto part = begin(above, positions(free_wires(diagram_, reduce.body)));
    made_.parts[part].sums = true, made_.parts[part].value = e;
    used_.insert(reduce.over.begin(), reduce.over.end());
    take(reduce.body, false, part);
    made_.parts[part].end = gathered_.size();
  }
  void take_array(const Access& access, ExprId value, std::size_t above) {
    const auto& array = diagram_.at(access.array);
    const auto part = begin(above, positions(array.wires));
    made_.parts[part].array = access.array, made_.parts[part].values = made_.parts[part].positions;
    if (rounds(diagram_, *producer(diagram_, access.array))) made_.rounded.push_back({part, access.array});
    take(value, false, part);
    made_.parts[part].end = gathered_.size();
  }
  void take_cast(const Cast& cast, ExprId e, std::size_t above) {
    const auto part = begin(above, positions(free_wires(diagram_, cast.value)));
    made_.rounded.push_back({part, {}, e});
    take(cast.value, false, part);
    made_.parts[part].end = gathered_.size();
  }

  // ---- which statements may be opened: their products become part of the network ----
  bool changes_sign(const Apply& apply) const {
    return apply.function->role == Role::negate && made_.of.sum->combine->role == Role::add;
  }
  bool is_fresh(const std::vector<WireId>& over) const {
    return std::ranges::none_of(over, [&](WireId wire) { return used_.contains(wire); });
  }
  // The value of a statement, if it contains a sum or multiplies arrays. No wire that it sums may be in the network
  // already.
  std::optional<ExprId> opened(const Statement& statement, const Access& access) {
    if (rounds(diagram_, statement) && (!through_ || contains(diagram_.outputs, statement.output))) return std::nullopt;
    const auto value = read_at(diagram_, statement, access);
    return value && (sums(*value) || multiplies_arrays(*value)) ? value : std::nullopt;
  }
  // Whether a product has a sum among its factors, over wires that are all new to the network.
  bool sums(ExprId e) const {
    const auto& node = diagram_.at(e).node;
    if (const auto* reduce = std::get_if<Reduce>(&node))
      return reduce->reduction == made_.of.sum && is_fresh(reduce->over);
    const auto* apply = std::get_if<Apply>(&node);
    if (apply && apply->function == made_.of.product) return sums(apply->arguments[0]) || sums(apply->arguments[1]);
    if (apply && changes_sign(*apply)) return sums(apply->arguments[0]);
    return apply && apply->function == made_.of.quotient && sums(apply->arguments[0]);
  }
  bool multiplies_arrays(ExprId e) const {
    const auto* apply = applied(diagram_, e);
    const auto is_read = [&](ExprId operand) {
      return std::holds_alternative<Access>(diagram_.at(operand).node) || multiplies_arrays(operand);
    };
    return apply && apply->function == made_.of.product && std::ranges::all_of(apply->arguments, is_read);
  }

  // ---- factors ----
  bool signs_allow() const {
    const bool of_extremes = made_.of.sum->combine->role != Role::add && made_.of.one == 1;
    return !of_extremes ||
           std::ranges::all_of(gathered_, [&](const Gathered& one) { return never_negative(diagram_, one.value); });
  }
  bool varies_inside(ExprId e) const {
    return std::ranges::any_of(free_wires(diagram_, e), [&](WireId wire) { return summed_.contains(wire); });
  }
  void sort_out() {
    const auto kept = free_wires(diagram_, made_.root);
    summed_ = used_;
    for (const auto wire : kept) summed_.erase(wire);
    std::vector<FactorSet> masks(gathered_.size());
    for (std::size_t i = 0; i < gathered_.size(); ++i)
      if (!gathered_[i].under) masks[i] = factor(gathered_[i].value);
    for (std::size_t i = 0; i < gathered_.size(); ++i)
      if (gathered_[i].under) masks[i] = divisor(gathered_[i].value);
    for (const auto& part : made_.parts) {
      FactorSet all = 0;
      for (auto i = part.begin; i < part.end; ++i) all |= masks[i];
      made_.masks.push_back(all);
    }
  }
  FactorSet factor(ExprId e) {
    if (!varies_inside(e)) return made_.outside.push_back(e), 0;
    made_.factors.push_back(e);
    return made_.factors.size() < most_factors ? FactorSet{1} << (made_.factors.size() - 1) : 0;
  }
  // Divides one factor by `e`. The factor must vary along all wires of `e`; if there is none, one / e becomes a factor.
  FactorSet divisor(ExprId e) {
    if (!varies_inside(e)) return made_.under.push_back(e), 0;
    const auto own = free_wires(diagram_, e);
    for (std::size_t i = 0; i < made_.factors.size() && i < most_factors; ++i) {
      const auto wires = free_wires(diagram_, made_.factors[i]);
      if (!std::ranges::includes(wires, own)) continue;
      made_.factors[i] = diagram_.intern(Apply{made_.of.quotient, {made_.factors[i], e}});
      return FactorSet{1} << i;
    }
    return factor(diagram_.intern(Apply{made_.of.quotient, {diagram_.intern(Constant{made_.of.one}), e}}));
  }
  // A sum over a wire along which no factor varies multiplies the whole by the size of its axis.
  void number_wires(const std::vector<WireId>& kept) {
    std::set<WireId> all;
    for (const auto e : made_.factors)
      for (const auto wire : free_wires(diagram_, e)) all.insert(wire);
    for (const auto wire : kept)
      if (all.erase(wire) > 0) made_.wires.push_back(wire);
    made_.kept = made_.wires.size();
    made_.wires.insert(made_.wires.end(), all.begin(), all.end());
    if (made_.of.sum->combine->role != Role::add) return;
    for (const auto wire : summed_)
      if (!all.contains(wire)) made_.outside.push_back(diagram_.intern(Size{diagram_.at(wire).axis}));
  }

  double positions(const std::vector<WireId>& wires) const {
    double all = 1;
    for (const auto wire : wires) all *= static_cast<double>(diagram_.size(wire).value_or(1));
    return all;
  }

  Diagram& diagram_;
  bool through_;
  Network made_;
  std::vector<Gathered> gathered_;
  std::set<WireId> used_, summed_;  // wires of the network, and those that it sums
};

std::vector<ExprId> reductions_in(const Diagram& diagram, ExprId e) {
  std::vector<ExprId> all;
  any_part(diagram, e, [&](ExprId part) {
    if (std::holds_alternative<Reduce>(diagram.at(part).node) && !contains(all, part)) all.push_back(part);
    return false;
  });
  return all;
}

bool is_part(const std::vector<Network>& networks, ExprId reduction) {
  return std::ranges::any_of(networks, [&](const Network& network) {
    return std::ranges::any_of(network.parts, [&](const Part& part) { return part.sums && part.value == reduction; });
  });
}

}  // namespace

std::vector<ArrayId> Network::opened() const {
  std::vector<ArrayId> all;
  for (const auto& part : parts)
    if (part.array) all.push_back(*part.array);
  return all;
}

Problem Network::problem(const Diagram& diagram) const {
  Problem made;
  for (const auto e : factors) {
    WireSet all = 0;
    for (const auto wire : free_wires(diagram, e))
      all |= WireSet{1} << (std::ranges::find(wires, wire) - wires.begin());
    made.factors.push_back(all);
  }
  made.kept = kept == most_wires ? ~WireSet{0} : (WireSet{1} << kept) - 1;
  for (const auto wire : wires) made.sizes.push_back(static_cast<double>(diagram.size(wire).value()));
  return made;
}

bool rounds(const Diagram& diagram, const Statement& statement) {
  const auto type = diagram.at(statement.output).type;
  return type != accumulator(diagram, type, statement.value);
}

std::vector<Network> networks_in(Diagram& diagram, const Statement& statement, bool through) {
  std::vector<Network> all;
  for (const auto reduction : reductions_in(diagram, statement.value)) {
    if (is_part(all, reduction)) continue;
    auto network = Gathering(diagram, reduction, through).run();
    if (network) all.push_back(std::move(*network));
  }
  return all;
}

std::optional<Network> network_of(Diagram& diagram, const Statement& statement, const Semiring& of) {
  return Gathering(diagram, statement.value, false).run(of);
}

}  // namespace napkin::orders
