// A stream that takes positions one after another, because something kept at each position reduces those before it.
//
//   P[c] = (+) over b < c of e(b)   and what follows from P[c], along c:
//   for each position c: P[c] is what the carried state has become; then the state takes e(c)   (rule S9)
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "derive/streams/absorb.hpp"

namespace napkin {

// The four programs where the wire is taken in order; `piece` reads the state before `absorb` changes it. None where no
// column reduces what other columns make of the positions before one of the wire, or where one does more than that.
std::optional<Absorbed> absorb_in_order(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                        const std::set<ArrayId>& needed, const std::set<WireId>& around);

}  // namespace napkin
