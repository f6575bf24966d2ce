// Finds which uses are connected: those where an array is read by its own axis (the draft lists these pairs), and those
// of equal reductions in one statement. A def that uses its parameter twice still means one value, and so one wire.
#include "diagram/resolve/meet.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "diagram/match.hpp"

namespace napkin {

namespace {

class Meeting {
 public:
  explicit Meeting(const Draft& draft) : diagram_(draft.diagram), parent_(draft.diagram.wires.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (const auto& [a, b] : draft.meetings) unite(a, b);
  }

  std::vector<std::uint32_t> run() {
    std::uint32_t begin = 0;
    for (const auto& statement : diagram_.statements) {
      same_reductions(begin, statement.value.index);
      begin = statement.value.index + 1;
    }
    for (std::uint32_t use = 0; use < parent_.size(); ++use) parent_[use] = root({use});
    return std::move(parent_);
  }

 private:
  using Pairs = std::vector<std::pair<WireId, WireId>>;  // the wires that two reductions bind, pairwise

  std::uint32_t root(WireId use) {
    auto at = use.index;
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void unite(WireId a, WireId b) { parent_[root(a)] = root(b); }

  // The expressions of one statement are stored together, the inner ones first.
  void same_reductions(std::uint32_t begin, std::uint32_t end) {
    std::vector<const Reduce*> different;
    for (auto i = begin; i <= end; ++i) {
      const auto* reduce = std::get_if<Reduce>(&diagram_.at(ExprId{i}).node);
      if (reduce == nullptr) continue;
      const auto first = std::find_if(different.begin(), different.end(),
                                      [&](const Reduce* other) { return same(*other, *reduce, {}); });
      if (first == different.end())
        different.push_back(reduce);
      else
        for (std::size_t place = 0; place < reduce->over.size(); ++place)
          unite(reduce->over[place], (*first)->over[place]);
    }
  }

  bool same(const Reduce& a, const Reduce& b, Pairs pairs) {
    if (a.reduction != b.reduction || a.over.size() != b.over.size()) return false;
    for (std::size_t place = 0; place < a.over.size(); ++place) {
      if (diagram_.at(a.over[place]).axis != diagram_.at(b.over[place]).axis) return false;
      pairs.emplace_back(a.over[place], b.over[place]);
    }
    return same(a.body, b.body, pairs);
  }

  bool same(ExprId left, ExprId right, const Pairs& pairs) {
    const auto& other = diagram_.at(right).node;
    if (diagram_.at(left).node.index() != other.index()) return false;
    return match(
        diagram_.at(left).node,
        [&](const Constant& a) {
          const auto& b = std::get<Constant>(other);
          return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
        },
        [&](const Position& a) { return same(a.wire, std::get<Position>(other).wire, pairs); },
        [&](const Size& a) { return a.axis == std::get<Size>(other).axis; },
        [&](const Access& a) { return same(a, std::get<Access>(other), pairs); },
        [&](const Apply& a) {
          const auto& b = std::get<Apply>(other);
          return a.function == b.function &&
                 std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                            [&](ExprId x, ExprId y) { return same(x, y, pairs); });
        },
        [&](const Cast& a) {
          const auto& b = std::get<Cast>(other);
          return a.type == b.type && same(a.value, b.value, pairs);
        },
        [&](const Reduce& a) { return same(a, std::get<Reduce>(other), pairs); });
  }

  bool same(const Access& a, const Access& b, const Pairs& pairs) {
    const auto index = [&](const Index& x, const Index& y) {
      return x.offset == y.offset && x.divisor == y.divisor &&
             std::equal(
                 x.terms.begin(), x.terms.end(), y.terms.begin(), y.terms.end(),
                 [&](const auto& s, const auto& t) { return s.second == t.second && same(s.first, t.first, pairs); });
    };
    return a.array == b.array && std::equal(a.at.begin(), a.at.end(), b.at.begin(), b.at.end(), index);
  }

  // The innermost reduction that binds a wire decides.
  bool same(WireId a, WireId b, const Pairs& pairs) {
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
      if (pair->first == a || pair->second == b) return pair->first == a && pair->second == b;
    return root(a) == root(b);
  }

  const Diagram& diagram_;
  std::vector<std::uint32_t> parent_;
};

}  // namespace

std::vector<std::uint32_t> meet(const Draft& draft) { return Meeting(draft).run(); }

}  // namespace napkin
