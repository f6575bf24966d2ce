// Times a kernel with other tile sizes, varying two splits of the core's level at a time.
#include <algorithm>
#include <set>

#include "napkin/explore.hpp"
#include "search/space.hpp"

namespace napkin {
namespace {

class OtherPieces {
 public:
  OtherPieces(const Kernel& kernel, const Hardware& hardware, Model model)
      : kernel_(kernel),
        hardware_(hardware),
        model_(model),
        space_(make_space(kernel.derivation, hardware, {.model = model, .fixed = {}})) {}

  // The two splits whose next sizes change the time most.
  std::vector<std::size_t> telling() {
    std::vector<std::pair<double, std::size_t>> all;
    const auto level = hardware_.core.value_or(1);
    for (std::size_t i = 0; i < kernel_.partition.splits.size(); ++i)
      if (kernel_.partition.splits[i].level == level && sizes(i).size() > 1) all.emplace_back(-effect(i), i);
    std::ranges::sort(all);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, all.size()); ++i) chosen.push_back(all[i].second);
    std::ranges::sort(chosen);
    return chosen;
  }

  Terrain::Side side(std::size_t split) const {
    const auto& chosen = kernel_.partition.splits[split];
    const auto all = sizes(split);
    return {kernel_.derivation->scratch.at(chosen.wire).name, chosen.kind, all,
            static_cast<std::size_t>(std::ranges::find(all, chosen.size) - all.begin())};
  }

  // The time with other sizes of some splits; pieces within them are made no larger than they are.
  std::optional<double> time(const std::vector<std::pair<std::size_t, std::int64_t>>& changed) const {
    auto partition = kernel_.partition;
    for (const auto& [split, size] : changed) partition.splits[split].size = size;
    for (std::size_t i = 0; i < partition.splits.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (partition.splits[j].wire == partition.splits[i].wire)
          partition.splits[i].size = std::min(partition.splits[i].size, partition.splits[j].size);
    const auto cost = estimate(make_kernel(kernel_.derivation, partition), hardware_, model_);
    if (cost.overflow || !std::ranges::all_of(cost.overruns, [&](const Overrun& one) { return mends(one); }))
      return std::nullopt;
    if (!space_.launches) return model_ == Model::ideal ? cost.ideal_time_s : cost.time_s;
    std::vector<std::int64_t> sizes;
    for (const auto& split : partition.splits) sizes.push_back(split.size);
    const auto launched = space_.launches->time(space_.launches->shape(partition), sizes);
    if (launched.state != Launched::State::timed) return std::nullopt;
    return launched.seconds;
  }

 private:
  // An overrun below the level of the launch configuration does not matter: other pieces may be found there.
  bool mends(const Overrun& overrun) const { return space_.launches && overrun.level > space_.launches->level(); }

  // The chosen size, its next sizes, its halves and its doubles.
  std::vector<std::int64_t> sizes(std::size_t split) const {
    const auto& chosen = kernel_.partition.splits[split];
    const auto extent = kernel_.derivation->scratch.size(chosen.wire).value_or(chosen.size);
    const auto grain = space_.divisor(chosen);
    std::set<std::int64_t> all{chosen.size};
    const auto add = [&](std::int64_t size) {
      size = size / grain * grain;
      if (size >= 1 && size <= extent) all.insert(size);
    };
    for (const auto steps : {-2, -1, 1, 2}) add(chosen.size + steps * grain);
    for (const auto times : {2, 4}) add(chosen.size / times), add(chosen.size * times);
    return {all.begin(), all.end()};
  }

  double effect(std::size_t split) const {
    const auto here = time({});
    double most = 0;
    for (const auto size : sizes(split))
      if (const auto there = time({{split, size}}); here && there) most = std::max(most, *there / *here);
    return most;
  }

  const Kernel& kernel_;
  const Hardware& hardware_;
  Model model_;
  Space space_;
};

}  // namespace

std::optional<Terrain> explore_pieces(const Kernel& kernel, const Hardware& hardware, Model model) {
  OtherPieces pieces(kernel, hardware, model);
  const auto chosen = pieces.telling();
  if (chosen.empty()) return std::nullopt;
  Terrain made{pieces.side(chosen[0]), std::nullopt, {}};
  if (chosen.size() > 1) made.up = pieces.side(chosen[1]);
  for (std::size_t row = 0; row < (made.up ? made.up->sizes.size() : 1); ++row) {
    auto& times = made.time_s.emplace_back();
    for (const auto size : made.across.sizes)
      times.push_back(made.up ? pieces.time({{chosen[0], size}, {chosen[1], made.up->sizes[row]}})
                              : pieces.time({{chosen[0], size}}));
  }
  return made;
}

}  // namespace napkin
