// The statement of the file that an array or a line of a program comes from.
#pragma once

#include "napkin/emit.hpp"
#include "napkin/report.hpp"
#include "report/document.hpp"

namespace napkin::report {

// Inputs and statements of the file, with the arrays that the plan makes from each.
Statements statements_of(const Analysis&);
// The lines of a program, with the name of the statement or input that they come from.
std::vector<Code::Part> parts_of(const std::vector<Traced>&, const Analysis&);

}  // namespace napkin::report
