// The reasons why a partition is not legal, label by label.
#pragma once

#include <vector>

#include "napkin/partition.hpp"

namespace napkin {

struct Objection {
  std::size_t split;  // index into the partition's
  Refused why;
};
// In the order of the splits.
std::vector<Objection> objections(const Derivation&, const Hardware&, const Partition&);

}  // namespace napkin
