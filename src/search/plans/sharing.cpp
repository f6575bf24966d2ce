// Tries every way in which the children of joined memories can share a diagram as one kernel. Each child gets an equal
// part, and the search completes the partition below.
#include <algorithm>
#include <numeric>

#include "napkin/search.hpp"

namespace napkin {
namespace {

class Ways {
 public:
  Ways(const Diagram& diagram, const Hardware& hardware, const Goal& goal, std::size_t level)
      : diagram_(diagram), hardware_(hardware), goal_(goal), level_(level) {
    std::vector<StatementId> statements(diagram.statements.size());
    for (std::uint32_t i = 0; i < statements.size(); ++i) statements[i] = {i};
    derivation_ = std::make_shared<const Derivation>(derive(diagram, statements));
  }

  std::vector<Shared> run() {
    for (const auto& verdict : derivation_->verdicts) {
      if (!verdict.groupable() || extent(verdict.wire) < children()) continue;
      verdict.is_merged() ? merge(verdict.wire) : group_along(verdict.wire);
    }
    std::ranges::stable_sort(all_, {}, &Shared::time_s);
    return std::move(all_);
  }

 private:
  std::int64_t children() const { return hardware_.total(level_); }
  std::int64_t extent(WireId wire) const { return diagram_.size(wire).value_or(1); }
  std::int64_t part(WireId wire) const { return (extent(wire) + children() - 1) / children(); }

  // Gives every child a part of the wire. Arrays without the wire are gathered as a whole, or rotate among the children
  // along a wire that streams.
  void group_along(WireId wire) {
    const Split mine{SplitKind::group, wire, part(wire), level_};
    keep(Sharing::gathered, {{mine}});
    for (const auto& verdict : derivation_->verdicts)
      if (std::holds_alternative<Streamable>(verdict.stream) && verdict.wire != wire &&
          extent(verdict.wire) >= children())
        keep(Sharing::rotated, {{mine, {SplitKind::stream, verdict.wire, part(verdict.wire), level_}}});
  }
  void keep(Sharing how, const Partition& partition) {
    if (!illegal(*derivation_, hardware_, partition).empty()) return;
    const auto found = completed(derivation_, partition);
    if (!found.best.empty()) keep(how, to_text(partition, diagram_, hardware_), {found.best[0].cost});
  }
  void merge(WireId wire) {
    const Partition partition{{{SplitKind::group, wire, part(wire), level_}}};
    const auto divided = divide(diagram_, *derivation_, partition, 0);
    const auto* made = std::get_if<DividedPartition>(&divided);
    if (!made) return;
    const auto parts = completed(derived(*made, made->parts), made->partition),
               merging = completed(derived(*made, made->merging), {});
    if (parts.best.empty() || merging.best.empty()) return;
    keep(Sharing::merged, to_text(partition, diagram_, hardware_), {parts.best[0].cost, merging.best[0].cost});
  }
  static std::shared_ptr<const Derivation> derived(const DividedPartition& divided,
                                                   const std::vector<StatementId>& statements) {
    return std::make_shared<const Derivation>(derive(divided.diagram, statements));
  }
  Found completed(std::shared_ptr<const Derivation> derivation, const Partition& partition) const {
    auto goal = goal_;
    goal.fixed = partition;
    return search(std::move(derivation), hardware_, goal);
  }

  // Keeps the fastest of each kind. If nothing crosses between children, nothing is gathered or rotated.
  void keep(Sharing how, const std::string& labels, const std::vector<KernelCost>& kernels) {
    Shared made{how, labels, 0, 0, 0};
    for (const auto& cost : kernels) {
      if (!cost.time_s) return;
      const auto& level = cost.levels.at(level_ - 1);
      made.crossing_bytes += level.crossing_bytes.value_or(0);
      made.crossing_s += level.time_s.value_or(0);
      made.time_s += *cost.time_s;
    }
    if (made.crossing_bytes == 0) made.how = Sharing::apart;
    const auto same = std::ranges::find(all_, made.how, &Shared::how);
    if (same == all_.end())
      all_.push_back(made);
    else if (made.time_s < same->time_s)
      *same = made;
  }

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::size_t level_;
  std::shared_ptr<const Derivation> derivation_;
  std::vector<Shared> all_;
};

}  // namespace

std::string_view name(Sharing how) {
  constexpr std::string_view names[] = {"apart", "gathered", "rotated", "merged"};
  return names[static_cast<std::size_t>(how)];
}

std::vector<Shared> share(const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  if (goal.objective != Objective::time || goal.model != Model::machine) return {};
  for (std::size_t level = 1; level < hardware.levels.size(); ++level)
    if (hardware.levels[level - 1].together && hardware.total(level) > 1)
      return Ways(diagram, hardware, goal, level).run();
  return {};
}

}  // namespace napkin
