// The program as a function of its arguments and streams, which returns the exit code. docs/cli.md is the contract with
// users.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace napkin {

enum ExitCode : int {
  exit_done = 0,
  exit_input = 1,         // the input is wrong, or nothing fits
  exit_command_line = 2,  // the command line is wrong, or a baseline is missing or has other inputs
  exit_gate = 3,          // a gate failed: `compare` against a baseline, `fmt --check`, `verify`
  exit_bug = 70,          // a bug in napkin
  exit_interrupted = 130,
};

// `args` lack the program's name. Results go to `out` or to files, everything else to `err`.
int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

// For main: after it an interrupt exits with 130 and leaves no partial file, and writing to a closed pipe fails as an
// ordinary write.
void handle_signals();

}  // namespace napkin
