// Keeps one resizable mainloop for each shape down to the core, and its launch times by sizes.
#include "search/launches.hpp"

#include <utility>

#include "cost/figures/evaluate.hpp"
#include "cost/regions/by_sizes.hpp"
#include "cost/times/demand.hpp"
#include "timing/divisors.hpp"
#include "timing/labels.hpp"

namespace napkin {
namespace {

Launched launched(const LaunchConfigs& configs, const Demand& demand) {
  const auto time = launch_time(configs, demand);
  return time ? Launched{Launched::State::timed, time->seconds, time->inner_bytes}
              : Launched{Launched::State::cannot_run};
}

}  // namespace

// A shape down to the core, which is lowered when it is first used.
class Launches::Shape {
 public:
  Shape(Partition partition, Streamed& streamed, const Hardware& hardware)
      : partition_(std::move(partition)), streamed_(streamed), hardware_(hardware) {
    while (to_core_ < partition_.splits.size() && partition_.splits[to_core_].level <= *hardware.core) ++to_core_;
  }
  // False if the machine cannot distribute the kernel to cores, which then cannot run as a launch.
  bool has_launch_configs() {
    if (!lowered_) lower();
    return configs_ != nullptr;
  }
  // True if instructions and the registers of threads allow these sizes.
  bool runs(std::span<const std::int64_t> sizes) {
    if (!has_launch_configs()) return false;
    const auto& configs = resized(sizes);
    return fills_warpgroups(configs.mainloop(), hardware_) && configs.may_run();
  }
  std::size_t splits() const { return partition_.splits.size(); }
  const CostModel& model() const { return *model_; }
  std::span<const std::int64_t> to_core(std::span<const std::int64_t> sizes) const { return sizes.first(to_core_); }
  const LaunchConfigs& resized(std::span<const std::int64_t> sizes) {
    bool changed = false;
    for (std::size_t i = 0; i < partition_.splits.size(); ++i)
      changed = std::exchange(partition_.splits[i].size, sizes[i]) != sizes[i] || changed;
    if (changed) configs_->resize(partition_);
    return *configs_;
  }

  BySizes<Launched> known{};

 private:
  void lower() {
    lowered_ = true;
    std::vector<WireId> wires;
    for (const auto& split : partition_.splits)
      if (split.kind == SplitKind::stream) wires.push_back(split.wire);
    auto* kernel = streamed_.along(wires);
    if (kernel == nullptr) return;
    kernel->partition = partition_;
    configs_ = LaunchConfigs::of(*kernel, hardware_, Model::machine);
    if (configs_ && counts_through_registers()) configs_.reset();
    if (configs_) model_ = &streamed_.model(down_to(*kernel, *hardware_.core));
  }

  // The answer does not depend on the sizes, as long as an inner piece of a wire is smaller than an outer one.
  bool counts_through_registers() {
    std::vector<std::int64_t> sizes;
    for (auto left = partition_.splits.size(); left > 0; --left) sizes.push_back(static_cast<std::int64_t>(left) + 1);
    return resized(sizes).mainloop().counts_through_registers;
  }

  Partition partition_;
  Streamed& streamed_;
  const Hardware& hardware_;
  std::size_t to_core_ = 0;  // splits down to the core
  bool lowered_ = false;
  std::unique_ptr<LaunchConfigs> configs_;
  const CostModel* model_ = nullptr;
};

Launches::Launches(std::shared_ptr<Streamed> streamed, const Hardware& hardware, std::size_t level)
    : hardware_(hardware), level_(level), streamed_(std::move(streamed)) {}
Launches::~Launches() = default;

Launched Launches::time(Shape& shape, std::span<const std::int64_t> sizes) {
  const auto [known, fresh] = shape.known.at(sizes.first(shape.splits()));
  if (known->state == Launched::State::open) *known = reckon(shape, sizes);
  return *known;
}

bool Launches::may_run(Shape& shape) const { return shape.has_launch_configs(); }

// A launch that may run is `open` until it is timed.
bool Launches::may_run(Shape& shape, std::span<const std::int64_t> sizes) {
  const auto [known, fresh] = shape.known.at(sizes.first(shape.splits()));
  if (fresh && !shape.runs(sizes)) known->state = Launched::State::cannot_run;
  return known->state != Launched::State::cannot_run;
}

double Launches::least(Shape& shape, const Between& sizes) {
  if (!shape.has_launch_configs()) return 0;
  const auto demand = demand_of(shape.model(), least_moved(shape, sizes));
  return least_launch_seconds(shape.resized(sizes.largest), demand);
}

// If masks skip pieces, the smallest pieces skip the most.
const Figures& Launches::least_moved(const Shape& shape, const Between& sizes) {
  const auto& model = shape.model();
  if (&model == &sizes.model && model.regions.empty()) return sizes.moved;
  bound_memory(model, shape.to_core(sizes.smallest), shape.to_core(sizes.largest), held_, 0);
  bound_transfers(model, shape.to_core(sizes.largest), held_, figures_);
  return figures_;
}

Launches::Shape& Launches::shape(const Partition& partition) {
  Partition outer;
  for (const auto& split : partition.splits) {
    if (split.level > level_) break;
    outer.splits.push_back({split.kind, split.wire, 1, split.level});
  }
  auto& known = shapes_[outer];
  if (!known) known = std::make_unique<Shape>(outer, *streamed_, hardware_);
  return *known;
}

Launched Launches::reckon(Shape& shape, std::span<const std::int64_t> sizes) {
  if (!shape.runs(sizes)) return {Launched::State::cannot_run};
  const auto& configs = shape.resized(sizes);
  evaluate_compared(shape.model(), shape.to_core(sizes), figures_);
  return launched(configs, whole_demand_of(shape.model(), figures_));
}

Launched time_launch(std::shared_ptr<const Derivation> derivation, const Partition& partition, const Hardware& hardware,
                     std::size_t level) {
  const auto kernel = without_idle_labels(down_to(make_kernel(std::move(derivation), partition), level));
  const auto configs = LaunchConfigs::of(kernel, hardware, Model::machine);
  if (!configs || !fills_warpgroups(configs->mainloop(), hardware)) return {Launched::State::cannot_run};
  return launched(*configs, demand_of(kernel, hardware));
}

}  // namespace napkin
