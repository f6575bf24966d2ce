// A kernel of a partition -> how its blocks run on a core. docs/theory.md, configuration.
#include "napkin/configure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configure/divisors.hpp"
#include "configure/launch.hpp"
#include "configure/occupancy.hpp"

namespace napkin {
namespace {

// The rows of a block dealt out in one way, and what comes of it.
struct Deal {
  Team team;
  StepClocks clocks;
  std::vector<Pipelining> pipelinings;
  std::size_t chosen = 0;
  bool runs() const { return pipelinings[chosen].runs; }
  double seconds_per_operation() const { return pipelinings[chosen].step_s / clocks.operations; }
};

class Configuring {
 public:
  Configuring(BlockStep step, const Kernel& kernel, const Hardware& hardware, Model model)
      : step_(std::move(step)),
        kernel_(kernel),
        hardware_(hardware),
        model_(model),
        variables_(step_, kernel.partition, hardware, model),
        warps_(static_cast<std::int64_t>(hardware.limits.register_partitions->value)) {}
  Configuring(const Configuring&) = delete;
  Configuring& operator=(const Configuring&) = delete;

  // The fewest rows a team that are as fast as any.
  Deal best() const {
    std::optional<Deal> found;
    for (const auto& team : teams()) {
      auto made = deal(team);
      const bool better =
          !found || (made.runs() && !found->runs()) ||
          (made.runs() == found->runs() && made.seconds_per_operation() < found->seconds_per_operation() * (1 - 1e-9));
      if (better) found = std::move(made);
    }
    return *found;
  }

  Configuration describe(const Deal& deal) const {
    Configuration made;
    const auto& shape = *first_contraction().instruction;
    made.instruction = fmt::format("{} m{}n{}k{}", shape.name, shape.m, shape.n, shape.k);
    made.row_axis = step_.diagram().at(step_.row).name;
    made.rows = step_.lengths[step_.row.index];
    made.team_rows = deal.team.rows, made.team_warps = deal.team.warps, made.teams = deal.team.teams;
    made.subloops = variables_.subloops();
    made.divisors = divisors_of(step_, hardware_, deal.team.warps);
    made.pipelinings = deal.pipelinings;
    made.chosen = deal.chosen;
    made.columns = variables_.registers(deal.team, chosen(deal).overlap == Overlap::within_team);
    made.variables = variables_.shared(deal.team, stages(deal));
    for (const auto& variable : made.variables)
      (variable.by_team ? made.shared_team_bytes : made.shared_block_bytes) += variable.bytes;
    made.clocks = deal.clocks.columns;
    made.resources = deal.clocks.resources;
    for (auto& resource : made.resources)
      resource.slack = deal.clocks.bound > 0 ? 1 - resource.seconds / deal.clocks.bound : 0;
    made.bound = deal.clocks.slowest;
    made.bandwidth = check(deal);
    return made;
  }

  const BlockStep& step() const { return step_; }
  static const Pipelining& chosen(const Deal& deal) { return deal.pipelinings[deal.chosen]; }

 private:
  const Contraction& first_contraction() const {
    return *std::ranges::find_if(step_.columns, [](const auto& c) { return c.contraction.has_value(); })->contraction;
  }
  // Rows of one instruction by all warps of a team, and multiples; what the partition says, where it says it.
  std::vector<Team> teams() const {
    const auto rows = step_.lengths[step_.row.index];
    const auto& shape = *first_contraction().instruction;
    const auto of_warp = shape.m / warps_of(shape);
    for (const auto& split : kernel_.partition.splits)
      if (split.kind == SplitKind::group && split.level == step_.core + 1 && split.wire == step_.row)
        return {team_of(rows, split.size * warps_)};
    std::vector<Team> all;
    const auto least = of_warp * warps_;
    if (rows <= least) return {{rows, std::max<std::int64_t>(1, (rows + of_warp - 1) / of_warp), 1}};
    for (std::int64_t each = least; each <= rows; each += least)
      if (each == least || rows % each == 0) all.push_back(team_of(rows, each));
    return all;
  }
  Team team_of(std::int64_t rows, std::int64_t each) const {
    const auto taken = std::min(rows, each);
    const auto warps = (taken * warps_ + each - 1) / each;
    return {taken, warps, (rows + taken - 1) / taken};
  }
  Deal deal(const Team& team) const {
    Deal made{team, clocks_of(step_, team, hardware_, model_, cached()), {}, 0};
    made.pipelinings = pipelinings(step_, team, made.clocks, variables_, hardware_, model_);
    made.chosen = fastest(made.pipelinings);
    return made;
  }
  std::int64_t stages(const Deal& deal) const {
    return chosen(deal).shared_bytes == variables_.shared_bytes(2) ? 2 : 1;
  }

