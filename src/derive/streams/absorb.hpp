// One streamed wire: from a list of columns to the four programs of a stream, or to the reason there are none.
#pragma once

#include <set>
#include <variant>
#include <vector>

#include "derive/columns.hpp"

namespace napkin {

struct Absorbed {
  std::vector<Column> before;  // independent of the wire, needed by the pieces
  Streamable programs;
  std::set<Rule> rules;
};

// `needed` are the arrays that somebody reads after the list; of the wires `around` a loop outside has taken a piece.
// Appends arrays and expressions to `scratch`, none where it refuses.
std::variant<Absorbed, Refused> absorb(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                       const std::set<ArrayId>& needed, const std::set<WireId>& around = {});

// Sweeps over the wire that the columns need. `scratch` is left as it was.
int passes(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed);

}  // namespace napkin
