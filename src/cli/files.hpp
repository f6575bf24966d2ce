// Files: read whole, written aside and renamed, so that an interrupt leaves the old file or the new one.
#pragma once

#include <optional>
#include <string>

#include "cli/session.hpp"

namespace napkin::cli {

// The text of a file, or of standard input for `-`, as a source; a failure is a diagnostic.
std::optional<std::uint32_t> load(Session&, const std::string& path);

// False, with a diagnostic, where the file cannot be written.
bool save(Session&, const std::string& path, const std::string& text);

}  // namespace napkin::cli
