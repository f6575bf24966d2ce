// Stages that have no text form of their own: a resolved diagram, and a kernel's program.
#pragma once

#include <string>

#include "napkin/derive.hpp"

namespace napkin::cli {

std::string diagram_text(const Diagram&);
std::string program_text(const Program&);

}  // namespace napkin::cli
