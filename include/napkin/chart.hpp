// Chart: the results for a plan as a picture with axes and units, and the numbers behind it.
//
// The picture is a Scene and is printed like any other. The numbers are in SI units (seconds, bytes, operations); the
// names of the columns say which.
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

// Charts show the kernels of a plan, in launch order, on a machine.
struct ChartedKernel {
  Kernel kernel;
  KernelCost cost;
  std::optional<Configuration> configuration;
  std::optional<Explored::OfKernel> explored{};
  std::string name{};  // shown in place of its statements, if these are not the user's own
};
struct Charted {
  std::string title;  // "attention on h100-sxm5"
  Hardware hardware;
  Model model = Model::machine;
  std::vector<ChartedKernel> kernels;
  std::optional<Sensitivity> sensitivity{};
  // Scales of bytes and of seconds reach at least this far, so that charts next to each other can share their scales.
  double least_bytes = 0, least_seconds = 0, least_step_seconds = 0;
};
// The largest values that charts show: bytes into one level, seconds of one kernel with its launch, and seconds of one
// iteration.
double most_bytes(const Charted&);
double most_seconds(const Charted&);
double most_step_seconds(const Charted&);

struct ChartKind {
  std::string_view name;                         // "roofline"
  std::string_view title;                        // "Operations against transfers"
  std::string_view shows;                        // how to read it, in a sentence or two
  std::optional<Chart> (*plot)(const Charted&);  // returns none if numbers of the machine or the kernels are missing
  bool around = false;                           // it shows the exploration around the plan
};
std::span<const ChartKind> chart_kinds();

// The chart of that kind; none if its numbers are not known or there is no such kind.
std::optional<Chart> plot(std::string_view name, const Charted&);

// The predicted and the published time of a kernel at one size. `held_out` means that the published time had no
// influence on the model.
struct Predicted {
  std::string group;
  double published_s = 0, predicted_s = 0;
  bool held_out = false;
};
// One strip for each group, in order of first appearance. There must be at least one entry, and no time may be 0.
Chart plot(std::span<const Predicted>);

}  // namespace napkin
