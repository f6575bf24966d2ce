// "228 KiB vendor CUDA-PG (how it was found)" to a number in SI units with its origin and citation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/yaml.hpp"
#include "napkin/hardware.hpp"

namespace napkin::profile {

enum class Dimension : std::uint8_t {
  count,
  fraction,
  values,
  bytes,
  bandwidth,
  operations,
  per_clock,
  frequency,
  time,
  clocks,
  power,
  energy_per_byte,
  energy_per_operation,
};

struct Quantity {
  std::vector<double> values;  // one, or several of a list such as "0 8 16 KiB"
  std::string written;         // value and unit as in the file
  Span span;                   // of the same
  Origin origin = Origin::given;
  std::vector<std::string> sources;
  std::string how;
};

// What a quantity is read against: what it is called in messages, its dimension, and the profile's citation keys.
struct Expected {
  std::string path;
  Dimension dimension = Dimension::count;
  bool list = false;
  const std::map<std::string, std::string>* sources = nullptr;
};
std::optional<Quantity> read_quantity(const Node&, const Expected&, Diagnostics&);

// Splits "m16n8k16 vendor PTX" and the like: the words before the origin, and what an origin says. For values that are
// not numbers but still need a source.
std::optional<Quantity> read_sourced_word(const Node&, const Expected&, Diagnostics&);

}  // namespace napkin::profile
