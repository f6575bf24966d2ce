// Questions that a Hardware answers itself.
#include "napkin/hardware.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace napkin {

std::string_view name(Origin origin) {
  static constexpr std::array<std::string_view, 5> names{"vendor", "measured", "derived", "assumed", "given"};
  return names.at(static_cast<std::size_t>(origin));
}

double Rate::peak() const { return datasheet ? datasheet->value : sustained ? sustained->value : 0; }
double Rate::reached() const { return sustained ? sustained->value : peak(); }

double Level::room() const {
  const std::optional<Sourced<double>>& size = usable ? usable : capacity;
  return size ? size->value : std::numeric_limits<double>::infinity();
}

int Hardware::cuda_capability() const {
  return cuda_architecture.starts_with("sm_") ? std::atoi(cuda_architecture.c_str() + 3) : 0;
}

const ComputeUnit* Hardware::find(Unit unit) const {
  const auto found =
      std::find_if(compute.begin(), compute.end(), [&](const ComputeUnit& one) { return one.unit == unit; });
  return found == compute.end() ? nullptr : &*found;
}

std::optional<std::size_t> Hardware::level(const std::string& wanted) const {
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (levels[i].name == wanted) return i;
  return std::nullopt;
}

std::int64_t Hardware::total(std::size_t level) const {
  std::int64_t children = 1;
  for (std::size_t i = 0; i <= level; ++i) children *= levels.at(i).count;
  return children;
}

std::int64_t warps_of(const InstructionShape& shape) { return shape.m >= 64 ? 4 : 1; }

Hardware of_single_warps(Hardware hardware) {
  for (auto& unit : hardware.compute) {
    const auto is_of_several = [](const InstructionShape& shape) { return warps_of(shape) > 1; };
    if (!std::all_of(unit.instructions.begin(), unit.instructions.end(), is_of_several))
      std::erase_if(unit.instructions, is_of_several);
  }
  return hardware;
}

}  // namespace napkin
