// The kinds of charts, each in a file of its own.
#pragma once

#include "napkin/chart.hpp"

namespace napkin::chart {

std::optional<Chart> roofline(const Charted&);
std::optional<Chart> transfers(const Charted&);
std::optional<Chart> memory(const Charted&);
std::optional<Chart> time(const Charted&);
std::optional<Chart> timeline(const Charted&);
std::optional<Chart> loops(const Charted&);
std::optional<Chart> neighbours(const Charted&);
std::optional<Chart> front(const Charted&);
std::optional<Chart> pieces(const Charted&);
std::optional<Chart> rooms(const Charted&);
std::optional<Chart> machine(const Charted&);

// Not of a plan.
Chart predictions(std::span<const Predicted>);

// "S, P, O": the arrays that the statements of a kernel make.
std::string kernel_name(const ChartedKernel&);

// A colour means one thing in all charts of a plan. Memories and what moves into them look as in drawings; units,
// losses and results have colours of their own; arrays have the softer ones behind them, one each as long as they last.
inline constexpr std::size_t series_of_matrix_units = 0, series_of_shared = 1, series_of_registers = 2,
                             series_of_between = 3, series_of_cache = 4, series_of_functions = 5, series_of_lanes = 6,
                             series_of_outermost = 7, series_of_losses = 8, series_of_results = 9,
                             series_of_further_between = 10, series_of_arrays = 11;
std::size_t level_series(const Hardware&, std::size_t level);
std::size_t unit_series(Unit);

class ArrayColours {
 public:
  explicit ArrayColours(const Charted&);
  std::size_t operator()(const std::string& name) const;

 private:
  void add(const std::string& name);
  std::vector<std::string> names_;
};

}  // namespace napkin::chart