  // All teams that fit by bytes share what a step loads once for all rows.
  std::optional<BandwidthCheck> check(const Deal& deal) const {
    const auto teams = chosen(deal).occupancy.teams;
    if (teams < 1 || deal.clocks.bound <= 0) return std::nullopt;
    const auto rows = static_cast<double>(step_.lengths[step_.row.index]);
    double by_row = 0, shared = 0;
    for (const auto id : step_.streamed) {
      const auto seconds = copy_seconds(step_, id, hardware_, model_, cached());
      (step_.has_row(id) ? by_row : shared) += step_.has_row(id) ? seconds / rows : seconds;
    }
    BandwidthCheck made;
    made.rows = teams * deal.team.rows;
    double compute = 0;
    for (const auto& resource : deal.clocks.resources)
      if (resource.on != Resource::copy) compute = std::max(compute, resource.seconds / rows);
    made.step_s = compute * static_cast<double>(made.rows);
    made.transfer_s = shared + by_row * static_cast<double>(made.rows);
    if (compute > by_row) made.least_rows = shared / (compute - by_row);
    const auto cores = static_cast<double>(hardware_.total(step_.core));
    made.operations_per_s = deal.clocks.operations / rows / compute * cores;
    return made;
  }
  // The paper's model has no cache.
  bool cached() const { return model_ == Model::machine; }

  BlockStep step_;
  const Kernel& kernel_;
  const Hardware& hardware_;
  Model model_;
  Variables variables_;
  std::int64_t warps_;
};

std::optional<Neighbour> neighbour(const Kernel& kernel, std::size_t split, std::int64_t size, const Deal& now,
                                   const Hardware& hardware, Model model) {
  auto partition = kernel.partition;
  partition.splits[split].size = size;
  const auto changed = make_kernel(kernel.derivation, partition);
  auto step = step_of(changed, hardware);
  if (!step) return std::nullopt;
  const Configuring configuring(std::move(*step), changed, hardware, model);
  const auto deal = configuring.best();
  return Neighbour{configuring.step().diagram().at(partition.splits[split].wire).name,
                   size,
                   deal.runs(),
                   Configuring::chosen(deal).overlap,
                   deal.clocks.slowest,
                   now.seconds_per_operation() / deal.seconds_per_operation()};
}

// The next smaller and the next larger piece of every split of the core.
std::vector<Neighbour> neighbours(const Kernel& kernel, const Configuration& here, const Deal& now,
                                  const Hardware& hardware, Model model) {
  std::vector<Neighbour> all;
  const auto& diagram = kernel.derivation->scratch;
  for (std::size_t i = 0; i < kernel.partition.splits.size(); ++i) {
    const auto& split = kernel.partition.splits[i];
    if (split.level != *hardware.core || split.size <= 1) continue;
    const auto divisor = divisor_of(here.divisors, diagram.at(split.wire).name);
    for (const auto size : {(split.size - 1) / divisor * divisor, (split.size / divisor + 1) * divisor})
      if (size >= 1 && size <= diagram.size(split.wire).value_or(size))
        if (auto made = neighbour(kernel, i, size, now, hardware, model)) all.push_back(std::move(*made));
  }
  return all;
}

}  // namespace

std::string_view name(Resource resource) {
  constexpr std::string_view names[] = {"tensor", "fma", "sfu", "shared", "copy"};
  return names[static_cast<std::size_t>(resource)];
}
std::string_view name(Place place) {
  constexpr std::string_view names[] = {"shared", "registers", "tensor_memory"};
  return names[static_cast<std::size_t>(place)];
}
std::string_view name(Overlap overlap) {
  constexpr std::string_view names[] = {"none", "copies", "within_team", "two_teams", "three_teams"};
  return names[static_cast<std::size_t>(overlap)];
}

std::optional<Configuration> configure(const Kernel& kernel, const KernelCost& cost, const Hardware& hardware,
                                       Model model) {
  if (!knows_occupancy(hardware)) return std::nullopt;
  auto step = step_of(kernel, hardware);
  if (!step) return std::nullopt;
  const Configuring configuring(std::move(*step), kernel, hardware, model);
  const auto deal = configuring.best();
  auto made = configuring.describe(deal);
  made.neighbours = neighbours(kernel, made, deal, hardware, model);
  const auto& chosen = Configuring::chosen(deal);
  if (chosen.runs)
    made.launch = launch_of(configuring.step(), deal.team, chosen, deal.clocks,
                            clocks_of(configuring.step(), deal.team, hardware, Model::ideal, model == Model::machine),
                            cost, hardware, model);
  return made;
}

}  // namespace napkin
