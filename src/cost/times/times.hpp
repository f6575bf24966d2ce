// The seconds of a launch, level by level and unit by unit. docs/theory.md, times.
#pragma once

#include <optional>
#include <vector>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"
#include "cost/times/spread.hpp"

namespace napkin {

// Seconds; absent if the profile lacks a rate.
struct Times {
  std::vector<std::optional<double>> ideal_levels, levels;  // by level
  std::vector<std::optional<double>> ideal_work, work;      // by CostModel::work
  std::optional<double> ideal, machine;
  BlockSpread spread;
};
// `times` is reused like figures.
void find_times(const CostModel&, const Figures&, Times& times);

}  // namespace napkin
