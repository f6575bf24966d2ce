// Which statement of the file an array or a line of a program comes from.
#pragma once

#include "napkin/emit.hpp"
#include "napkin/report.hpp"
#include "report/document.hpp"

namespace napkin::report {

// Inputs and statements as they are written, with the arrays that the plan makes of each.
Statements statements_of(const Analysis&);
// The lines of a program, by the name of the statement or of the input that they come from.
std::vector<Code::Part> parts_of(const std::vector<Traced>&, const Analysis&);

}  // namespace napkin::report
