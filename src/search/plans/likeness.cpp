#include "search/plans/likeness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/match.hpp"

namespace napkin {
namespace {

class Writing {
 public:
  Writing(const Diagram& diagram, const Cut& cut, bool in_parts) : diagram_(diagram) {
    put(in_parts ? "in parts;" : "");
    for (auto i = cut.computed._Find_first(); i < cut.computed.size(); i = cut.computed._Find_next(i)) {
      const auto& statement = diagram.statements[i];
      array(statement.output);
      put(cut.saved[i] ? "==" : "=");
      expression(statement.value);
      put(";");
    }
  }
  Likeness take() { return std::move(made_); }

 private:
  void put(std::string_view text) { made_.text += text; }

  template <class Key>
  static std::pair<std::size_t, bool> number(std::map<Key, std::size_t>& known, Key key) {
    const auto [at, first] = known.try_emplace(key, known.size());
    return {at->second, first};
  }
  void axis(AxisId id) {
    const auto [at, first] = number(axes_, id);
    const auto size = diagram_.at(id).size;
    put(!first ? fmt::format("x{}", at) : fmt::format("x{}:{}", at, size ? fmt::to_string(*size) : "?"));
  }
  void wire(WireId id) {
    const auto [at, first] = number(wires_, id);
    put(fmt::format("w{}", at));
    if (!first) return;
    made_.wires.push_back(id);
    put("@"), axis(diagram_.at(id).axis);
  }
  void array(ArrayId id) {
    const auto& array = diagram_.at(id);
    const auto [at, first] = number(arrays_, id);
    put(fmt::format("a{}", at));
    if (!first) return;
    put(fmt::format(":{}{}[", row(array.stored()).name, array.density ? fmt::format("~{}", *array.density) : ""));
    for (const auto each : array.wires) wire(each), put(",");
    put("]");
  }
  void index(const Index& index) {
    for (const auto& [id, coefficient] : index.terms) put(fmt::format("{}*", coefficient)), wire(id), put("+");
    put(fmt::format("{}/{},", index.offset, index.divisor));
  }
  void expression(ExprId id) {
    match(
        diagram_.at(id).node, [&](const Constant& c) { put(fmt::format("{:a}", c.value)); },
        [&](const Position& p) { put("@"), wire(p.wire); }, [&](const Size& s) { put("#"), axis(s.axis); },
        [&](const Access& a) {
          array(a.array), put("[");
          for (const auto& each : a.at) index(each);
          put("]");
        },
        [&](const Apply& a) {
          put(a.function->name), put("(");
          for (const auto argument : a.arguments) expression(argument), put(",");
          put(")");
        },
        [&](const Cast& c) { put(row(c.type).name), put("("), expression(c.value), put(")"); },
        [&](const Reduce& r) {
          put(r.reduction->name), put("[");
          for (const auto each : r.over) wire(each), put(",");
          put("]("), expression(r.body), put(")");
        });
  }

  const Diagram& diagram_;
  std::map<AxisId, std::size_t> axes_;
  std::map<WireId, std::size_t> wires_;
  std::map<ArrayId, std::size_t> arrays_;
  Likeness made_;
};

// Returns the partition with the wires of another kernel; none if it splits a wire that is missing in `from`.
std::optional<Partition> moved(Partition partition, const std::vector<WireId>& from, const std::vector<WireId>& to) {
  for (auto& split : partition.splits) {
    const auto found = std::ranges::find(from, split.wire);
    if (found == from.end()) return std::nullopt;
    split.wire = to[static_cast<std::size_t>(found - from.begin())];
  }
  return partition;
}

}  // namespace

Likeness likeness(const Diagram& diagram, const Cut& cut, bool in_parts) {
  return Writing(diagram, cut, in_parts).take();
}

// A finished search that found something has found the best of all. If it found nothing, a search with a higher price
// limit may find something.
bool Searched::Entry::answers(std::int64_t asked, const Price& most) const {
  const bool found = !ranking.incumbents.best().empty();
  if (ranking.statistics.finished) return found || most <= allowed;
  return asked <= partitions && most <= allowed;
}

std::optional<Ranking> Searched::find(const Likeness& kernel, std::int64_t partitions, const Price& allowed) const {
  const auto known = all_.find(kernel.text);
  if (known == all_.end() || !known->second.answers(partitions, allowed)) return std::nullopt;
  const auto& [wires, ranking, before, most, plan] = known->second;
  Ranking made{Incumbents(1, 0), ranking.statistics};
  if (plan == plan_) made.statistics.evaluated = 0;
  for (const auto& one : ranking.incumbents.best()) {
    auto partition = moved(one.partition, wires, kernel.wires);
    if (!partition) return std::nullopt;
    made.incumbents.offer({one.score, std::move(*partition)});
  }
  return made;
}

// Keeps the better partition of two searches.
void Searched::keep(Likeness kernel, const Ranking& ranking, std::int64_t partitions, const Price& allowed) {
  const Entry made{std::move(kernel.wires), ranking, partitions, allowed, plan_};
  const auto [at, fresh] = all_.try_emplace(std::move(kernel.text), made);
  if (fresh) return;
  auto& before = at->second;
  const auto &old = before.ranking.incumbents.best(), &now = ranking.incumbents.best();
  if (!old.empty() && (now.empty() || old.front().score <= now.front().score)) {
    before.ranking.statistics = ranking.statistics;
    before.partitions = partitions, before.allowed = allowed, before.plan = plan_;
  } else {
    before = made;
  }
}

}  // namespace napkin
