// Warnings about code that is valid but hardly intended.
#pragma once

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

void warn(const ast::File&, const Diagram&, Diagnostics&);

}  // namespace napkin
