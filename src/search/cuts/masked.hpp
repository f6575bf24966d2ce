// What masks may leave out of a kernel: its statements -> the wires that their masks compare.
#pragma once

#include <set>
#include <vector>

#include "search/cuts/cuts.hpp"

namespace napkin {

// The wires that masks such as `x <= t` compare. Every position of a `lower` wire, x, is needed by the greatest t, and
// every position of an `upper` wire, t, needs the least x. Nothing is known along `other` wires. Wires that have the
// same positions, because an array is computed along one and read along the other, have one name.
struct MaskedWires {
  std::set<WireId> lower, upper, other;
};

class Masks {
 public:
  explicit Masks(const Diagram&);
  MaskedWires of(const Statements&) const;
  // Whether a part of what varies along the wires may be left out.
  bool may_skip(const MaskedWires&, const std::vector<WireId>&) const;

 private:
  void read(ExprId, MaskedWires&);
  void read_along(const Access&, MaskedWires&);
  WireId name(WireId) const;

  const Diagram& diagram_;
  std::vector<WireId> same_;               // by wire: another one with the same positions, or itself
  std::vector<MaskedWires> by_statement_;  // not by names
};

}  // namespace napkin
