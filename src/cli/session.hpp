// What one run of a command works with, and how it ends: a product, or diagnostics.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/words/options.hpp"
#include "napkin/cli.hpp"
#include "napkin/report.hpp"
#include "napkin/text.hpp"

namespace napkin::cli {

// The command line as a source, so that a diagnostic can point at a word of it.
struct CommandLine {
  std::uint32_t file = 0;
  std::vector<std::string> words;
  std::vector<std::uint32_t> starts;  // where each word stands, less a quote

  // The last word that is `word` or ends with `=word`; else the whole line.
  Span find(std::string_view word) const;
};
CommandLine command_line(Sources&, std::span<const std::string> args);

struct Session {
  Options options;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Sources sources;
  Diagnostics diagnostics;
  CommandLine line;
};

// An error at a word of the command line.
void complain(Session&, std::string_view code, std::string message, std::string_view word, std::string help = "");

// Prints the diagnostics, as a product where JSON was asked for; the exit code says whether the input or the command
// line was wrong.
int finish(Session&, int otherwise = exit_done);

// The product goes to `-o` or to standard output, diagnostics to standard error.
int deliver(Session&, const std::string& product, int otherwise = exit_done);

// A page that loads itself again when its file changes; what is no page stays as it is.
std::string reloading(const std::string& product);

// Writes to standard output. A reader that went away is no error.
bool write_product(Session&, const std::string& text);

Format format(const Options&);
bool in_color(const Session&, const std::ostream&);
bool product_in_color(const Session&);

// Whether a stream of this process is a terminal.
bool is_terminal(const std::ostream&);

}  // namespace napkin::cli
