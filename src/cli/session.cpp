// Ends a session: prints the diagnostics, writes the product where it was requested, and returns an exit code.
#include "cli/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/files.hpp"

namespace napkin::cli {
namespace {

constexpr std::string_view program = "napkin";

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n;'\"*$&|<>()#") == std::string::npos;
  return plain ? word : "'" + word + "'";
}

// Whether the error is in the words after `napkin` rather than in a file that they name.
bool is_command_line_mistake(const Session& session, const Diagnostic& diagnostic) {
  constexpr std::string_view of_baselines[] = {"E0532", "E0535", "E0536"};
  const bool of_the_command_line = (diagnostic.code >= "E0500" && diagnostic.code < "E0530") ||
                                   std::ranges::find(of_baselines, diagnostic.code) != std::end(of_baselines);
  const bool of_a_profile = diagnostic.code.starts_with("E04");
  return of_the_command_line || (of_a_profile && diagnostic.span.file == session.line.file);
}

int exit_code(const Session& session) {
  const auto all = session.diagnostics.sorted();
  const bool ours = std::all_of(all.begin(), all.end(), [&](const Diagnostic& diagnostic) {
    const auto* code = find_code(diagnostic.code);
    return (code && code->severity == Severity::warning) || is_command_line_mistake(session, diagnostic);
  });
  return ours ? exit_command_line : exit_input;
}

int conclude(Session& session, int otherwise) {
  if (session.diagnostics.size() == 0) return otherwise;
  session.err << render_text(session.sources, session.diagnostics, in_color(session, session.err));
  return session.diagnostics.has_errors() ? exit_code(session) : otherwise;
}

// The renderer if diagnostics are printed as the product, for scripts; else null.
using Render = std::string (*)(const Sources&, const Diagnostics&);
Render render_for(const Options& options) {
  constexpr std::pair<std::string_view, Render> renders[] = {
      {"json", render_json}, {"github", render_github}, {"junit", render_junit}};
  for (const auto& [form, render] : renders)
    if (options.format == form) return render;
  return nullptr;
}

}  // namespace

CommandLine command_line(Sources& sources, std::span<const std::string> args) {
  CommandLine line;
  std::string text(program);
  for (const auto& word : args) {
    const auto shown = quoted(word);
    line.words.push_back(word);
    line.starts.push_back(static_cast<std::uint32_t>(text.size() + 1 + (shown.size() > word.size() ? 1 : 0)));
    text += " " + shown;
  }
  line.file = sources.add("<command line>", text);
  return line;
}

Span CommandLine::find(std::string_view word) const {
  for (std::size_t i = words.size(); i-- > 0;) {
    const bool same = words[i] == word;
    if (!same && !words[i].ends_with("=" + std::string(word))) continue;
    const auto end = starts[i] + static_cast<std::uint32_t>(words[i].size());
    return {file, end - static_cast<std::uint32_t>(word.size()), end};
  }
  return {file, 0, static_cast<std::uint32_t>(program.size())};
}

void complain(Session& session, std::string_view code, std::string message, std::string_view word, std::string help) {
  session.diagnostics.add({code, std::move(message), session.line.find(word), "", {}, {}, std::move(help)});
}

int finish(Session& session, int otherwise) {
  const auto render = render_for(session.options);
  if (!session.diagnostics.has_errors() || render == nullptr) return conclude(session, otherwise);
  const auto text = render(session.sources, session.diagnostics);
  const auto& output = session.options.output;
  const bool to_file = session.options.format == "junit" && !output.empty() && output != "-";
  if (to_file)
    save(session, output, text);  // the report that others expect there, with the errors in it
  else
    write_product(session, text);
  return to_file ? conclude(session, otherwise) : exit_code(session);
}

bool write_product(Session& session, const std::string& text) {
  errno = 0;
  session.out << text << std::flush;
  if (session.out || errno == EPIPE) return true;
  session.diagnostics.add(
      {"E0527", std::string("cannot write to standard output: ") + std::strerror(errno), nowhere, "", {}, {}, ""});
  return false;
}

int deliver(Session& session, const std::string& made, int otherwise) {
  const auto product = session.options.watch ? reloading(made) : made;
  if (session.options.output.empty() || session.options.output == "-") {
    write_product(session, product);
  } else {
    save(session, session.options.output, product);
  }
  return conclude(session, otherwise);
}

Format format(const Options& options) {
  constexpr std::string_view names[] = {"text", "json", "markdown", "html"};
  for (const auto format : {Format::json, Format::markdown, Format::html})
    if (options.format == names[static_cast<std::size_t>(format)]) return format;
  return Format::text;
}

bool product_in_color(const Session& session) {
  return session.options.output.empty() && in_color(session, session.out);
}

bool is_terminal(const std::ostream& stream) {
  return (&stream == &std::cout && isatty(STDOUT_FILENO)) || (&stream == &std::cerr && isatty(STDERR_FILENO));
}

bool in_color(const Session& session, const std::ostream& stream) {
  if (session.options.color != "auto") return session.options.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_color && *no_color;
  const bool able = terminal && std::string_view(terminal) != "dumb";
  return !refused && able && is_terminal(stream);
}

}  // namespace napkin::cli
