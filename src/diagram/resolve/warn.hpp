// What is right in a file and yet hardly meant.
#pragma once

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

void warn(const ast::File&, const Diagram&, Diagnostics&);

}  // namespace napkin
