// Compares what each level holds with its capacity, and names the largest array.
#include "cost/overruns.hpp"

#include <string>

#include "cost/held_arrays.hpp"

namespace napkin {

std::vector<Overrun> overruns(const CostModel& model, const Figures& figures, Model kind) {
  const auto& levels = model.hardware->levels;
  std::vector<Overrun> all;
  if (const auto room = levels[0].room(); model.outermost > room)
    all.push_back({0, model.outermost - room, "", "memory of all arrays"});
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const auto& at = figures.levels[i];
    const auto one = static_cast<double>(held_by_one(levels[i], at, kind));
    const auto together = static_cast<double>(held_by_all(levels[i], at, kind));
    const auto largest = [&] {
      const auto held = held_arrays(model, figures, i);
      return held.empty() ? std::string() : held[0].array;
    };
    if (const auto room = model.rooms.at(i, at.groups_per_parent); one > room)
      all.push_back({i, one - room, largest(), "memory"});
    else if (const auto room_of_all = model.rooms.of_all[i]; together > room_of_all)
      all.push_back({i, together - room_of_all, largest(), "memory of all groups"});
    if (const auto most = levels[i].max_groups; most && at.groups_per_parent > *most)
      all.push_back({i, static_cast<double>(at.groups_per_parent - *most), "", "groups"});
  }
  return all;
}

}  // namespace napkin
