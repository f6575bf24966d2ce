// One streamed wire: turns a list of columns into the four programs of a stream, or gives the reason why there are
// none.
#pragma once

#include <set>
#include <variant>
#include <vector>

#include "derive/columns.hpp"

namespace napkin {

struct Absorbed {
  std::vector<Column> before;  // columns independent of the wire that the pieces need
  Streamable programs;
  std::set<Rule> rules;
};

// `needed` are the arrays that are read after the list. An outer loop already has a piece of each wire in `around`.
// Appends arrays and expressions to `scratch`, but none if it refuses.
std::variant<Absorbed, Refused> absorb(Diagram& scratch, const std::vector<Column>& columns, WireId wire,
                                       const std::set<ArrayId>& needed, const std::set<WireId>& around = {});

// The number of sweeps over the wire that the columns need. `scratch` is left unchanged.
int passes(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed);

}  // namespace napkin
