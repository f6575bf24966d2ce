// What the least transfers of a level mean for a machine: where they keep up with operations, and what would lessen
// them.
#pragma once

#include "cost/closed_form/least_transfers.hpp"
#include "cost/closed_form/symbols.hpp"

namespace napkin {

// The least transfers weighed as the level weighs them, over its room: moving * room^-beta + fixed.
struct LeastBytes {
  std::optional<Leading> moving;  // none where everything moves but once
  Posynomial fixed;
  double at(double room, const Assignment& sizes) const;
};

std::optional<Balance> balance(const LeastBytes&, const CostModel&, const Kernel& shape, const Hardware&,
                               const Assignment& sizes);
Gains gains(const LeastBytes&, const Hardware&, const Assignment& sizes);

// The least of `terms` at whole pieces where `held` is within the room, near the least at any pieces.
std::optional<WholePieces> whole_pieces(const Posynomial& terms, const Posynomial& held, const NumericLeast& near,
                                        double room, const Assignment& largest);

}  // namespace napkin
