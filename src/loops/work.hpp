// What a column does at each position, by unit.
#pragma once

#include <vector>

#include "napkin/derive.hpp"
#include "napkin/hardware.hpp"

namespace napkin {

struct ColumnWork {
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;  // of the operands: it decides the rate
  double operations = 0;
  bool folded = false;  // at every position of the output and of what is folded, else of the output alone
  bool operator==(const ColumnWork&) const = default;
};
// Whether it sums products of two arrays.
bool contracts(const Diagram&, const Column&);
// A sum of products of two arrays runs on the matrix unit, where the machine has a rate for the wider of the two.
std::vector<ColumnWork> work_of(const Diagram&, const Column&, const Hardware&);

}  // namespace napkin
