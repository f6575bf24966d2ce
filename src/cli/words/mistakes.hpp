// What is wrong with a command line, as diagnostics that point at the word.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/session.hpp"

namespace napkin::cli {

// The innermost command that the command line names.
const CLI::App& named_command(const CLI::App& root);

void explain_mistake(Session&, const CLI::App& root, const CLI::ParseError&);

// Too few arguments or too many; values that an option does not have.
void check_arguments(Session&, const CLI::App& root);
void check_choices(Session&, const CLI::App& root);

}  // namespace napkin::cli
