// Chart: what was found about a plan, as a picture with axes and units, and the numbers behind it.
//
// The picture is a Scene and is printed like any other. The numbers are in SI units: seconds, bytes, operations; their
// columns say which.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "napkin/configure.hpp"
#include "napkin/explore.hpp"
#include "napkin/scene.hpp"

namespace napkin {

using Cell = std::variant<std::string, double>;
struct Data {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Chart {
  std::string name;
  Scene scene;
  Data data;
};

// What charts are of: the kernels of a plan in launch order, on a machine.
struct ChartedKernel {
  Kernel kernel;
  KernelCost cost;
  std::optional<Configuration> configuration;
  std::optional<Explored::OfKernel> explored{};
  std::string name{};  // instead of its statements, where nobody wrote those
};
struct Charted {
  std::string title;  // "attention on h100-sxm5"
  Hardware hardware;
  Model model = Model::machine;
  std::vector<ChartedKernel> kernels;
  std::optional<Sensitivity> sensitivity{};
  // Scales of bytes and of seconds reach at least as far: charts that stand side by side have them in common.
  double least_bytes = 0, least_seconds = 0, least_step_seconds = 0;
};
// Into one level, of one kernel with its launch, and of one step: the most that a chart of these shows.
double most_bytes(const Charted&);
double most_seconds(const Charted&);
double most_step_seconds(const Charted&);

struct ChartKind {
  std::string_view name;                         // "roofline"
  std::string_view title;                        // "Operations against transfers"
  std::string_view shows;                        // how to read it, in a sentence or two
  std::optional<Chart> (*plot)(const Charted&);  // none where the machine or the kernels lack the numbers
  bool around = false;                           // of what was explored
};
std::span<const ChartKind> chart_kinds();

// The chart of that kind; none where the numbers are not known or there is no such kind.
std::optional<Chart> plot(std::string_view name, const Charted&);

// What was predicted of a kernel at one size, beside what others published; held out: it had no say in how.
struct Predicted {
  std::string group;
  double published_s = 0, predicted_s = 0;
  bool held_out = false;
};
// A strip for each group, in the order of the first of each. Of one at least, and no time is 0.
Chart plot(std::span<const Predicted>);

}  // namespace napkin
