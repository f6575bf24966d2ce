// A symbol is a prefix and a base. Binary prefixes exist for bytes, small ones for what is small; `KB` is not a unit,
// because half of its readers take it for 1000 and half for 1024.
#include "hardware/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace napkin::profile {
namespace {

enum Prefixes : unsigned { none = 0, large = 1, binary = 2, small = 4 };

struct Prefix {
  std::string_view symbol;
  double factor;
  Prefixes kind;
};
constexpr std::array prefixes{
    Prefix{"", 1, none},          Prefix{"k", 1e3, large},       Prefix{"M", 1e6, large},
    Prefix{"G", 1e9, large},      Prefix{"T", 1e12, large},      Prefix{"P", 1e15, large},
    Prefix{"Ki", 1024, binary},   Prefix{"Mi", 1048576, binary}, Prefix{"Gi", 1073741824, binary},
    Prefix{"Ti", 0x1p40, binary}, Prefix{"m", 1e-3, small},      Prefix{"u", 1e-6, small},
    Prefix{"n", 1e-9, small},     Prefix{"p", 1e-12, small},
};

struct Base {
  std::string_view symbol;
  Dimension dimension;
  double factor;
  unsigned prefixes;
};
constexpr std::array bases{
    Base{"values", Dimension::values, 1, none},
    Base{"B", Dimension::bytes, 1, large | binary},
    Base{"B/s", Dimension::bandwidth, 1, large | binary},
    Base{"FLOP/s", Dimension::operations, 1, large},
    Base{"OP/s", Dimension::operations, 1, large},
    Base{"FLOP/clk", Dimension::per_clock, 1, none},
    Base{"OP/clk", Dimension::per_clock, 1, none},
    Base{"/clk", Dimension::per_clock, 1, none},
    Base{"Hz", Dimension::frequency, 1, large},
    Base{"s", Dimension::time, 1, small},
    Base{"clk", Dimension::clocks, 1, none},
    Base{"W", Dimension::power, 1, large | small},
    Base{"J/B", Dimension::energy_per_byte, 1, small},
    Base{"J/bit", Dimension::energy_per_byte, 8, small},
    Base{"J/FLOP", Dimension::energy_per_operation, 1, small},
    Base{"J/OP", Dimension::energy_per_operation, 1, small},
    Base{"%", Dimension::fraction, 0.01, none},
};

constexpr std::array dimension_rows{
    DimensionRow{Dimension::count, "a plain count", "", ""},
    DimensionRow{Dimension::fraction, "a fraction", "", ""},
    DimensionRow{Dimension::values, "a number of values", "values", "10000 values"},
    DimensionRow{Dimension::bytes, "bytes", "B", "228 KiB"},
    DimensionRow{Dimension::bandwidth, "bytes per second", "B/s", "3.35 TB/s"},
    DimensionRow{Dimension::operations, "operations per second", "op/s", "989.4 TFLOP/s"},
    DimensionRow{Dimension::per_clock, "operations per clock", "op/clk", "4096 FLOP/clk"},
    DimensionRow{Dimension::frequency, "a frequency", "Hz", "1.83 GHz"},
    DimensionRow{Dimension::time, "a time", "s", "2.5 us"},
    DimensionRow{Dimension::clocks, "clocks", "clk", "29 clk"},
    DimensionRow{Dimension::power, "power", "W", "700 W"},
    DimensionRow{Dimension::energy_per_byte, "energy per byte", "J/B", "93.4 pJ/B"},
    DimensionRow{Dimension::energy_per_operation, "energy per operation", "J/op", "0.52 pJ/FLOP"},
};

bool takes(const Base& base, const Prefix& prefix) { return prefix.kind == none || (base.prefixes & prefix.kind) != 0; }

const Base& first_base(Dimension dimension) {
  return *std::find_if(bases.begin(), bases.end(), [&](const Base& base) { return base.dimension == dimension; });
}

// A size that 1024 divides reads best in binary, as it was written.
Prefixes best_kind(double number, const Base& base) {
  if (std::fabs(number) < 1) return small;
  return base.symbol == "B" && std::fmod(number, 1024) == 0 ? binary : large;
}

}  // namespace

std::optional<UnitOfMeasure> find_unit(std::string_view symbol) {
  for (const Base& base : bases) {
    if (!symbol.ends_with(base.symbol)) continue;
    const std::string_view start = symbol.substr(0, symbol.size() - base.symbol.size());
    for (const Prefix& prefix : prefixes)
      if (prefix.symbol == start && takes(base, prefix))
        return UnitOfMeasure{base.dimension, base.factor * prefix.factor};
  }
  return std::nullopt;
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Base& base : bases)
    for (const Prefix& prefix : prefixes)
      if (base.dimension == dimension && takes(base, prefix))
        names.push_back(fmt::format("{}{}", prefix.symbol, base.symbol));
  return names;
}

const DimensionRow& row(Dimension dimension) {
  const auto& found = dimension_rows.at(static_cast<std::size_t>(dimension));
  if (found.dimension != dimension) throw std::logic_error("dimension_rows must follow the order of Dimension");
  return found;
}

std::string in_words(double number, Dimension dimension) {
  if (row(dimension).example.empty() || number == 0) return fmt::format("{:.6g}", number);
  const Base& base = first_base(dimension);
  const Prefixes kind = best_kind(number, base);
  const Prefix* best = &prefixes[0];
  for (const Prefix& prefix : prefixes) {
    const bool fits = std::fabs(number) >= prefix.factor * (1 - 1e-12);
    const bool closer =
        kind == small ? best->factor == 1 || prefix.factor > best->factor : prefix.factor > best->factor;
    if (prefix.kind == kind && takes(base, prefix) && fits && closer) best = &prefix;
  }
  return fmt::format("{:.6g} {}{}", number / (best->factor * base.factor), best->symbol, base.symbol);
}

}  // namespace napkin::profile
