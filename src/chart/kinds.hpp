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

// A series that looks like the level does in drawings.
std::size_t level_series(const Hardware&, std::size_t level);

// The series of a name: the first that is asked for is the first.
class Series {
 public:
  std::size_t operator()(const std::string& name);

 private:
  std::vector<std::string> names_;
};

}  // namespace napkin::chart
