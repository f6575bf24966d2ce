// One resizable step for each shape down to the core, and its seconds by sizes.
#include "search/launches.hpp"

#include "configure/occupancy.hpp"

namespace napkin {
namespace {

Launched launched(const Dealing& dealing, const Demand& demand) {
  const auto time = launch_time(dealing, demand);
  return time ? Launched{Launched::State::timed, time->seconds} : Launched{Launched::State::cannot_run, 0};
}

}  // namespace

bool times_launches(const Derivation& derivation, const Hardware& hardware) {
  if (!knows_occupancy(hardware) || hardware.find(Unit::tensor) == nullptr) return false;
  return std::ranges::any_of(derivation.columns, [&](const Column& column) {
    return std::ranges::any_of(work_of(derivation.scratch, column, hardware),
                               [](const ColumnWork& work) { return work.unit == Unit::tensor; });
  });
}

Launches::Launches(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, std::size_t level)
    : hardware_(hardware), level_(level), streamed_(std::move(derivation)) {}

Launched Launches::time(const Partition& partition, const std::vector<std::int64_t>& sizes) {
  auto& shape = shape_of(partition, sizes);
  const auto [at, fresh] = shape.known.try_emplace(sizes_);
  if (fresh) at->second = reckon(shape, sizes_);
  return at->second;
}

// Of pieces that masks leave out, the smallest leave out most.
double Launches::least(const Partition& partition, const std::vector<std::int64_t>& smallest,
                       const std::vector<std::int64_t>& largest) {
  if (!shape_of(partition, smallest).dealing) return 0;
  smallest_ = sizes_;
  auto& shape = shape_of(partition, largest);
  resize(shape, smallest_);
  shape.model->least_held(outer_sizes_, held_);
  resize(shape, sizes_);
  shape.model->least_moved(outer_sizes_, held_, figures_);
  return least_launch_seconds(*shape.dealing, shape.model->demand(figures_));
}

// Leaves the sizes down to the level in sizes_.
Launches::Shape& Launches::shape_of(const Partition& partition, const std::vector<std::int64_t>& sizes) {
  outer_.splits.clear();
  sizes_.clear();
  for (std::size_t i = 0; i < partition.splits.size(); ++i) {
    if (partition.splits[i].level > level_) continue;
    outer_.splits.push_back(partition.splits[i]);
    outer_.splits.back().size = 1;
    sizes_.push_back(sizes[i]);
  }
  return shape(outer_);
}

Launches::Shape& Launches::shape(const Partition& outer) {
  const auto [at, fresh] = shapes_.try_emplace(outer);
  if (!fresh) return at->second;
  std::vector<WireId> wires;
  for (const auto& split : outer.splits)
    if (split.kind == SplitKind::stream) wires.push_back(split.wire);
  auto& made = at->second;
  made.partition = outer;
  if (auto* kernel = streamed_.along(wires)) {
    kernel->partition = outer;
    made.dealing = Dealing::of(*kernel, hardware_, Model::machine);
    made.model = std::make_unique<CostModel>(down_to(*kernel, *hardware_.core), hardware_);
  }
  return made;
}

// The step, and in outer_sizes_ the sizes down to the core.
void Launches::resize(Shape& shape, const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) shape.partition.splits[i].size = sizes[i];
  shape.dealing->resize(shape.partition);
  outer_sizes_.clear();
  for (const auto& split : shape.partition.splits)
    if (split.level <= *hardware_.core) outer_sizes_.push_back(split.size);
}

Launched Launches::reckon(Shape& shape, const std::vector<std::int64_t>& sizes) {
  if (!shape.dealing) return {Launched::State::cannot_run, 0};
  resize(shape, sizes);
  shape.model->compared(outer_sizes_, figures_);
  return launched(*shape.dealing, shape.model->demand(figures_));
}

Launched time_launch(std::shared_ptr<const Derivation> derivation, const Partition& partition, const Hardware& hardware,
                     std::size_t level) {
  const auto kernel = down_to(make_kernel(std::move(derivation), partition), level);
  const auto dealing = Dealing::of(kernel, hardware, Model::machine);
  if (!dealing) return {Launched::State::cannot_run, 0};
  return launched(*dealing, demand_of(kernel, hardware));
}

}  // namespace napkin
