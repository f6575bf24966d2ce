// Turns a draft into a diagram: connected uses become one wire, and equal expressions are shared. Wires are numbered by
// first appearance in the statements, the left side of each before its reductions; dimensions that no statement names
// come last.
#include <algorithm>
#include <map>

#include "diagram/match.hpp"
#include "diagram/resolve/draft.hpp"
#include "diagram/resolve/meet.hpp"

namespace napkin {

namespace {

class Joiner {
 public:
  explicit Joiner(const Draft& draft) : draft_(draft), from_(draft.diagram), met_(meet(draft)) {}

  Diagram run() {
    to_.name = from_.name;
    to_.axes = from_.axes;
    number_wires();
    for (const auto& array : from_.arrays) {
      to_.arrays.push_back(array);
      to_.arrays.back().wires = wires(array.wires);
    }
    for (const auto& expr : from_.exprs) exprs_.push_back(to_.intern(rewritten(expr.node), expr.span));
    for (const auto& call : from_.calls) to_.calls.push_back(rewritten(call));
    for (const auto& statement : from_.statements)
      to_.statements.push_back({statement.output, exprs_[statement.value.index], statement.span});
    to_.inputs = from_.inputs;
    to_.outputs = from_.outputs;
    return std::move(to_);
  }

 private:
  Call rewritten(Call call) const {
    call.result = exprs_[call.result.index];
    for (auto& argument : call.arguments) argument = exprs_[argument.index];
    return call;
  }

  void number_wires() {
    for (std::size_t i = 0; i < from_.statements.size(); ++i) {
      for (const auto use : from_.at(from_.statements[i].output).wires) wire(use);
      for (const auto use : draft_.bound[i]) wire(use);
    }
    for (const auto& array : from_.arrays)
      for (const auto use : array.wires) wire(use);
  }

  WireId wire(WireId use) {
    const auto [found, fresh] = wires_.emplace(met_[use.index], WireId{static_cast<std::uint32_t>(to_.wires.size())});
    if (fresh) {
      const auto axis = from_.at(use).axis;
      to_.wires.push_back({axis, from_.at(axis).name + std::string(primes_[axis]++, '\'')});
    }
    return found->second;
  }
  std::vector<WireId> wires(const std::vector<WireId>& uses) {
    std::vector<WireId> result;
    for (const auto use : uses) result.push_back(wire(use));
    return result;
  }

  ExprNode rewritten(const ExprNode& node) {
    return match(
        node, [](const Constant& c) -> ExprNode { return c; }, [](const Size& s) -> ExprNode { return s; },
        [&](const Position& p) -> ExprNode { return Position{wire(p.wire)}; },
        [&](const Access& a) -> ExprNode {
          Access access{a.array, {}};
          for (const auto& index : a.at) access.at.push_back(rewritten(index));
          return access;
        },
        [&](const Apply& a) -> ExprNode {
          Apply apply{a.function, {}};
          for (const auto argument : a.arguments) apply.arguments.push_back(exprs_[argument.index]);
          return apply;
        },
        [&](const Cast& c) -> ExprNode {
          return Cast{c.type, exprs_[c.value.index]};
        },
        [&](const Reduce& r) -> ExprNode {
          auto over = wires(r.over);
          std::sort(over.begin(), over.end());
          return Reduce{r.reduction, std::move(over), exprs_[r.body.index]};
        });
  }

  Index rewritten(const Index& index) {
    Index result = index;
    for (auto& term : result.terms) term.first = wire(term.first);
    std::sort(result.terms.begin(), result.terms.end());
    return result;
  }

  const Draft& draft_;
  const Diagram& from_;
  Diagram to_;
  std::vector<std::uint32_t> met_;
  std::map<std::uint32_t, WireId> wires_;
  std::map<AxisId, std::size_t> primes_;
  std::vector<ExprId> exprs_;
};

}  // namespace

Diagram join(const Draft& draft) { return Joiner(draft).run(); }

}  // namespace napkin
