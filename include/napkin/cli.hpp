// The program as a function: arguments and streams in, exit code out. docs/cli.md is what users may rely on.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace napkin {

enum ExitCode : int {
  exit_done = 0,
  exit_input = 1,         // the input is wrong, or nothing fits
  exit_command_line = 2,  // the command line is wrong, or a baseline is missing or of something else
  exit_gate = 3,          // a gate failed: `compare` against a baseline, `fmt --check`, `verify`
  exit_bug = 70,          // a bug in napkin
  exit_interrupted = 130,
};

// `args` without the program's name. Products go to `out` or to files, everything else to `err`.
int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

// For a program's main: an interrupt leaves no half-written file and exits 130, a closed pipe is a failed write.
void handle_signals();

}  // namespace napkin
