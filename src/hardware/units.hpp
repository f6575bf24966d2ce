// The table of units: what each measures, and what it is worth in SI.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/quantity.hpp"

namespace napkin::profile {

struct UnitOfMeasure {
  Dimension dimension;
  double factor;  // to SI
};
std::optional<UnitOfMeasure> find_unit(std::string_view symbol);
std::vector<std::string> unit_names(Dimension);

struct DimensionRow {
  Dimension dimension;
  std::string_view words;    // "bytes per second"
  std::string_view si;       // "B/s"
  std::string_view example;  // "3.35 TB/s"; empty where no unit is written
};
const DimensionRow& row(Dimension);
// `number` in SI as a person writes it: "3.352 TB/s", "228 KiB".
std::string in_words(double number, Dimension);

}  // namespace napkin::profile
