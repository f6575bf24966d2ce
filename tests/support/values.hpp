// Input values for tests, the same for the same seed on every machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "napkin/diagram.hpp"

// A small generator of our own: the standard's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// Inputs between -1 and 1 rounded to their type, masks true for about their density (else half); of 4 bits between -6
// and 6, and scales below 1. Every axis needs a size. With `whole` they are small integers, so that sums and products
// are exact.
inline napkin::Values drawn_values(const napkin::Diagram& diagram, std::uint64_t seed, bool whole = false) {
  Random random(seed);
  napkin::Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto id : diagram.inputs) {
    const auto& array = diagram.at(id);
    std::size_t count = 1;
    for (const auto wire : array.wires) count *= static_cast<std::size_t>(diagram.size(wire).value());
    auto& data = values.arrays[id.index];
    for (std::size_t i = 0; i < count; ++i) {
      const double drawn = random.unit();
      const double number = whole ? static_cast<double>(random.below(7)) - 3 : 2 * drawn - 1;
      const bool mask = array.type == napkin::Datatype::boolean, scale = array.type == napkin::Datatype::f8e8m0;
      const double spread = array.packed && !whole ? 6 * number : scale ? std::abs(number) : number;
      data.push_back(mask ? (drawn < array.density.value_or(0.5) ? 1 : 0) : napkin::row(array.stored()).round(spread));
    }
  }
  return values;
}
