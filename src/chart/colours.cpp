// The series of each array, the same in every chart of a plan.
#include <algorithm>

#include "chart/kinds.hpp"
#include "scene/levels.hpp"

namespace napkin::chart {

// Lists the arrays of all charts in one order: those that move, those that are held, and those that an iteration
// computes.
ArrayColours::ArrayColours(const Charted& charted) {
  for (const auto& one : charted.kernels)
    for (const auto& level : one.cost.levels)
      for (const auto& array : level.arrays) add(array.array);
  for (const auto& one : charted.kernels) {
    for (const auto& level : one.cost.levels)
      for (const auto& array : level.held) add(array.array);
    const auto& made = one.configuration;
    if (!made || made->chosen >= made->pipelinings.size()) continue;
    for (const auto& event : made->pipelinings[made->chosen].timeline) add(event.column);
  }
}

void ArrayColours::add(const std::string& name) {
  if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
}

std::size_t ArrayColours::operator()(const std::string& name) const {
  return series_of_arrays + static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

std::size_t level_series(const Hardware& hardware, std::size_t level) {
  constexpr std::size_t of_ink[] = {series_of_outermost, series_of_between, series_of_shared, series_of_registers,
                                    series_of_matrix_units};
  const auto inks = scene::inked(hardware);
  const auto ink = inks.at(level).ink;
  if (ink != Ink::between) return of_ink[static_cast<std::size_t>(ink)];
  // Several levels between the outermost memory and that of the cores have different colours.
  const auto before = std::ranges::count(inks.begin(), inks.begin() + static_cast<std::ptrdiff_t>(level), ink,
                                         [](const InkedLevel& one) { return one.ink; });
  return before == 0 ? series_of_between : before == 1 ? series_of_further_between : series_of_outermost;
}

std::size_t unit_series(Unit unit) {
  return unit == Unit::tensor ? series_of_matrix_units : unit == Unit::sfu ? series_of_functions : series_of_lanes;
}

}  // namespace napkin::chart
