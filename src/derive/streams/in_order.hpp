// A stream that absorbs one position after another, because an array that keeps the wire reduces, at each position,
// over the positions before it.
//
//   P[c] = (+) over b < c of e(b)   and what follows from P[c], along c:
//   for each position c: P[c] is the carried state, which then absorbs e(c)   (rule S9)
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "derive/streams/absorb.hpp"

namespace napkin {

// The four programs of a wire that is streamed in order; `piece` reads the state before `absorb` changes it. None if no
// column reduces values of other columns over the positions before one of the wire, or if one does more than that.
std::optional<Absorbed> absorb_in_order(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                        const std::set<ArrayId>& needed, const std::set<WireId>& around);

}  // namespace napkin
