// Commands and options: one table of each. CLI11's tree, help, the manual and completion all come from these rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace napkin::cli {

struct Options {
  std::vector<std::string> arguments;  // FILE, NAME, CODE or SHELL
  std::vector<std::string> set, dtype, partition, target, set_target, metric, accept;
  std::string model = "machine", objective = "time", format = "text", color = "auto";
  std::string of, wrt, save, print, picture, plot, statements, output, path = "tensor", binding = "none", gradient,
                                                                       baseline, save_baseline, max_regression;
  std::size_t top = 1, kernel = 0, patience = 1, chunks = 0;
  bool check = false, force = false, derivation = false, quiet = false, timings = false, explore = false,
       details = false, watch = false;
};

struct Session;

struct Command {
  std::string_view name;      // "analyze", "emit cuda"
  std::string_view summary;   // one line
  std::string_view argument;  // what it takes: "FILE", "[NAME]", "FILE..."
  unsigned takes;             // sets of options
  std::string_view examples;  // one per line
  int (*run)(Session&);
};
std::span<const Command> commands();

// The values an option may have, separated by spaces; empty where anything goes.
std::string_view choices(const CLI::Option&);

// The tree for all commands; a parse fills `options`, and `chosen` with the command that was named.
void declare(CLI::App&, Options& options, const Command*& chosen);

// "napkin emit cuda"
std::string full_name(const CLI::App&);

// "napkin emit cuda FILE [options]"
std::string usage(const CLI::App&);

// One a line; empty where there are none.
std::string examples(const CLI::App&);

// What help and the manual say of an option.
struct OptionHelp {
  std::string names;  // "-o, --output"
  std::string value;  // "FILE"; empty for a flag
  std::string summary;
};
std::vector<OptionHelp> option_helps(const CLI::App&);

// What `--help` prints, for the program and for each command: examples first.
std::string help(const CLI::App&);

}  // namespace napkin::cli
