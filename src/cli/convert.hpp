// SVG -> what only a renderer can make of it: PDF and PNG, by librsvg's own program.
#pragma once

#include <optional>
#include <string>

#include "cli/session.hpp"

namespace napkin::cli {

// None, with a diagnostic that says what to install, where the program is not there or fails.
std::optional<std::string> convert(Session&, const std::string& svg, const std::string& format);

}  // namespace napkin::cli
